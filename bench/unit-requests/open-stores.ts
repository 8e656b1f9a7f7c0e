import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { createStorageClients } from '../../shared/composition/aws/clients.ts';
import type { StoreEndpoints, StoreUsage } from './store-thread.ts';

const threadModule = path.join(import.meta.dirname, 'store-thread.ts');

export const tables = {
  state: 'state',
  control: 'control',
  sink: 'customers',
  dead: 'dead-letters',
};
export const bucket = 'checkpoints';

export interface OpenedStores {
  /** What was asked of them since the last time. */
  takeUsage(): Promise<StoreUsage>;
  close(): Promise<void>;
}

/** Starts the stores, with tables and bucket, and lets this process's AWS clients find them. */
export async function openStores(): Promise<OpenedStores> {
  const worker = new Worker(threadModule);
  const [endpoints] = (await once(worker, 'message')) as [StoreEndpoints];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
  const { dynamodb, s3 } = createStorageClients(true);
  for (const table of Object.values(tables)) await createTable(dynamodb, table);
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  dynamodb.destroy();
  s3.destroy();
  return {
    async takeUsage() {
      const taken = once(worker, 'message');
      worker.postMessage('take');
      return ((await taken) as [StoreUsage])[0];
    },
    async close() {
      await worker.terminate();
    },
  };
}

async function createTable(client: DynamoDBClient, table: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
    }),
  );
}
