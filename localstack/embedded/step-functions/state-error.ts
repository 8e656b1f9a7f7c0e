import { isJsonObject, type JsonValue } from './json-value.ts';

/** Step Functions' limit for the input, the output and the payload of a state, in bytes of UTF-8. */
export const DATA_BYTES_MAX = 262_144;

/** How a state fails: with a name that Retry and Catch match, and a cause for people. */
export class StateError extends Error {
  /** Undefined only for a Fail state that names none. */
  readonly error: string | undefined;
  override readonly cause: string | undefined;

  constructor(error: string | undefined, cause: string | undefined) {
    super(`${error ?? '(no error)'}: ${cause ?? '(no cause)'}`);
    this.name = 'StateError';
    this.error = error;
    this.cause = cause;
  }
}

/** For data that does not fit the definition: ends the execution, no Retry and no Catch can match it. */
export function runtimeError(cause: string): StateError {
  return new StateError('States.Runtime', cause);
}

/** Whether a name in ErrorEquals stands for this error. */
export function matchesError(name: string, { error }: StateError): boolean {
  if (error === 'States.Runtime') return false;
  if (name === error) return true;
  if (error === 'States.DataLimitExceeded') return false;
  return name === 'States.ALL' || (name === 'States.TaskFailed' && error !== 'States.Timeout');
}

/** Returns the value. Throws States.DataLimitExceeded if it is too large; `what` is a state or a task. */
export function limitSize(value: JsonValue, what: string): JsonValue {
  if (Buffer.byteLength(JSON.stringify(value)) <= DATA_BYTES_MAX) return value;
  throw new StateError(
    'States.DataLimitExceeded',
    `The state/task '${what}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  );
}

/** For causes: JSON, cut where it gets long. */
export function showData(value: JsonValue): string {
  const text = isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
  return text.length <= 1_000 ? text : `${text.slice(0, 997)}...`;
}
