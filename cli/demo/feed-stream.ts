import {
  DescribeStreamSummaryCommand,
  ListShardsCommand,
  PutRecordsCommand,
  SplitShardCommand,
  type KinesisClient,
  type PutRecordsCommandOutput,
  type Shard,
} from '@aws-sdk/client-kinesis';
import { encodeHeartbeat } from '../../shared/core/heartbeat.ts';
import type { RandomSource } from '../../shared/core/random.ts';
import { endOfStreamMs } from '../../shared/operator/windows/windowing.ts';
import type { Flight } from './flights.ts';

/** Where the stream has put a record. */
export interface RecordPlace {
  readonly shardId: string;
  readonly sequence: string;
}

/**
 * Puts flights into the stream under their airport, in order.
 *
 * @returns where they are
 */
export async function putFlights(
  client: KinesisClient,
  stream: string,
  flights: readonly Flight[],
): Promise<RecordPlace[]> {
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
  return placesOf(response);
}

/**
 * Ends event time by a heartbeat in every open shard, so that all windows close. No record may come after it, and no
 * shard be split.
 *
 * @returns where the heartbeats are
 * @throws Error where a shard went without
 */
export async function endStream(client: KinesisClient, stream: string): Promise<RecordPlace[]> {
  const open = await listOpenShards(client, stream);
  const response = await client.send(
    new PutRecordsCommand({
      StreamName: stream,
      Records: open.map(({ HashKeyRange }) => ({
        PartitionKey: 'heartbeat',
        ExplicitHashKey: HashKeyRange!.StartingHashKey,
        Data: encodeHeartbeat(endOfStreamMs),
      })),
    }),
  );
  const places = placesOf(response);
  const reached = new Set(places.map(({ shardId }) => shardId));
  const missed = open.filter(({ ShardId }) => !reached.has(ShardId!));
  if (missed.length > 0) {
    const ids = missed.map(({ ShardId }) => ShardId).join(', ');
    throw new Error(`the end of the stream did not reach ${ids}; start again`);
  }
  return places;
}

/** Those of the records that were taken. */
function placesOf({ Records = [] }: PutRecordsCommandOutput): RecordPlace[] {
  return Records.filter(({ SequenceNumber }) => SequenceNumber !== undefined).map(
    ({ ShardId, SequenceNumber }) => ({ shardId: ShardId!, sequence: SequenceNumber! }),
  );
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
