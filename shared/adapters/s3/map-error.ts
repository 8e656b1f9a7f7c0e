import { HoldfastError, type ErrorKind } from '../../core/errors.ts';

/**
 * What a failed request means:
 *
 * - `exists`: the object is there, and `If-None-Match: *` forbade to replace it
 * - `absent`: there is no such object
 * - `empty-range`: the object ends before the range begins
 * - `passing`: throttled, an error of the service, a race, or no reply; ask again
 * - `forbidden`, `no-bucket`, `malformed`: refused, and always will be
 * - `bug`: nothing was asked
 */
export type S3Failure =
  'exists' | 'absent' | 'empty-range' | 'passing' | 'forbidden' | 'no-bucket' | 'malformed' | 'bug';

const failureOfName = new Map<string, S3Failure>([
  ['PreconditionFailed', 'exists'],
  ['NoSuchKey', 'absent'],
  ['InvalidRange', 'empty-range'],
  ['ConditionalRequestConflict', 'passing'],
  ['OperationAborted', 'passing'],
  ['RequestTimeout', 'passing'],
  ['RequestTimeTooSkewed', 'passing'],
  ['BadDigest', 'passing'],
  ['AccessDenied', 'forbidden'],
  ['CredentialsProviderError', 'forbidden'],
  ['NoSuchBucket', 'no-bucket'],
  ['PermanentRedirect', 'no-bucket'],
  ['TypeError', 'bug'],
  ['RangeError', 'bug'],
]);

const failureOfStatus = new Map<number, S3Failure>([
  [401, 'forbidden'],
  [403, 'forbidden'],
  [404, 'absent'],
  [408, 'passing'],
  [409, 'passing'],
  [412, 'exists'],
  [416, 'empty-range'],
  [429, 'passing'],
]);

export function classifyS3Error(error: unknown): S3Failure {
  if (!(error instanceof Error)) return 'bug';
  const known = failureOfName.get(error.name);
  if (known !== undefined) return known;
  // Some stores send refusals without a body, so only the status tells; network errors and timeouts have none.
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 500;
  return failureOfStatus.get(status) ?? (status >= 400 && status < 500 ? 'malformed' : 'passing');
}

const kindOf: Readonly<Record<S3Failure, ErrorKind>> = {
  exists: 'conflict',
  absent: 'invalid',
  'empty-range': 'invalid',
  passing: 'unavailable',
  forbidden: 'invalid',
  'no-bucket': 'invalid',
  malformed: 'invalid',
  bug: 'internal',
};

const remedyOf: Readonly<Record<S3Failure, string>> = {
  exists: 'objects are never replaced; read the one that is there',
  absent: 'look at what the bucket lists',
  'empty-range': 'ask for a range inside of the object',
  passing: 'it is tried again',
  forbidden: 'give the role the right, or the client valid credentials, and deploy again',
  'no-bucket': 'deploy the bucket, or set the name and region of the one that is there',
  malformed: 'the request breaks a rule of S3; the message says which',
  bug: 'this is a bug in Holdfast',
};

/** The error to throw for what the SDK threw. `doing` is, say, `create object x in bucket b`. */
export function mapS3Error(error: unknown, doing: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const failure = classifyS3Error(error);
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new HoldfastError(kindOf[failure], `cannot ${doing}: ${said}; ${remedyOf[failure]}`, {
    cause: error,
  });
}
