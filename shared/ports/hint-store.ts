import type { TimeDomain } from '../core/timer.ts';
import type { StateScope } from './state-store.ts';

/** Says that a key may have a timer due at a time. The key's item knows; this finds it (P12). */
export interface Hint {
  readonly domain: TimeDomain;
  /** ms since the epoch. */
  readonly time: number;
  readonly key: string;
  readonly keyHash: string;
}

export interface DueHints {
  /** All hints of the partition at or before the time, of keys in the range. */
  readonly due: readonly Hint[];
  /** The time of the first hint after that, of a key in the range; undefined for none. */
  readonly nextTime: number | undefined;
}

/**
 * An index of timers by time, in as many partitions of the hash space as {@link hintPartitionOf} makes. All reads are
 * consistent: they see every hint whose insertion was acknowledged before.
 */
export interface HintStore {
  /** Inserts hints; one that is there already stays as it is. Returns after all are acknowledged. */
  insert(scope: StateScope, hints: readonly Hint[]): Promise<void>;

  /** The hints of one partition and domain up to and with a time. */
  findDue(
    scope: StateScope,
    partition: number,
    domain: TimeDomain,
    upTo: number,
    range: { readonly from: string; readonly to: string },
  ): Promise<DueHints>;

  /** Removes hints that have fired. Nothing depends on it but the cost of later looks. */
  remove(scope: StateScope, hints: readonly Hint[]): Promise<void>;
}

/** Into how many parts the hash space is cut for hints: few enough to look through all of a shard's, many enough to spread. */
export const hintPartitions = 16;

/** The partition of a key's hints: the first hex digit of its hash. */
export function hintPartitionOf(keyHash: string): number {
  return Number.parseInt(keyHash.charAt(0), 16);
}

/** The partitions that a range of hashes has a part in, in the order of hashes. */
export function hintPartitionsOf(range: { readonly from: string; readonly to: string }): number[] {
  const first = hintPartitionOf(range.from);
  const last = hintPartitionOf(range.to);
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}
