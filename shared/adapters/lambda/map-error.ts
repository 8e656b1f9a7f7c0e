import { HoldfastError, type ErrorKind } from '../../core/errors.ts';

/**
 * What a failed invocation means:
 *
 * - `passing`: throttled, an error of the service, or no reply; ask again
 * - `missing`: there is no such function
 * - `forbidden`, `malformed`: refused, and always will be
 * - `bug`: nothing was asked
 */
export type LambdaFailure = 'passing' | 'missing' | 'forbidden' | 'malformed' | 'bug';

/** Names of SDK errors without `Exception`. */
const failureOfName = new Map<string, LambdaFailure>([
  ['TooManyRequests', 'passing'],
  ['Throttling', 'passing'],
  // Conflicts while a deploy changes the function, its network or its code.
  ['ResourceConflict', 'passing'],
  ['ResourceNotReady', 'passing'],
  ['ResourceNotFound', 'missing'],
  ['AccessDenied', 'forbidden'],
  ['UnrecognizedClient', 'forbidden'],
  ['InvalidSignature', 'forbidden'],
  ['CredentialsProviderError', 'forbidden'],
  ['TypeError', 'bug'],
  ['RangeError', 'bug'],
]);

export function classifyLambdaError(error: unknown): LambdaFailure {
  if (!(error instanceof Error)) return 'bug';
  const known = failureOfName.get(error.name.replace(/Exception$/, ''));
  if (known !== undefined) return known;
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 500;
  return status >= 400 && status < 500 ? 'malformed' : 'passing';
}

const kindOf: Readonly<Record<LambdaFailure, ErrorKind>> = {
  passing: 'unavailable',
  missing: 'invalid',
  forbidden: 'invalid',
  malformed: 'invalid',
  bug: 'internal',
};

const remedyOf: Readonly<Record<LambdaFailure, string>> = {
  passing: 'it is tried again',
  missing: 'deploy the job, or name what is there',
  forbidden: 'give the role the right to do it, or the client valid credentials',
  malformed: 'the request breaks a rule of Lambda; the message says which',
  bug: 'this is a bug in Holdfast',
};

/**
 * The error to throw for what the SDK threw.
 *
 * @param what could not be done, as `invoke function name`
 */
export function mapLambdaError(error: unknown, what: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const failure = classifyLambdaError(error);
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new HoldfastError(kindOf[failure], `cannot ${what}: ${said}; ${remedyOf[failure]}`, {
    cause: error,
  });
}
