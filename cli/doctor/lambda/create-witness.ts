import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CreateFunctionCommand,
  DeleteFunctionCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import { zipSync } from 'fflate';
import type { ClinicSupplies } from '../clinic.ts';
import { createTable, type TableBed } from '../dynamodb/table-bed.ts';
import { PreparationError } from '../judge-failure.ts';
import { pollUntil } from '../poll-until.ts';
import { witnessTableVariable, type WitnessOrder } from './witness-orders.ts';

const entry = fileURLToPath(new URL('./witness-function.ts', import.meta.url));

/** The doctor's function, and the table in which it writes what it was given. */
export interface Witness {
  readonly client: LambdaClient;
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  readonly table: TableBed;
}

/** What an invocation came to. */
export interface Answer {
  readonly payload: unknown;
  /** The name of what the function threw; undefined where it answered. */
  readonly error: string | undefined;
}

/** Deploys the witness, bundled as the functions of a job are. */
export async function createWitness(supplies: ClinicSupplies, what: string): Promise<Witness> {
  const { clients, temporary, roleArn } = supplies;
  const client = clients.lambda;
  if (roleArn === undefined) {
    throw new PreparationError('a function needs a role there: name one with --role <arn>');
  }
  const table = await createTable(clients.dynamodb, temporary, `${what}-table`);
  const name = temporary.name(what);
  const forget = temporary.put(`function ${name}`, () =>
    client.send(new DeleteFunctionCommand({ FunctionName: name })),
  );
  const create = new CreateFunctionCommand({
    ...{ FunctionName: name, Role: roleArn, Handler: 'index.handler' },
    ...{ Runtime: 'nodejs24.x', Architectures: ['arm64'], Timeout: 30, MemorySize: 256 },
    Code: { ZipFile: await zipWitness() },
    Environment: { Variables: { [witnessTableVariable]: table.table } },
  });
  let arn: string;
  try {
    arn = (await client.send(create)).FunctionArn ?? '';
  } catch (error) {
    // Refused for good, maybe by an endpoint that cannot delete functions either.
    if (isUnknownOperation(error)) forget();
    throw error;
  }
  await pollUntil(
    async () => {
      const found = await client.send(new GetFunctionConfigurationCommand({ FunctionName: name }));
      // Where nothing is said of its state, it is ready at once.
      return (found.State ?? 'Active') === 'Active';
    },
    { limitMs: 60_000, what: `function ${name} to become active` },
  );
  return { client, name, arn, roleArn, table };
}

export async function invoke({ client, name }: Witness, order: WitnessOrder): Promise<Answer> {
  const Payload = new TextEncoder().encode(JSON.stringify(order));
  const reply = await client.send(new InvokeCommand({ FunctionName: name, Payload }));
  const text = new TextDecoder().decode(reply.Payload);
  const payload: unknown = text === '' ? undefined : JSON.parse(text);
  if (reply.FunctionError === undefined) return { payload, error: undefined };
  const { errorType } = (payload ?? {}) as { readonly errorType?: string };
  return { payload, error: errorType ?? 'an error without a type' };
}

async function zipWitness(): Promise<Uint8Array> {
  // Loaded where it is needed: it brings the CDK.
  const { buildHandler } = await import('../../../infra/bundle-handler.ts');
  const files = buildHandler(entry).outputFiles.map(({ path, contents }) => [
    basename(path),
    contents,
  ]);
  return zipSync(Object.fromEntries(files) as Record<string, Uint8Array>);
}

function isUnknownOperation(error: unknown): boolean {
  return error instanceof Error && error.name.startsWith('UnknownOperation');
}
