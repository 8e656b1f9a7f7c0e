import type { Shard, StreamIncarnation } from '../core/channel.ts';

/** A record as Kinesis keeps it. */
export interface StreamRecord {
  readonly sequence: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  /** Arrival in the stream, ms since the epoch. */
  readonly arrivalMs: number;
}

export interface ShardPage {
  readonly records: readonly StreamRecord[];
  /** Nothing comes after this page, now or ever: the shard is closed and its end was read (a null iterator). */
  readonly isEndOfShard: boolean;
  /** The reader has caught up with the tip of the shard: 0 ms behind. */
  readonly isAtTip: boolean;
}

export interface StreamDescription {
  readonly incarnation: StreamIncarnation;
  readonly retentionHours: number;
}

/**
 * Our own reader of the source stream. An empty page is not the end of a shard.
 */
export interface ShardReader {
  describe(): Promise<StreamDescription>;

  /** All shards that the stream still tells of, open and closed. */
  listShards(): Promise<Shard[]>;

  /**
   * Pages of a shard, beginning after a sequence number, or with the oldest record that there is. Waits between
   * requests as the service's limits demand. It ends after the end of the shard; else the caller stops.
   *
   * @throws HoldfastError `invalid` where the sequence number can no longer be read
   */
  read(shardId: string, afterSequence: string | undefined): AsyncIterable<ShardPage>;
}
