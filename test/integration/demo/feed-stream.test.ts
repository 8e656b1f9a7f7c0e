import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListShardsCommand,
  type KinesisClient,
} from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endStream, putFlights, splitShard } from '../../../cli/demo/feed-stream.ts';
import { readFlights } from '../../../cli/demo/flights.ts';
import {
  startKinesis,
  type KinesisEmulator,
} from '../../../localstack/embedded/emulators/kinesis.ts';
import { decodeHeartbeat } from '../../../shared/core/heartbeat.ts';
import { endOfStreamMs } from '../../../shared/operator/windows/windowing.ts';
import { connectKinesis } from '../emulators/sdk-clients.ts';

const stream = 'flights';

describe('the feed of the demo', { timeout: 60_000 }, () => {
  let kinesis: KinesisEmulator;
  let client: KinesisClient;

  beforeAll(async () => {
    kinesis = await startKinesis();
    client = connectKinesis(kinesis);
  }, 60_000);

  afterAll(async () => {
    client.destroy();
    await kinesis.stop();
  });

  const createStream = async (ShardCount: number): Promise<void> => {
    await client.send(new CreateStreamCommand({ StreamName: stream, ShardCount }));
    await expect
      .poll(async () => {
        const reply = await client.send(new DescribeStreamSummaryCommand({ StreamName: stream }));
        return reply.StreamDescriptionSummary?.StreamStatus;
      })
      .toBe('ACTIVE');
  };

  const readShard = async (ShardId: string): Promise<Uint8Array[]> => {
    const { ShardIterator } = await client.send(
      new GetShardIteratorCommand({
        StreamName: stream,
        ShardId,
        ShardIteratorType: 'TRIM_HORIZON',
      }),
    );
    const { Records = [] } = await client.send(new GetRecordsCommand({ ShardIterator }));
    return Records.map(({ Data }) => Data!);
  };

  it('ends with a heartbeat behind the last flight of every open shard, children included', async () => {
    await createStream(3);
    const flights = readFlights().slice(0, 200);
    await putFlights(client, stream, flights.slice(0, 100));
    const parent = await splitShard(client, stream, () => 0.5);
    await putFlights(client, stream, flights.slice(100));
    await endStream(client, stream);

    const { Shards = [] } = await client.send(new ListShardsCommand({ StreamName: stream }));
    const contents = new Map<string, (number | undefined)[]>();
    for (const { ShardId } of Shards) {
      contents.set(ShardId!, (await readShard(ShardId!)).map(decodeHeartbeat));
    }
    expect(Shards).toHaveLength(5);
    for (const [shardId, heartbeats] of contents) {
      const last = shardId === parent ? undefined : endOfStreamMs;
      expect(heartbeats.at(-1), shardId).toBe(last);
      expect(heartbeats.slice(0, -1).filter((time) => time !== undefined)).toEqual([]);
    }
    expect([...contents.values()].flat()).toHaveLength(200 + 4);
  });
});
