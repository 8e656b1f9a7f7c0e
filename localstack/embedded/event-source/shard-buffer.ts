import { toEventRecord, type EventOrigin, type EventRecord } from './event-record.ts';
import type { ShardPosition, StreamReader } from './stream-reader.ts';

/** GetRecords gives at most this many. */
const PAGE_RECORDS_MAX = 10_000;

/** Records of one shard that were read and not yet delivered. A retry starts a new buffer: it reads the stream again. */
export class ShardBuffer {
  /** The shard is closed and all its records were read. */
  isAtEnd = false;
  /** The last page reached the end of what there was. */
  isAtTip = false;
  behindLatestMs = 0;
  #records: EventRecord[] = [];
  #iterator: string | undefined;
  #position: ShardPosition;
  readonly #origin: EventOrigin;
  readonly #stream: StreamReader;

  constructor(position: ShardPosition, origin: EventOrigin, stream: StreamReader) {
    this.#position = position;
    this.#origin = origin;
    this.#stream = stream;
  }

  get records(): readonly EventRecord[] {
    return this.#records;
  }

  /** Reads one page; returns how many records it had. */
  async fill(recordsMax: number): Promise<number> {
    if (this.isAtEnd) return 0;
    this.#iterator ??= await this.#stream.openIterator(this.#origin.shardId, this.#position);
    const limit = Math.max(1, Math.min(recordsMax, PAGE_RECORDS_MAX));
    const page = await this.#stream.read(this.#iterator, limit);
    if (page === null) {
      this.#iterator = undefined;
      return 0;
    }
    for (const record of page.records) this.#records.push(toEventRecord(record, this.#origin));
    const last = page.records.at(-1);
    if (last !== undefined) this.#position = { kind: 'after', sequenceNumber: last.sequenceNumber };
    this.#iterator = page.nextIterator;
    this.isAtEnd = page.nextIterator === undefined;
    this.behindLatestMs = page.behindLatestMs;
    this.isAtTip = this.isAtEnd || (page.records.length === 0 && page.behindLatestMs === 0);
    return page.records.length;
  }

  /** Removes records from the front. */
  drop(count: number): void {
    this.#records = this.#records.slice(count);
  }
}
