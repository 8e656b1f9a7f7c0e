import { InvalidArgumentError, type Command } from 'commander';
import { createAwsClients, hasOwnEndpoint } from '../shared/composition/aws/clients.ts';
import { openJob } from '../shared/composition/aws/job-tools.ts';
import { readOperatorFunctions } from '../shared/config/coordinator-environment.ts';
import type { Telemetry } from '../shared/ports/telemetry.ts';
import type { CheckpointPorts } from '../shared/runtime/checkpoint/manifest-facts.ts';
import {
  addConnectionFlags,
  mustHave,
  useConnection,
  type ConnectionFlags,
} from './connection-flags.ts';

/** Where a deployed job is, as the command line says it. */
export interface JobFlags extends ConnectionFlags {
  readonly job: string;
  readonly controlTable: string;
  readonly bucket: string;
  readonly operatorFunction?: ReadonlyMap<string, string>;
}

/**
 * Adds what every command about a deployed job has to be told. The names are outputs of its stack, and the variables those that
 * the stack gives its functions; endpoints can be set for each service alone by the SDK's variables, AWS_ENDPOINT_URL_DYNAMODB
 * and so on.
 */
export function addJobFlags(command: Command): Command {
  return addConnectionFlags(
    command
      .addOption(mustHave('--job <name>', 'the name of the job', 'HOLDFAST_JOB'))
      .addOption(mustHave('--control-table <name>', 'its control table', 'HOLDFAST_CONTROL_TABLE'))
      .addOption(mustHave('--bucket <name>', 'its bucket', 'HOLDFAST_BUCKET')),
  );
}

/** Adds the functions of the operators, for commands that call them. */
export function addFunctionFlag(command: Command): Command {
  return command.addOption(
    mustHave(
      '--operator-function <operator=function>',
      'the function of an operator, by its name or ARN; once for each, or all of them as JSON',
      'HOLDFAST_OPERATOR_FUNCTIONS',
    ).argParser(readOperatorFunction),
  );
}

/** Adds what an option says of an operator's function to what those before it said. */
export function readOperatorFunction(
  text: string,
  before: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, string> {
  const [operator, ...rest] = text.split('=');
  const json = text.startsWith('{') ? text : JSON.stringify({ [operator ?? '']: rest.join('=') });
  const functions = readOperatorFunctions(json);
  if (functions !== undefined) return new Map([...(before ?? []), ...functions]);
  throw new InvalidArgumentError(
    'expected <operator>=<function>, or a JSON object of operator → function',
  );
}

/** Opens a job for a command, and closes its connections behind it. */
export async function withJob<Result>(
  flags: JobFlags,
  run: (ports: CheckpointPorts) => Promise<Result>,
): Promise<Result> {
  useConnection(flags);
  const clients = createAwsClients(hasOwnEndpoint(process.env));
  const place = { ...flags, operatorFunctions: flags.operatorFunction ?? new Map() };
  try {
    return await run(openJob(clients, place, commandTelemetry));
  } finally {
    clients.dynamodb.destroy();
    clients.kinesis.destroy();
    clients.s3.destroy();
  }
}

/** What goes wrong on the way, on standard error. */
export const commandTelemetry: Telemetry = {
  log(level, message, fields) {
    if (level === 'info') return;
    console.error(
      `holdfast: ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`,
    );
  },
  publish: () => undefined,
};
