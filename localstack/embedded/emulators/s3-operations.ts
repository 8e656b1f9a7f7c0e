interface S3Route {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** It has a copy source. */
  readonly isCopy: boolean;
}

/** Operations that honour `If-Match` and `If-None-Match` on what they write or delete. */
export const s3Writes: ReadonlySet<string> = new Set([
  'PutObject',
  'CopyObject',
  'CompleteMultipartUpload',
  'DeleteObject',
]);

/** The API's name for a REST request. */
export function nameS3Operation(route: S3Route): string {
  if (route.bucket === '') return 'ListBuckets';
  return route.key === '' ? nameBucketOperation(route) : nameObjectOperation(route);
}

function nameBucketOperation({ method, query }: S3Route): string {
  switch (method) {
    case 'PUT':
      return 'lifecycle' in query ? 'PutBucketLifecycleConfiguration' : 'CreateBucket';
    case 'HEAD':
      return 'HeadBucket';
    case 'DELETE':
      return 'lifecycle' in query ? 'DeleteBucketLifecycle' : 'DeleteBucket';
    case 'POST':
      return 'delete' in query ? 'DeleteObjects' : 'PostObject';
    default:
      if ('lifecycle' in query) return 'GetBucketLifecycleConfiguration';
      return query['list-type'] === '2' ? 'ListObjectsV2' : 'ListObjects';
  }
}

function nameObjectOperation({ method, query, isCopy }: S3Route): string {
  switch (method) {
    case 'PUT':
      if ('renameObject' in query) return 'RenameObject';
      if ('partNumber' in query) return isCopy ? 'UploadPartCopy' : 'UploadPart';
      return isCopy ? 'CopyObject' : 'PutObject';
    case 'HEAD':
      return 'HeadObject';
    case 'DELETE':
      return 'uploadId' in query ? 'AbortMultipartUpload' : 'DeleteObject';
    case 'POST':
      return 'uploads' in query ? 'CreateMultipartUpload' : 'CompleteMultipartUpload';
    default:
      return 'attributes' in query ? 'GetObjectAttributes' : 'GetObject';
  }
}
