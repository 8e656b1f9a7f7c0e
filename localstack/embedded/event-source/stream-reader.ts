import type { StreamRecord } from './event-record.ts';

/** Where reading of a shard starts. */
export type ShardPosition =
  | { readonly kind: 'trim-horizon' }
  | { readonly kind: 'latest' }
  | { readonly kind: 'timestamp'; readonly timestampMs: number }
  | { readonly kind: 'at'; readonly sequenceNumber: string }
  | { readonly kind: 'after'; readonly sequenceNumber: string };

export interface StreamShard {
  readonly shardId: string;
  /** The shard that was split, or both that were merged. They may be out of the listing already. */
  readonly parentShardIds: readonly string[];
}

export interface ShardPage {
  readonly records: readonly StreamRecord[];
  /** Undefined when the shard is closed and its last record was given. */
  readonly nextIterator: string | undefined;
  /** Age of the page against the end of the shard; 0 at the end. */
  readonly behindLatestMs: number;
}

/** What an event source mapping needs of a stream. */
export interface StreamReader {
  listShards(): Promise<StreamShard[]>;
  /** `null` if the iterator has expired: open one again. */
  read(iterator: string, recordsMax: number): Promise<ShardPage | null>;
  openIterator(shardId: string, position: ShardPosition): Promise<string>;
}
