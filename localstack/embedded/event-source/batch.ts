import type { EventRecord } from './event-record.ts';

/** What closes a batch. */
export interface BatchLimits {
  readonly recordsMax: number;
  /** Of the whole event as JSON text. */
  readonly bytesMax: number;
}

export interface BatchCut {
  /** How many records from the front belong to the batch. */
  readonly count: number;
  /** True if one more record would break a limit: there is no sense in waiting for more. */
  readonly isFull: boolean;
}

const opening = '{"Records":[';
const closing = ']}';

/**
 * The longest prefix within the limits. A single record that is too large makes a batch of its own, which Lambda then
 * refuses: it must not silently disappear.
 */
export function cutBatch(records: readonly EventRecord[], limits: BatchLimits): BatchCut {
  let bytes = opening.length + closing.length;
  let count = 0;
  for (const record of records) {
    const withRecord = bytes + record.bytes + (count === 0 ? 0 : 1);
    const isFull = count === limits.recordsMax || (count > 0 && withRecord > limits.bytesMax);
    if (isFull) return { count, isFull };
    bytes = withRecord;
    count += 1;
  }
  return { count, isFull: count >= limits.recordsMax || bytes >= limits.bytesMax };
}

/** The event that a function gets. */
export function eventOf(batch: readonly EventRecord[]): string {
  return opening + batch.map((record) => record.json).join(',') + closing;
}

/** All that decides whether the records at hand are delivered now. */
export interface BatchFacts {
  readonly cut: BatchCut;
  readonly nowMs: number;
  /** The window starts when the previous invocation completes. */
  readonly windowEndsAtMs: number;
  /** The shard is closed and everything in it was read. */
  readonly isShardAtEnd: boolean;
}

export type BatchDecision =
  | { readonly kind: 'deliver' }
  /** Read on; the window, if it is over, starts again: an empty one invokes nothing. */
  | { readonly kind: 'wait'; readonly windowEndsAtMs: number }
  | { readonly kind: 'finished' };

export function decideBatch(facts: BatchFacts, windowMs: number): BatchDecision {
  if (facts.cut.count === 0) {
    if (facts.isShardAtEnd) return { kind: 'finished' };
    const isOver = facts.nowMs >= facts.windowEndsAtMs;
    return {
      kind: 'wait',
      windowEndsAtMs: isOver ? facts.nowMs + windowMs : facts.windowEndsAtMs,
    };
  }
  const isDue = facts.cut.isFull || facts.isShardAtEnd || facts.nowMs >= facts.windowEndsAtMs;
  return isDue ? { kind: 'deliver' } : { kind: 'wait', windowEndsAtMs: facts.windowEndsAtMs };
}
