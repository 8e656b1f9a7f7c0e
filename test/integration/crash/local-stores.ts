import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import {
  startDynamoDb,
  type DynamoDbEmulator,
} from '../../../localstack/embedded/emulators/dynamodb.ts';
import type { FaultHook } from '../../../localstack/embedded/emulators/faults.ts';
import { startS3, type S3Emulator } from '../../../localstack/embedded/emulators/s3.ts';
import { createAwsClients } from '../../../shared/composition/aws/clients.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import { createDynamodbControlStore } from '../../../shared/adapters/dynamodb/dynamodb-control-store.ts';
import { createS3ObjectStore } from '../../../shared/adapters/s3/s3-object-store.ts';
import { registerJob } from '../../../shared/runtime/register-job.ts';
import { bulkyLedger } from './bulky-ledger.ts';
import { bucketName, jobName, maxParallelism, tableName, tableRoles } from './ledger-job.ts';

/** The emulators that all jobs of a test file share. */
export interface LocalStores {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  /** What a process needs in its environment to find them. */
  readonly variables: Readonly<Record<string, string>>;
  /** Creates tables, bucket and job item of a fresh job; returns its id. */
  createJob(): Promise<string>;
  /** Sees every request for one job's tables and bucket. */
  watch(jobId: string, hook: FaultHook | undefined): void;
  stop(): Promise<void>;
}

export async function startLocalStores(): Promise<LocalStores> {
  const hooks = new Map<string, FaultHook>();
  const onRequest: FaultHook = (request) =>
    hooks.get(request.table?.split('.')[0] ?? '')?.(request);
  const emulators: [DynamoDbEmulator, S3Emulator] = await Promise.all([
    startDynamoDb({ onRequest }),
    startS3({ onRequest }),
  ]);
  const variables = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: emulators[0].endpoint,
    AWS_ENDPOINT_URL_S3: emulators[1].endpoint,
  };
  // Retries run in this process, through the same door as in any other.
  Object.assign(process.env, variables);
  const { dynamodb, s3, kinesis } = createAwsClients(true);
  let jobs = 0;
  return {
    dynamodb,
    s3,
    variables,
    async createJob() {
      jobs += 1;
      const jobId = `job-${jobs}`;
      await Promise.all([
        ...tableRoles.map((role) => createTable(dynamodb, tableName(jobId, role))),
        s3.send(new CreateBucketCommand({ Bucket: bucketName(jobId) })),
      ]);
      await registerJob(
        createDynamodbControlStore({
          client: dynamodb,
          table: tableName(jobId, 'control'),
          system: nodeSystem,
        }),
        createS3ObjectStore({ client: s3, bucket: bucketName(jobId), system: nodeSystem }),
        { name: jobName, maxParallelism, operators: [bulkyLedger.id] },
      );
      return jobId;
    },
    watch(jobId, hook) {
      if (hook === undefined) hooks.delete(jobId);
      else hooks.set(jobId, hook);
    },
    async stop() {
      for (const client of [dynamodb, s3, kinesis]) client.destroy();
      await Promise.all(emulators.map((emulator) => emulator.stop()));
    },
  };
}

async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
}
