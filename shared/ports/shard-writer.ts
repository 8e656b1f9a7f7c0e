import type { Shard } from '../core/channel.ts';
import type { KeyHash } from '../core/key-group.ts';

/** Longest data that {@link ShardWriter.putAt} takes, bytes: what is said to shards, not to keys, is short. */
export const shardDataBytesMax = 10_240;

/** The partition key of records that are for a shard and no key's. Their place comes from an explicit hash key. */
export const shardPartitionKey = 'holdfast';

/**
 * Puts records of Holdfast's own into the source stream, by shard instead of by key.
 *
 * Shards come and go while one writes: who lists them sees some moment of the stream, and a put goes to whoever owns the
 * hash when it arrives, which may be a child, or the shard that two were merged into.
 */
export interface ShardWriter {
  /** Shards that took records a moment ago, in any order. Together they own every hash. */
  listOpenShards(): Promise<Shard[]>;

  /**
   * Puts one record with this data at each of the hashes and waits until all are in. Each is put at least once: where a
   * reply is lost it may be in the stream twice. What one shard refuses keeps no other from getting its record.
   *
   * @throws HoldfastError `unavailable` where a shard refuses for too long; all others have their record then
   * @throws HoldfastError `invalid` for data that is too long, and where the stream is missing or not ours to write
   */
  putAt(hashes: readonly KeyHash[], data: Uint8Array): Promise<void>;
}
