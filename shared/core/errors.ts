/**
 * What the reader of an error has to do:
 * - `unavailable`: retry, a dependency did not answer
 * - `conflict`: reload and start over, somebody else was faster
 * - `fenced`: hand the work back, this timeline is held or over
 * - `invalid`: input or configuration breaks a rule; dead-letter it or refuse to start
 * - `corrupt`: stored bytes are not what was written; stop and restore
 * - `internal`: a bug in Holdfast
 */
export type ErrorKind = 'unavailable' | 'conflict' | 'fenced' | 'invalid' | 'corrupt' | 'internal';

/** The one error class of the runtime. Its message says what, for which, got what, expected what, what to do next. */
export class HoldfastError extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'HoldfastError';
    this.kind = kind;
  }
}

/** True for an error that the runtime raised itself with this kind. */
export function isHoldfastError(error: unknown, kind?: ErrorKind): error is HoldfastError {
  return error instanceof HoldfastError && (kind === undefined || error.kind === kind);
}

/** True for an error of the runtime that may be gone at the next try: a dependency, a rival, or a hold. */
export function isPassing(error: unknown): boolean {
  return (
    isHoldfastError(error, 'unavailable') ||
    isHoldfastError(error, 'conflict') ||
    isHoldfastError(error, 'fenced')
  );
}

/** The text of anything that was thrown. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message;
  return String(thrown);
}

/** Marks a branch that types say cannot be reached; reaching it is a bug. */
export function unreachable(value: never): never {
  throw new HoldfastError('internal', `unexpected value ${JSON.stringify(value)}`);
}
