/** The conditional headers of a write, as they came. */
export interface WriteConditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export interface S3Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const preconditionFailed: S3Refusal = {
  status: 412,
  code: 'PreconditionFailed',
  message: 'At least one of the pre-conditions you specified did not hold',
};

const noSuchKey: S3Refusal = {
  status: 404,
  code: 'NoSuchKey',
  message: 'The specified key does not exist.',
};

const notImplemented: S3Refusal = {
  status: 501,
  code: 'NotImplemented',
  message: 'A header you provided implies functionality that is not implemented',
};

/**
 * Judges a conditional PUT, copy, multipart completion or delete against the current object as S3 does:
 * `undefined` lets it pass. ETags are compared with or without their quotes.
 */
export function judgeConditions(
  { ifMatch, ifNoneMatch }: WriteConditions,
  currentEtag: string | undefined,
): S3Refusal | undefined {
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch !== '*' || ifMatch !== undefined) return notImplemented;
    return currentEtag === undefined ? undefined : preconditionFailed;
  }
  if (ifMatch === undefined) return undefined;
  if (currentEtag === undefined) return noSuchKey;
  return ifMatch === '*' || unquote(ifMatch) === unquote(currentEtag)
    ? undefined
    : preconditionFailed;
}

export function renderS3Error({ code, message }: S3Refusal, resource: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message>` +
    `<Resource>${escapeXml(resource)}</Resource><RequestId>0000000000000000</RequestId></Error>`
  );
}

function unquote(etag: string): string {
  return etag.replace(/^"|"$/g, '');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
