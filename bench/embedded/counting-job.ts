import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { createMemoryTelemetry } from '../../shared/adapters/memory/memory-telemetry.ts';
import { createStorageClients } from '../../shared/composition/aws/clients.ts';
import { createAwsRuntime } from '../../shared/composition/aws/operator-runtime.ts';
import type { OperatorEnvironment } from '../../shared/config/environment.ts';
import { decodeStates } from '../../shared/operator/key-state.ts';
import type { Operator } from '../../shared/operator/operator.ts';
import type { ShardReader } from '../../shared/ports/shard-reader.ts';
import { defaultSettings, type OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { registerJob } from '../../shared/runtime/register-job.ts';
import type { Totals } from './counting-operator.ts';

const maxParallelism = 128;

/** Of all jobs here: names of tables tell them apart. */
const job = 'bench';

export const tableRoles = ['state', 'control', 'dead-letters', 'sink'] as const;
export type TableRole = (typeof tableRoles)[number];

/** The table of a job for one thing; a bucket's name is made the same way. */
export function tableOf(jobId: string, role: TableRole | 'objects'): string {
  return `${jobId}.${role}`;
}

/**
 * The runtime of an operator as its function makes it, over the endpoints that the environment of this process names. Only the
 * stream is in memory.
 *
 * @param reader reads it. @default the function's own, for who never asks it
 */
export function openCountingJob(
  operator: Operator,
  jobId: string,
  reader?: ShardReader,
): OperatorRuntime {
  const environment: OperatorEnvironment = {
    ...{ job, operator: operator.id, maxParallelism, retentionHours: 24 },
    streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/events',
    stateTable: tableOf(jobId, 'state'),
    controlTable: tableOf(jobId, 'control'),
    deadLetterTable: tableOf(jobId, 'dead-letters'),
    bucket: tableOf(jobId, 'objects'),
    sinks: new Map([...operator.sinks.keys()].map((name) => [name, tableOf(jobId, 'sink')])),
  };
  const runtime = createAwsRuntime(operator, environment, {
    hasOwnEndpoint: true,
    settings: defaultSettings,
  });
  return {
    ...runtime,
    ...(reader === undefined ? {} : { reader }),
    telemetry: createMemoryTelemetry(),
  };
}

/** Makes tables, bucket and job item, as a deployment does. */
export async function createCountingJob(runtime: OperatorRuntime, jobId: string): Promise<void> {
  await createStores(jobId);
  const operators = [runtime.operator.id];
  await registerJob(runtime.control, runtime.objects, { name: job, maxParallelism, operators });
}

/** Makes the tables and the bucket of a job. */
export async function createStores(jobId: string): Promise<void> {
  const { dynamodb, s3 } = createStorageClients(true);
  try {
    for (const role of tableRoles) await createTable(dynamodb, tableOf(jobId, role), ['pk', 'sk']);
    await s3.send(new CreateBucketCommand({ Bucket: tableOf(jobId, 'objects') }));
  } finally {
    dynamodb.destroy();
    s3.destroy();
  }
}

/** A table on demand with text keys: partition key first, then the sort key if there is one. */
export async function createTable(
  client: DynamoDBClient,
  name: string,
  [hash, range]: readonly [hash: string, range?: string],
): Promise<void> {
  const keys = range === undefined ? [hash] : [hash, range];
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: 'S' })),
      KeySchema: keys.map((key, at) => ({
        AttributeName: key,
        KeyType: at === 0 ? 'HASH' : 'RANGE',
      })),
    }),
  );
}

/** What the state table says of every key. */
export async function readCountedTotals(runtime: OperatorRuntime): Promise<Map<string, Totals>> {
  const { operator, state } = runtime;
  const totals = new Map<string, Totals>();
  const scope = { job, generation: 1, operator: operator.id };
  for (let keyGroup = 0; keyGroup < maxParallelism; keyGroup += 1) {
    for await (const { key, states } of state.scan(scope, keyGroup)) {
      if (states === undefined) continue;
      // In the order of their names, as they are declared.
      const [count, sum] = decodeStates(operator, states, key) as [number, number];
      totals.set(key, { count, sum });
    }
  }
  return totals;
}
