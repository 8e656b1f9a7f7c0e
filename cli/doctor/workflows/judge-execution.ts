import { differs, firstDifference, works, type Finding } from '../finding.ts';
import { failure, finalError, parts, refusals, type WorkflowOutput } from './definition.ts';

/** What is told of an execution that has ended, or should have. */
export interface ExecutionEnd {
  readonly status?: string | undefined;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
}

/** Paths, choices, loops, parts and results land where they should. */
export function judgeFlow(end: ExecutionEnd, name: string): Finding {
  const output = readOutput(end);
  if (output === undefined) return differs('an execution that succeeds', describeEnd(end));
  const counted = { done: 3, total: 3, isDone: true };
  const done = parts.map(({ total }) => ({ done: total, total, isDone: true }));
  return firstDifference(
    [output.execution === name, `the name ${name} of the execution`, `${output.execution}`],
    isEqual('a loop of three steps', counted, output.counted),
    isEqual('the results of parts in order', done, output.parts),
  );
}

/** @param tookMs from the start to the end */
export function judgeRetries(end: ExecutionEnd, tookMs: number): Finding {
  const output = readOutput(end);
  if (output === undefined) return differs('an execution that succeeds', describeEnd(end));
  // Pauses of 1 s and 2 s, short of what clocks and polls may differ by.
  const pausesMs = 2_500;
  return firstDifference(
    [output.asked === refusals + 1, `a task asked ${refusals + 1} times`, `${output.asked} times`],
    [tookMs >= pausesMs, 'pauses of 1 and 2 s before it is asked again', `all in ${tookMs} ms`],
  );
}

/** What is tried again in vain is caught in the end. */
export function judgeCatch(end: ExecutionEnd): Finding {
  const output = readOutput(end);
  if (output === undefined) return differs('an execution that succeeds', describeEnd(end));
  const { Error: caught = 'none' } = output.gaveUp ?? {};
  return firstDifference([caught !== 'none', 'an error that is caught', 'none']);
}

/** A final error is known by its name, and caught at once. */
export function judgeFinalError(end: ExecutionEnd): Finding {
  const output = readOutput(end);
  if (output === undefined) return differs('an execution that succeeds', describeEnd(end));
  const { Error: error, Cause: cause = '' } = output.failure ?? {};
  return firstDifference(
    [
      error === finalError,
      `${finalError} caught at once`,
      error === 'none' ? 'another try' : `${error}`,
    ],
    [
      readMessage(cause) === 'asked 1 times',
      "the words of the function's error in the cause",
      cause,
    ],
  );
}

export function judgeFailedExecution(end: ExecutionEnd): Finding {
  if (end.status !== 'FAILED') return differs('an execution that fails', describeEnd(end));
  return end.error === failure.error && end.cause === failure.cause
    ? works
    : differs(`${failure.error}: ${failure.cause}`, `${end.error}: ${end.cause}`);
}

function readOutput({ status, output }: ExecutionEnd): WorkflowOutput | undefined {
  if (status !== 'SUCCEEDED' || output === undefined) return undefined;
  return JSON.parse(output) as WorkflowOutput;
}

function describeEnd({ status = 'no status', error, cause }: ExecutionEnd): string {
  return [status, error, cause].filter((text) => text !== undefined && text !== '').join(', ');
}

/** The cause of a function's error is what the function answered. */
function readMessage(cause: string): string | undefined {
  try {
    return (JSON.parse(cause) as { errorMessage?: string }).errorMessage;
  } catch {
    return undefined;
  }
}

function isEqual(
  what: string,
  expected: unknown,
  got: unknown,
): readonly [boolean, string, string] {
  const [one, other] = [spell(expected), spell(got)];
  return [one === other, `${what}: ${one}`, other];
}

/** As JSON, with members by name. */
function spell(value: unknown): string {
  return (
    JSON.stringify(value, (_, member: unknown) =>
      member !== null && typeof member === 'object' && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    ) ?? 'nothing'
  );
}
