import type { SeededRandom } from '../seeded-random.ts';
import type { EventRecord } from './event-record.ts';
import type { ShardPosition, StreamShard } from './stream-reader.ts';

/** Positions that a restart may go back to: Lambda persists its own a little late. */
const PERSISTED_POSITIONS_MAX = 4;

/** What a mapping remembers of one shard, whoever reads it at the moment. */
export class ShardLedger {
  readonly shard: StreamShard;
  /** Decided once: AWS promises neither order of parents and children. */
  readonly startsBeforeParents: boolean;
  isFinished = false;
  #positions: ShardPosition[];
  #highestDelivered = -1n;
  #highestSucceeded = -1n;

  constructor(shard: StreamShard, start: ShardPosition, startsBeforeParents: boolean) {
    this.shard = shard;
    this.startsBeforeParents = startsBeforeParents;
    this.#positions = [start];
  }

  /** Where reading goes on if nothing is forgotten. */
  position(): ShardPosition {
    return this.#positions.at(-1) as ShardPosition;
  }

  /** LATEST means another place every time: once it was asked for, the shard stays with that moment. */
  anchorLatest(nowMs: number): void {
    if (this.position().kind === 'latest') {
      this.#positions = [{ kind: 'timestamp', timestampMs: nowMs }];
    }
  }

  /** Goes back to a position that was persisted some batches ago, or stays. */
  rewind(random: SeededRandom): void {
    const index = random.integerBelow(this.#positions.length);
    if (index < this.#positions.length - 1) this.isFinished = false;
    this.#positions = this.#positions.slice(0, index + 1);
  }

  /** Notes a delivery; returns how many of its records had been delivered before. */
  noteDelivered(records: readonly EventRecord[]): number {
    let redelivered = 0;
    for (const record of records) {
      const sequenceNumber = BigInt(record.sequenceNumber);
      if (sequenceNumber <= this.#highestDelivered) redelivered += 1;
      else this.#highestDelivered = sequenceNumber;
    }
    return redelivered;
  }

  /** Moves past a record. True if no earlier delivery had got that far. */
  moveAfter(sequenceNumber: string): boolean {
    this.#positions.push({ kind: 'after', sequenceNumber });
    if (this.#positions.length > PERSISTED_POSITIONS_MAX) this.#positions.shift();
    const isNew = BigInt(sequenceNumber) > this.#highestSucceeded;
    if (isNew) this.#highestSucceeded = BigInt(sequenceNumber);
    return isNew;
  }
}
