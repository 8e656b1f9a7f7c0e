import type { ShardReader } from '../../ports/shard-reader.ts';
import { describeStream } from './describe-stream.ts';
import { listShards } from './list-shards.ts';
import { readShard } from './read-shard.ts';
import type { KinesisReaderOptions } from './reader-options.ts';

/** Our own reader of a Kinesis stream. */
export function createKinesisShardReader(options: KinesisReaderOptions): ShardReader {
  return {
    describe: () => describeStream(options),
    listShards: () => listShards(options, 'all'),
    read: (shardId, afterSequence) => readShard(options, shardId, afterSequence),
  };
}
