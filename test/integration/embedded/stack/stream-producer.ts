import { existsSync, readFileSync } from 'node:fs';

import { PutRecordsCommand, type KinesisClient } from '@aws-sdk/client-kinesis';
import { onTestFinished } from 'vitest';

import type { EmbeddedAws } from '../../../../localstack/embedded/embedded-aws.ts';
import { createServiceClients } from '../../../../localstack/embedded/service-clients.ts';

export interface TestRecord {
  readonly id: string;
  readonly how?: 'report' | 'throw' | 'exit' | 'hang' | 'fill-memory';
  /** How many deliveries fail. */
  readonly times?: number;
}

export function kinesisClientOf(aws: EmbeddedAws): KinesisClient {
  const clients = createServiceClients(aws.endpoints, aws.region);
  onTestFinished(() => clients.destroy());
  return clients.kinesis;
}

/** Puts one record after another, the id is the partition key. */
export async function putRecords(aws: EmbeddedAws, ...records: TestRecord[]): Promise<void> {
  const client = kinesisClientOf(aws);
  await client.send(
    new PutRecordsCommand({
      StreamName: aws.physicalId('Stream'),
      Records: records.map((record) => ({
        PartitionKey: record.id,
        Data: Buffer.from(JSON.stringify(record)),
      })),
    }),
  );
}

export interface RecordedBatch {
  readonly shardId: string;
  readonly ids: readonly string[];
  readonly pid: number;
}

/** What the function noted, oldest first. */
export function readBatches(recordFile: string): RecordedBatch[] {
  if (!existsSync(recordFile)) return [];
  const lines = readFileSync(recordFile, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as RecordedBatch);
}

export function onlyMapping(aws: EmbeddedAws): EmbeddedAws['mappings'][number] {
  const [mapping] = aws.mappings;
  if (mapping === undefined) throw new Error('the stack has no mapping');
  return mapping;
}
