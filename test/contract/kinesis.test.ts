import { randomUUID } from 'node:crypto';
import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  KinesisClient,
  ListShardsCommand,
  MergeShardsCommand,
  PutRecordCommand,
  SplitShardCommand,
} from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKinesis, type KinesisEmulator } from '../../localstack/embedded/emulators/kinesis.ts';
import { createKinesisShardReader } from '../../shared/adapters/kinesis/kinesis-shard-reader.ts';
import { createKinesisShardWriter } from '../../shared/adapters/kinesis/kinesis-shard-writer.ts';
import { nodeSystem } from '../../shared/adapters/system/node-system.ts';
import { describeShardReader } from './shard-reader.contract.ts';
import { describeShardWriter, type WritableStreamUnderTest } from './shard-writer.contract.ts';

describe('over the Kinesis emulator', () => {
  let emulator: KinesisEmulator;
  let client: KinesisClient;

  beforeAll(async () => {
    emulator = await startKinesis();
    client = new KinesisClient({
      endpoint: emulator.endpoint,
      requestHandler: new NodeHttpHandler(),
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
  });

  afterAll(async () => {
    client.destroy();
    await emulator.stop();
  });

  const open = async (shards: number): Promise<WritableStreamUnderTest> => {
    const name = `stream-${randomUUID()}`;
    await client.send(new CreateStreamCommand({ StreamName: name, ShardCount: shards }));
    await waitUntilActive(client, name);
    return openStream(client, name);
  };

  describeShardReader('kinesis', open);
  describeShardWriter('kinesis', open);

  it('refuses to write to a stream that is not there', async () => {
    const writer = createKinesisShardWriter({ client, stream: 'nowhere', system: nodeSystem });
    await expect(writer.listOpenShards()).rejects.toMatchObject({ kind: 'invalid' });
    await expect(writer.putAt(['0'.repeat(32)], new Uint8Array([1]))).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(
        /^cannot put records into stream nowhere: .*deploy the stream/,
      ) as string,
    });
  });
});

function openStream(client: KinesisClient, name: string): WritableStreamUnderTest {
  return {
    name,
    writer: createKinesisShardWriter({ client, stream: name, system: nodeSystem }),
    reader: createKinesisShardReader({
      client,
      stream: name,
      system: nodeSystem,
      pageRecordsMax: 4,
      requestIntervalMs: 10,
    }),
    put: async (partitionKey, data, explicitHashKey) => {
      const { ShardId, SequenceNumber } = await client.send(
        new PutRecordCommand({
          StreamName: name,
          PartitionKey: partitionKey,
          Data: data,
          ExplicitHashKey: explicitHashKey,
        }),
      );
      return { shardId: ShardId ?? '', sequence: SequenceNumber ?? '' };
    },
    split: async (shardId) => {
      const { Shards = [] } = await client.send(new ListShardsCommand({ StreamName: name }));
      const range = Shards.find((shard) => shard.ShardId === shardId)?.HashKeyRange;
      const from = BigInt(range?.StartingHashKey ?? 0);
      const to = BigInt(range?.EndingHashKey ?? 0);
      await client.send(
        new SplitShardCommand({
          StreamName: name,
          ShardToSplit: shardId,
          NewStartingHashKey: ((from + to + 1n) / 2n).toString(),
        }),
      );
      await waitUntilActive(client, name);
    },
    merge: async (shardId, adjacentShardId) => {
      await client.send(
        new MergeShardsCommand({
          StreamName: name,
          ShardToMerge: shardId,
          AdjacentShardToMerge: adjacentShardId,
        }),
      );
      await waitUntilActive(client, name);
    },
  };
}

async function waitUntilActive(client: KinesisClient, name: string): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const command = new DescribeStreamSummaryCommand({ StreamName: name });
    const { StreamDescriptionSummary } = await client.send(command);
    if (StreamDescriptionSummary?.StreamStatus === 'ACTIVE') return;
    await sleep(10);
  }
  throw new Error(`stream ${name} did not become active`);
}
