import { HoldfastError, type ErrorKind } from '../../core/errors.ts';

/**
 * What a failed request or statement means for what it asked for:
 *
 * - `throttled`, `transaction-conflict`: refused before anything was done; ask again
 * - `condition-failed`, `duplicate`: refused, because the item is not what the write expects
 * - `unknown-reply`: done or not done, nobody said
 * - `unsupported`: the endpoint does not know the operation
 * - `forbidden`, `missing`, `malformed`: refused, and always will be
 * - `bug`: nothing was asked
 */
export type DynamodbFailure =
  | 'throttled'
  | 'transaction-conflict'
  | 'condition-failed'
  | 'duplicate'
  | 'unknown-reply'
  | 'unsupported'
  | 'forbidden'
  | 'missing'
  | 'malformed'
  | 'bug';

/** Names of SDK errors without `Exception`, codes of statements, and codes of cancellation reasons. */
const failureOfName = new Map<string, DynamodbFailure>([
  ['ProvisionedThroughputExceeded', 'throttled'],
  ['ThrottlingError', 'throttled'],
  ['Throttling', 'throttled'],
  ['RequestLimitExceeded', 'throttled'],
  ['TooManyRequests', 'throttled'],
  ['TransactionConflict', 'transaction-conflict'],
  ['TransactionInProgress', 'transaction-conflict'],
  ['ConditionalCheckFailed', 'condition-failed'],
  ['DuplicateItem', 'duplicate'],
  ['InternalServerError', 'unknown-reply'],
  ['UnknownOperation', 'unsupported'],
  ['AccessDenied', 'forbidden'],
  ['UnrecognizedClient', 'forbidden'],
  ['InvalidSignature', 'forbidden'],
  ['MissingAuthenticationToken', 'forbidden'],
  ['IncompleteSignature', 'forbidden'],
  ['ExpiredToken', 'forbidden'],
  ['CredentialsProviderError', 'forbidden'],
  ['ResourceNotFound', 'missing'],
  ['Validation', 'malformed'],
  ['ValidationError', 'malformed'],
  ['ItemCollectionSizeLimitExceeded', 'malformed'],
  ['TypeError', 'bug'],
  ['RangeError', 'bug'],
]);

/** What the code of a statement of a batch, or of a cancellation reason, means. */
export function classifyCode(code: string | undefined): DynamodbFailure {
  return failureOfName.get((code ?? '').replace(/Exception$/, '')) ?? 'unknown-reply';
}

/** What an error that the SDK threw means. */
export function classifyError(error: unknown): DynamodbFailure {
  if (!(error instanceof Error)) return 'bug';
  const known = failureOfName.get(error.name.replace(/Exception$/, ''));
  if (known !== undefined) return known;
  // Everything else below 500 is a refusal; network errors and timeouts have no status.
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 500;
  return status >= 400 && status < 500 ? 'malformed' : 'unknown-reply';
}

/** What a write may be sent again after: it was not done. */
export function isRefusedForNow(error: unknown): boolean {
  const failure = classifyError(error);
  return failure === 'throttled' || failure === 'transaction-conflict';
}

/** What a read may be sent again after. */
export function isPassing(error: unknown): boolean {
  return isRefusedForNow(error) || classifyError(error) === 'unknown-reply';
}

const kindOf: Readonly<Record<DynamodbFailure, ErrorKind>> = {
  throttled: 'unavailable',
  'transaction-conflict': 'unavailable',
  'unknown-reply': 'unavailable',
  'condition-failed': 'conflict',
  duplicate: 'conflict',
  unsupported: 'invalid',
  forbidden: 'invalid',
  missing: 'invalid',
  malformed: 'invalid',
  bug: 'internal',
};

const remedyOf: Readonly<Record<DynamodbFailure, string>> = {
  throttled: 'the table has no capacity left; it is tried again, raise its capacity if this lasts',
  'transaction-conflict': 'somebody else was writing; it is tried again',
  'unknown-reply': 'it may have been done or not; it is tried again',
  'condition-failed': 'read it again and start over',
  duplicate: 'read it again and start over',
  unsupported: 'the endpoint cannot do this; use write mode conditional-put there',
  forbidden: 'give the role the right, or the client valid credentials, and deploy again',
  missing: 'deploy the table, or set the name of the one that is there',
  malformed: 'the request breaks a rule of DynamoDB; the message says which',
  bug: 'this is a bug in Holdfast',
};

/** The error to throw for a failure that has no place among the outcomes. `doing` is, say, `load state from table t`. */
export function failureError(
  failure: DynamodbFailure,
  doing: string,
  said: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(kindOf[failure], `cannot ${doing}: ${said}; ${remedyOf[failure]}`, {
    cause,
  });
}

/** The error to throw for what the SDK threw. */
export function mapDynamodbError(error: unknown, doing: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failureError(classifyError(error), doing, said, error);
}
