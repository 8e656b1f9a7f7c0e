import {
  ListShardsCommand,
  type ListShardsCommandOutput,
  type Shard as KinesisShard,
} from '@aws-sdk/client-kinesis';
import type { Shard } from '../../core/channel.ts';
import { hashFromDecimal } from '../../core/key-group.ts';
import { request, type KinesisRequestOptions } from './reader-options.ts';

/** All shards that the stream still tells of, or only those that take records now. */
export async function listShards(
  options: KinesisRequestOptions,
  which: 'all' | 'open',
): Promise<Shard[]> {
  const { client, stream } = options;
  const shards: Shard[] = [];
  let token: string | undefined;
  do {
    // A token takes the place of the stream's name and of the filter.
    const command = new ListShardsCommand(
      token !== undefined
        ? { NextToken: token }
        : { StreamName: stream, ...(which === 'open' && { ShardFilter: { Type: 'AT_LATEST' } }) },
    );
    const page: ListShardsCommandOutput = await request(
      options,
      `list the shards of stream ${stream}`,
      () => client.send(command),
    );
    for (const shard of page.Shards ?? []) {
      // The filter saves pages; whether a shard is open is seen from itself.
      if (which === 'all' || isOpen(shard)) shards.push(toShard(shard));
    }
    token = page.NextToken;
  } while (token !== undefined);
  return shards;
}

function isOpen({ SequenceNumberRange }: KinesisShard): boolean {
  return SequenceNumberRange?.EndingSequenceNumber === undefined;
}

// Its sequence numbers are left alone: an emulator ends closed shards with one below their records.
function toShard(shard: KinesisShard): Shard {
  const { ShardId, HashKeyRange, ParentShardId, AdjacentParentShardId } = shard;
  return {
    shardId: ShardId ?? '',
    range: {
      from: hashFromDecimal(HashKeyRange?.StartingHashKey ?? ''),
      to: hashFromDecimal(HashKeyRange?.EndingHashKey ?? ''),
    },
    parentIds: [ParentShardId, AdjacentParentShardId].filter((parent) => parent !== undefined),
  };
}
