import {
  ListShardsCommand,
  type ListShardsCommandOutput,
  type Shard as KinesisShard,
} from '@aws-sdk/client-kinesis';
import type { Shard } from '../../core/channel.ts';
import { hashFromDecimal } from '../../core/key-group.ts';
import type { ShardReader } from '../../ports/shard-reader.ts';
import { describeStream } from './describe-stream.ts';
import { readShard } from './read-shard.ts';
import { request, type KinesisReaderOptions } from './reader-options.ts';

/** Our own reader of a Kinesis stream. */
export function createKinesisShardReader(options: KinesisReaderOptions): ShardReader {
  return {
    describe: () => describeStream(options),
    listShards: () => listShards(options),
    read: (shardId, afterSequence) => readShard(options, shardId, afterSequence),
  };
}

async function listShards(options: KinesisReaderOptions): Promise<Shard[]> {
  const { client, stream } = options;
  const shards: Shard[] = [];
  let token: string | undefined;
  do {
    // A token takes the place of the stream's name.
    const command = new ListShardsCommand(
      token === undefined ? { StreamName: stream } : { NextToken: token },
    );
    const page: ListShardsCommandOutput = await request(
      options,
      `list the shards of stream ${stream}`,
      () => client.send(command),
    );
    for (const shard of page.Shards ?? []) shards.push(toShard(shard));
    token = page.NextToken;
  } while (token !== undefined);
  return shards;
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
