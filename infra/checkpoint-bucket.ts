import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Longer than any upload of ours can live; what is left after it was abandoned. */
const ABANDONED_UPLOAD_DAYS = 7;

/**
 * The bucket of a job's segments, manifests and discarded batches. No object in it is ever
 * overwritten, and garbage is collected by reference: versions would keep what was collected, and
 * an expiry by age could delete what a savepoint still needs.
 */
export function createCheckpointBucket(
  scope: Construct,
  id: string,
  removalPolicy: RemovalPolicy,
): Bucket {
  return new Bucket(scope, id, {
    versioned: false,
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(ABANDONED_UPLOAD_DAYS) }],
    removalPolicy,
  });
}
