import { hashToDecimal } from '../../core/key-group.ts';
import { HoldfastError } from '../../core/errors.ts';
import {
  shardDataBytesMax,
  shardPartitionKey,
  type ShardWriter,
} from '../../ports/shard-writer.ts';
import type { MemoryStream } from './memory-stream.ts';

/** Writes to a {@link MemoryStream}. */
export function createMemoryShardWriter(stream: MemoryStream): ShardWriter {
  return {
    async listOpenShards() {
      return stream
        .shards()
        .filter(({ isClosed }) => !isClosed)
        .map(({ shardId, range, parentIds }) => ({
          shardId,
          range: { ...range },
          parentIds: [...parentIds],
        }));
    },

    async putAt(hashes, data) {
      if (data.length > shardDataBytesMax) {
        throw new HoldfastError(
          'invalid',
          `memory stream: a record for a shard has ${data.length} bytes, at most ${shardDataBytesMax} are allowed`,
        );
      }
      for (const hash of hashes) {
        stream.put(shardPartitionKey, data, { explicitHashKey: hashToDecimal(hash) });
      }
    },
  };
}
