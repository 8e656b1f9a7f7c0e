import {
  DescribeStreamSummaryCommand,
  ListShardsCommand,
  MergeShardsCommand,
  type KinesisClient,
} from '@aws-sdk/client-kinesis';
import { pollUntil } from '../embedded/poll-until.ts';

/** Merges the first two neighbours of the open shards; returns their ids. */
export async function mergeNeighbours(
  client: KinesisClient,
  stream: string,
): Promise<readonly [string, string]> {
  const { Shards = [] } = await client.send(new ListShardsCommand({ StreamName: stream }));
  const open = Shards.filter((one) => one.SequenceNumberRange?.EndingSequenceNumber === undefined)
    .map(({ ShardId, HashKeyRange }) => ({
      id: ShardId!,
      from: BigInt(HashKeyRange!.StartingHashKey!),
    }))
    // Open shards cover all hashes.
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  const [left, right] = open;
  if (left === undefined || right === undefined) {
    throw new Error(`stream ${stream} has ${open.length} open shards, expected two or more`);
  }
  await client.send(
    new MergeShardsCommand({
      StreamName: stream,
      ShardToMerge: left.id,
      AdjacentShardToMerge: right.id,
    }),
  );
  await pollUntil(`an active stream ${stream}`, async () => {
    const { StreamDescriptionSummary: summary } = await client.send(
      new DescribeStreamSummaryCommand({ StreamName: stream }),
    );
    return summary?.StreamStatus === 'ACTIVE' ? true : undefined;
  });
  return [left.id, right.id];
}
