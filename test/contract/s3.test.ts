import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe } from 'vitest';

import { startS3, type S3Emulator } from '../../localstack/embedded/emulators/s3.ts';
import { createS3ObjectStore } from '../../shared/adapters/s3/s3-object-store.ts';
import { hastySystem } from './dynamodb-tables.ts';
import { describeObjectStore } from './object-store.contract.ts';

describe('over the S3 emulator', () => {
  let emulator: S3Emulator;
  let client: S3Client;

  beforeAll(async () => {
    emulator = await startS3();
    client = new S3Client({
      endpoint: emulator.endpoint,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
    });
  });

  afterAll(async () => {
    client.destroy();
    await emulator.stop();
  });

  describe.each(['', 'team/flights/'])('under prefix "%s"', (prefix) => {
    describeObjectStore(`s3, prefix "${prefix}"`, async () => {
      const bucket = `bucket-${randomUUID()}`;
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      return createS3ObjectStore({ client, bucket, prefix, system: hastySystem });
    });
  });
});
