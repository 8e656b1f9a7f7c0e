import {
  compareSequenceNumbers,
  type StreamRecord,
} from '../../../../localstack/embedded/event-source/event-record.ts';
import type {
  ShardPage,
  ShardPosition,
  StreamReader,
  StreamShard,
} from '../../../../localstack/embedded/event-source/stream-reader.ts';

interface MemoryShard extends StreamShard {
  readonly records: StreamRecord[];
  isClosed: boolean;
}

/** A stream in memory that behaves as Kinesis does for a reader, with a record for each id that is put. */
export class MemoryStream implements StreamReader {
  /** Makes the next reads fail. */
  failingReads = 0;
  /** Makes every iterator good for one page only. */
  iteratorsExpire = false;
  /** Records that were given to readers. */
  recordsRead = 0;
  /** Positions that were asked for, in order. */
  readonly opened: ShardPosition[] = [];
  readonly #shards = new Map<string, MemoryShard>();
  readonly #usedIterators = new Set<string>();
  #lastNumber = 0n;
  #iteratorCount = 0;

  constructor(...shardIds: string[]) {
    for (const shardId of shardIds) this.#add(shardId, []);
  }

  put(shardId: string, id: string, options: { arrivalMs?: number; padding?: number } = {}): void {
    this.#lastNumber += 1n;
    this.#shard(shardId).records.push({
      sequenceNumber: String(this.#lastNumber),
      partitionKey: id,
      data: Buffer.from(JSON.stringify({ id, padding: 'x'.repeat(options.padding ?? 0) })),
      arrivalMs: options.arrivalMs ?? 1_000,
    });
  }

  /** Closes shards and opens others in their place. */
  reshard(parentShardIds: string[], ...childShardIds: string[]): void {
    for (const parent of parentShardIds) this.#shard(parent).isClosed = true;
    for (const child of childShardIds) this.#add(child, parentShardIds);
  }

  listShards(): Promise<StreamShard[]> {
    return Promise.resolve([...this.#shards.values()]);
  }

  openIterator(shardId: string, position: ShardPosition): Promise<string> {
    this.opened.push(position);
    const { records } = this.#shard(shardId);
    const isAhead = (record: StreamRecord): boolean => {
      switch (position.kind) {
        case 'trim-horizon':
          return true;
        case 'latest':
          return false;
        case 'timestamp':
          return record.arrivalMs >= position.timestampMs;
        case 'at':
          return compareSequenceNumbers(record.sequenceNumber, position.sequenceNumber) >= 0;
        case 'after':
          return compareSequenceNumbers(record.sequenceNumber, position.sequenceNumber) > 0;
      }
    };
    const index = records.findIndex(isAhead);
    return Promise.resolve(this.#iterator(shardId, index === -1 ? records.length : index));
  }

  read(iterator: string, recordsMax: number): Promise<ShardPage | null> {
    if (this.failingReads > 0) {
      this.failingReads -= 1;
      return Promise.reject(new Error('the stream does not answer'));
    }
    if (this.iteratorsExpire && this.#usedIterators.has(iterator)) return Promise.resolve(null);
    const [shardId = '', start] = iterator.split('/');
    const shard = this.#shard(shardId);
    const end = Math.min(Number(start) + recordsMax, shard.records.length);
    this.recordsRead += end - Number(start);
    const nextIterator =
      shard.isClosed && end === shard.records.length ? undefined : this.#iterator(shardId, end);
    if (nextIterator !== undefined) this.#usedIterators.add(nextIterator);
    return Promise.resolve({
      records: shard.records.slice(Number(start), end),
      nextIterator,
      behindLatestMs: shard.records.length - end,
    });
  }

  #iterator(shardId: string, index: number): string {
    this.#iteratorCount += 1;
    return `${shardId}/${index}/${this.#iteratorCount}`;
  }

  #add(shardId: string, parentShardIds: readonly string[]): void {
    this.#shards.set(shardId, { shardId, parentShardIds, records: [], isClosed: false });
  }

  #shard(shardId: string): MemoryShard {
    const shard = this.#shards.get(shardId);
    if (shard === undefined) throw new Error(`no shard ${shardId}`);
    return shard;
  }
}
