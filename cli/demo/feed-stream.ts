import {
  DescribeStreamSummaryCommand,
  ListShardsCommand,
  PutRecordsCommand,
  SplitShardCommand,
  type KinesisClient,
  type Shard,
} from '@aws-sdk/client-kinesis';
import { encodeHeartbeat } from '../../shared/core/heartbeat.ts';
import type { RandomSource } from '../../shared/core/random.ts';
import { endOfStreamMs } from '../../shared/operator/windows/windowing.ts';
import type { Flight } from './flights.ts';

/** Puts flights into the stream under their airport, in order. */
export async function putFlights(
  client: KinesisClient,
  stream: string,
  flights: readonly Flight[],
): Promise<void> {
  const response = await client.send(
    new PutRecordsCommand({
      StreamName: stream,
      Records: flights.map((flight) => ({
        PartitionKey: flight.origin,
        Data: Buffer.from(JSON.stringify(flight)),
      })),
    }),
  );
  // Putting the failed ones again would change the order within a key.
  if ((response.FailedRecordCount ?? 0) > 0) {
    throw new Error(`the stream took only a part of ${flights.length} records; start again`);
  }
}

/**
 * Ends event time by a heartbeat in every open shard, so that all windows close. No record may come after it, and no
 * shard be split.
 *
 * @throws Error where a shard went without
 */
export async function endStream(client: KinesisClient, stream: string): Promise<void> {
  const open = await listOpenShards(client, stream);
  const { Records = [] } = await client.send(
    new PutRecordsCommand({
      StreamName: stream,
      Records: open.map(({ HashKeyRange }) => ({
        PartitionKey: 'heartbeat',
        ExplicitHashKey: HashKeyRange!.StartingHashKey,
        Data: encodeHeartbeat(endOfStreamMs),
      })),
    }),
  );
  const reached = new Set(Records.map(({ ShardId }) => ShardId));
  const missed = open.filter(({ ShardId }) => !reached.has(ShardId));
  if (missed.length > 0) {
    const ids = missed.map(({ ShardId }) => ShardId).join(', ');
    throw new Error(`the end of the stream did not reach ${ids}; start again`);
  }
}

/** Splits one of the open shards in the middle; returns its id. */
export async function splitShard(
  client: KinesisClient,
  stream: string,
  random: RandomSource,
): Promise<string> {
  const open = await listOpenShards(client, stream);
  const shard = open[Math.floor(random() * open.length)];
  const range = shard?.HashKeyRange;
  if (shard?.ShardId === undefined || range === undefined) {
    throw new Error(`stream ${stream} has no open shard to split`);
  }
  const middle = (BigInt(range.StartingHashKey!) + BigInt(range.EndingHashKey!)) / 2n;
  await client.send(
    new SplitShardCommand({
      StreamName: stream,
      ShardToSplit: shard.ShardId,
      NewStartingHashKey: middle.toString(),
    }),
  );
  await waitUntilActive(client, stream);
  return shard.ShardId;
}

async function listOpenShards(client: KinesisClient, stream: string): Promise<Shard[]> {
  const { Shards = [] } = await client.send(new ListShardsCommand({ StreamName: stream }));
  return Shards.filter((s) => s.SequenceNumberRange?.EndingSequenceNumber === undefined);
}

const pollMs = 50;
const pollsMax = 400;

async function waitUntilActive(client: KinesisClient, stream: string): Promise<void> {
  for (let polls = 0; polls < pollsMax; polls += 1) {
    const { StreamDescriptionSummary: summary } = await client.send(
      new DescribeStreamSummaryCommand({ StreamName: stream }),
    );
    if (summary?.StreamStatus === 'ACTIVE') return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`stream ${stream} did not become active in ${(pollMs * pollsMax) / 1000} s`);
}
