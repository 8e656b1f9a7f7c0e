import { parentPort } from 'node:worker_threads';
import { startDynamoDb } from '../../localstack/embedded/emulators/dynamodb.ts';
import { startS3 } from '../../localstack/embedded/emulators/s3.ts';
import type { TableUsage } from '../../localstack/embedded/emulators/usage.ts';

/*
 * DynamoDB and S3 in a thread of their own, so that their CPU is not that of who asks them. Says where they are; answers
 * `take` with what was asked of them since the last time.
 */

export interface StoreEndpoints {
  readonly dynamodb: string;
  readonly s3: string;
}

export interface StoreUsage {
  /** By table. */
  readonly dynamodb: Readonly<Record<string, TableUsage>>;
  /** Requests by operation. */
  readonly s3: Readonly<Record<string, number>>;
}

if (parentPort !== null) {
  const port = parentPort;
  const [dynamodb, s3] = await Promise.all([startDynamoDb(), startS3()]);
  port.on('message', () => {
    const usage: StoreUsage = { dynamodb: dynamodb.stats(), s3: s3.stats() };
    dynamodb.resetStats();
    s3.resetStats();
    port.postMessage(usage);
  });
  const endpoints: StoreEndpoints = { dynamodb: dynamodb.endpoint, s3: s3.endpoint };
  port.postMessage(endpoints);
}
