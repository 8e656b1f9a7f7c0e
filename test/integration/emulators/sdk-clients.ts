import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

import type { Emulator } from '../../../localstack/embedded/emulators/emulator.ts';

const local = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  // A test of a failure wants to see the first one.
  maxAttempts: 1,
};

export function connectDynamoDb({ endpoint }: Emulator): DynamoDBClient {
  return new DynamoDBClient({ ...local, endpoint });
}

export function connectS3({ endpoint }: Emulator): S3Client {
  return new S3Client({ ...local, endpoint, forcePathStyle: true });
}

export function connectKinesis({ endpoint }: Emulator): KinesisClient {
  // Its default speaks HTTP/2, which plain http:// endpoints do not.
  return new KinesisClient({ ...local, endpoint, requestHandler: new NodeHttpHandler() });
}

/** The error that a promise is expected to reject with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with ${String(error)}, which is no Error`, { cause: error });
  }
  throw new Error('resolved, although a failure was expected');
}
