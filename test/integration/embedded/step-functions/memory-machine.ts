import { onTestFinished } from 'vitest';

import type { InvocationResult } from '../../../../localstack/embedded/lambda/invocation-result.ts';
import { seededRandom } from '../../../../localstack/embedded/seeded-random.ts';
import type { Execution } from '../../../../localstack/embedded/step-functions/execution.ts';
import type { JsonValue } from '../../../../localstack/embedded/step-functions/json-value.ts';
import { pauseAtSpeed } from '../../../../localstack/embedded/step-functions/pause.ts';
import {
  createStateMachines,
  type StateMachine,
} from '../../../../localstack/embedded/step-functions/state-machines.ts';

/** A function in this process: gives a result, or throws an error whose name is the error's type. */
export type MemoryFunction = (payload: JsonValue) => unknown;

export interface MemoryMachineOptions {
  readonly functions?: Readonly<Record<string, MemoryFunction>>;
  /** @default a million, so that seconds do not count */
  readonly speed?: number;
  readonly nowMs?: () => number;
}

export const startOfTime = Date.UTC(2025, 0, 1);

/** A machine of these states over functions in this process. */
export function createMachine(
  definition: object,
  options: MemoryMachineOptions = {},
): StateMachine {
  const functions = options.functions ?? {};
  const machines = createStateMachines({
    region: 'us-east-1',
    accountId: '000000000000',
    random: seededRandom(1),
    nowMs: options.nowMs ?? (() => startOfTime),
    pause: pauseAtSpeed(options.speed ?? 1_000_000),
    log: () => undefined,
    hasFunction: (name) => Object.hasOwn(functions, nameOf(name)),
    invoke(name, payload) {
      const found = functions[nameOf(name)];
      return found === undefined ? undefined : call(found, payload);
    },
  });
  onTestFinished(() => machines.stop());
  return machines.create({
    name: 'machine',
    roleArn: 'arn:aws:iam::000000000000:role/machine',
    definition: JSON.stringify(definition),
  });
}

/** Runs a machine to its end. */
export async function run(
  definition: object,
  input: JsonValue = {},
  options: MemoryMachineOptions = {},
): Promise<Execution> {
  const execution = createMachine(definition, options).start('run', JSON.stringify(input));
  await execution.settled;
  return execution;
}

/** The output of a machine that must succeed. */
export async function outputOf(
  definition: object,
  input: JsonValue = {},
  options: MemoryMachineOptions = {},
): Promise<unknown> {
  const { status, output, error, cause } = (await run(definition, input, options)).state();
  if (status !== 'SUCCEEDED') throw new Error(`${status}: ${error} ${cause}`);
  return JSON.parse(output ?? '');
}

/** A machine of one state that ends. */
export function only(state: object): object {
  return { StartAt: 'Only', States: { Only: { ...state, End: true } } };
}

export function arnOf(name: string): string {
  return `arn:aws:lambda:us-east-1:000000000000:function:${name}`;
}

export function errorNamed(name: string): Error {
  return Object.assign(new Error(`it is ${name}`), { name });
}

function nameOf(text: string): string {
  return text.slice(text.lastIndexOf(':') + 1);
}

async function call(run: MemoryFunction, payload: string): Promise<InvocationResult> {
  const requestId = 'request';
  try {
    const result = await run(JSON.parse(payload) as JsonValue);
    return { kind: 'success', requestId, payload: JSON.stringify(result ?? null) };
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error;
    const failure = { errorType, errorMessage, logTail: [] };
    return { kind: 'failed', reason: 'function-error', requestId, ...failure };
  }
}
