import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  type BucketLocationConstraint,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createS3ObjectStore } from '../../../shared/adapters/s3/s3-object-store.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import { doctorRetryPolicy, type ClinicSupplies } from '../clinic.ts';
import type { TemporaryResources } from '../temporary-resources.ts';

/** A bucket for the probes alone, and the runtime's own way of using it. */
export interface BucketBed {
  readonly client: S3Client;
  readonly bucket: string;
  readonly store: ObjectStore;
}

export async function prepareBucket({
  clients: { s3 },
  temporary,
}: ClinicSupplies): Promise<BucketBed> {
  const bucket = await createBucket(s3, temporary, 'bucket');
  const access = { client: s3, bucket, system: nodeSystem, retryPolicy: doctorRetryPolicy };
  return { client: s3, bucket, store: createS3ObjectStore(access) };
}

/** @returns its name */
export async function createBucket(
  client: S3Client,
  temporary: TemporaryResources,
  what: string,
): Promise<string> {
  const bucket = temporary.name(what);
  temporary.put(`bucket ${bucket}`, () => removeBucket(client, bucket));
  const region = await client.config.region();
  // The first region is the one that must not be named.
  const LocationConstraint = region as BucketLocationConstraint;
  await client.send(
    new CreateBucketCommand({
      Bucket: bucket,
      ...(region !== 'us-east-1' && { CreateBucketConfiguration: { LocationConstraint } }),
    }),
  );
  return bucket;
}

async function removeBucket(client: S3Client, bucket: string): Promise<void> {
  for (;;) {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    if (Contents.length === 0) break;
    const Objects = Contents.map(({ Key }) => ({ Key }));
    await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }));
  }
  await client.send(new DeleteBucketCommand({ Bucket: bucket }));
}
