import { HoldfastError, type ErrorKind } from '../../core/errors.ts';

/**
 * What a failed request means:
 *
 * - `throttled`: more than the shard gives; ask again later
 * - `passing`: an error of the service, or no reply; ask again
 * - `expired-iterator`: get another one
 * - `missing`: there is no such stream or shard
 * - `bad-argument`: among others, a sequence number that the shard does not know
 * - `forbidden`, `malformed`: refused, and always will be
 * - `bug`: nothing was asked
 */
export type KinesisFailure =
  | 'throttled'
  | 'passing'
  | 'expired-iterator'
  | 'missing'
  | 'bad-argument'
  | 'forbidden'
  | 'malformed'
  | 'bug';

/** Names of SDK errors without `Exception`. */
const failureOfName = new Map<string, KinesisFailure>([
  ['ProvisionedThroughputExceeded', 'throttled'],
  ['LimitExceeded', 'throttled'],
  ['Throttling', 'throttled'],
  ['KMSThrottling', 'throttled'],
  ['ExpiredIterator', 'expired-iterator'],
  ['ResourceNotFound', 'missing'],
  ['InvalidArgument', 'bad-argument'],
  ['AccessDenied', 'forbidden'],
  ['UnrecognizedClient', 'forbidden'],
  ['KMSAccessDenied', 'forbidden'],
  ['KMSDisabled', 'forbidden'],
  ['KMSInvalidState', 'forbidden'],
  ['KMSNotFound', 'forbidden'],
  ['KMSOptInRequired', 'forbidden'],
  ['CredentialsProviderError', 'forbidden'],
  ['TypeError', 'bug'],
  ['RangeError', 'bug'],
]);

export function classifyKinesisError(error: unknown): KinesisFailure {
  if (!(error instanceof Error)) return 'bug';
  const known = failureOfName.get(error.name.replace(/Exception$/, ''));
  if (known !== undefined) return known;
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 500;
  return status >= 400 && status < 500 ? 'malformed' : 'passing';
}

const kindOf: Readonly<Record<KinesisFailure, ErrorKind>> = {
  throttled: 'unavailable',
  passing: 'unavailable',
  'expired-iterator': 'unavailable',
  missing: 'invalid',
  'bad-argument': 'invalid',
  forbidden: 'invalid',
  malformed: 'invalid',
  bug: 'internal',
};

const remedyOf: Readonly<Record<KinesisFailure, string>> = {
  throttled: 'other readers use up what the shard gives; it is tried again',
  passing: 'it is tried again',
  'expired-iterator': 'it is tried again',
  missing: 'deploy the stream, or set the name of the one that is there',
  'bad-argument': 'compare it with what the stream still holds',
  forbidden: 'give the role the right, also to the key of the stream, and deploy again',
  malformed: 'the request breaks a rule of Kinesis; the message says which',
  bug: 'this is a bug in Holdfast',
};

/** The error to throw for what the SDK threw. `doing` is, say, `list the shards of stream s`. */
export function mapKinesisError(error: unknown, doing: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const failure = classifyKinesisError(error);
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new HoldfastError(kindOf[failure], `cannot ${doing}: ${said}; ${remedyOf[failure]}`, {
    cause: error,
  });
}
