import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Duration, type RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Longer than any upload of ours can live; what is left after it was abandoned. */
const ABANDONED_UPLOAD_DAYS = 7;

export interface CheckpointBucketProps {
  readonly removalPolicy: RemovalPolicy;
  /** Undefined: the keys of S3. */
  readonly encryptionKey: IKey | undefined;
}

/**
 * The bucket of a job's segments, manifests and discarded batches. No object in it is ever
 * overwritten, and garbage is collected by reference: versions would keep what was collected, and
 * an expiry by age could delete what a savepoint still needs.
 */
export function createCheckpointBucket(
  scope: Construct,
  id: string,
  { removalPolicy, encryptionKey }: CheckpointBucketProps,
): Bucket {
  const bucket = new Bucket(scope, id, {
    versioned: false,
    ...(encryptionKey === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : // With a key of the bucket's own under it: else each segment would cost a request to KMS.
        { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(ABANDONED_UPLOAD_DAYS) }],
    removalPolicy,
  });
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'no access logs: the functions of one job alone use the bucket, and logs of each segment would cost what the segments do; where an audit wants them, data events of CloudTrail have them',
  });
  return bucket;
}
