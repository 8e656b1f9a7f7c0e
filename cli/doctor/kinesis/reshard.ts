import { MergeShardsCommand, SplitShardCommand } from '@aws-sdk/client-kinesis';
import type { Shard } from '../../../shared/core/channel.ts';
import { waitFor } from '../poll-until.ts';
import { untilActive, type StreamBed } from './stream-bed.ts';

type Access = Pick<StreamBed, 'client' | 'stream' | 'reader'>;

/** Where the probes split the range of hash keys: its middle. */
export const middleHash = '8'.padEnd(32, '0');

/** Splits the only shard of a stream in its middle. @returns all shards, once there are as many as AWS would tell of */
export async function splitShard(access: Access, parentId: string): Promise<Shard[]> {
  const { client, stream } = access;
  await client.send(
    new SplitShardCommand({
      ...{ StreamName: stream, ShardToSplit: parentId },
      NewStartingHashKey: BigInt(`0x${middleHash}`).toString(),
    }),
  );
  return listOnce(access, 3);
}

export async function mergeShards(
  access: Access,
  [left, right]: readonly [Shard, Shard],
): Promise<Shard[]> {
  const { client, stream } = access;
  await client.send(
    new MergeShardsCommand({
      ...{ StreamName: stream, ShardToMerge: left.shardId },
      AdjacentShardToMerge: right.shardId,
    }),
  );
  return listOnce(access, 4);
}

async function listOnce(access: Access, count: number): Promise<Shard[]> {
  await untilActive(access.client, access.stream);
  let shards: Shard[] = [];
  await waitFor(async () => (shards = await access.reader.listShards()).length >= count, {
    limitMs: 5_000,
  });
  return shards;
}
