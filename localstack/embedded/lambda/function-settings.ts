import { reservedVariableNames } from './reserved-variables.ts';
import type { PropertyReader } from '../template/property-reader.ts';
import { asText } from '../template/template-value.ts';

/** A function as the template describes it, defaults filled in as Lambda does. */
export interface FunctionSettings {
  readonly functionName: string;
  readonly functionArn: string;
  readonly roleArn: string;
  /** Such as `nodejs24.x`; whatever it says, this process's own Node runs the function. */
  readonly runtime: string;
  /** `<file without ending>.<export>`. */
  readonly handler: string;
  /** The bundle; also the working directory. */
  readonly codeDirectory: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** Environments that may run at once. */
  readonly concurrencyMax: number;
  readonly variables: Readonly<Record<string, string>>;
}

/** More processes than this would only slow each other down on one machine. */
const CONCURRENCY_MAX = 100;

export function readFunctionSettings(
  reader: PropertyReader,
  named: { functionName: string; functionArn: string; codeDirectory: string },
): FunctionSettings {
  const runtime = reader.text('Runtime');
  if (!runtime.startsWith('nodejs')) {
    throw reader.refuse('Runtime', 'nodejs…', 'other runtimes are not run locally');
  }
  reader.choice('PackageType', ['Zip'], 'Zip');
  const handler = reader.text('Handler');
  if (!/^[^.].*\.[^./]+$/.test(handler)) throw reader.refuse('Handler', '<file>.<export>');
  const reserved = reader.integerOr(
    'ReservedConcurrentExecutions',
    { min: 0, max: 1_000 },
    undefined,
  );
  return {
    ...named,
    runtime,
    handler,
    roleArn: reader.text('Role'),
    memoryMb: reader.integerOr('MemorySize', { min: 128, max: 10_240 }, 128),
    timeoutMs: reader.integerOr('Timeout', { min: 1, max: 900 }, 3) * 1_000,
    concurrencyMax: Math.min(reserved ?? CONCURRENCY_MAX, CONCURRENCY_MAX),
    variables: readVariables(reader),
  };
}

function readVariables(reader: PropertyReader): Record<string, string> {
  const variables = reader.object('Environment')?.object('Variables');
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables?.values ?? {})) {
    if (variables !== undefined && reservedVariableNames.has(name)) {
      throw variables.refuse(name, 'a name that Lambda does not reserve', 'rename the variable');
    }
    // CloudFormation turns numbers and booleans into text here, too.
    result[name] = asText(value, `environment variable ${name}`);
  }
  return result;
}
