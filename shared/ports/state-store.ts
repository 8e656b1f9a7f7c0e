import type { StoredItem } from '../core/stored-item.ts';

/** Where an operator's items live: one job, generation and operator. */
export interface StateScope {
  readonly job: string;
  readonly generation: number;
  readonly operator: string;
}

/** Names one item of a scope. */
export interface ItemKey {
  readonly key: string;
  readonly keyGroup: number;
}

/** A conditional write (P5): create where `expectedVersion` is undefined, else replace exactly that version. */
export interface ItemWrite {
  readonly item: StoredItem;
  readonly expectedVersion: number | undefined;
}

/**
 * - `written`: acknowledged; the item is exactly what was asked for.
 * - `conflict`: it may or may not have been written (a condition failed, the item exists already, or the reply was lost).
 *   Reload it.
 */
export type WriteOutcome = 'written' | 'conflict';

/**
 * Keyed state. Guarantees that an adapter must give:
 *
 * - reads are consistent: they see every write acknowledged before;
 * - each write is atomic and conditional on its own version, independently of the other writes of the call;
 * - a create never replaces, an update never creates;
 * - throttled writes are retried inside, with a bound; past it the call throws `unavailable`, and any of its writes may
 *   or may not have happened;
 * - a state write removes a `expiresAtSeconds` that {@link StateStore.expireTombstones} has set.
 */
export interface StateStore {
  /** The items that exist, by key. Missing keys are missing from the map. */
  load(scope: StateScope, keys: readonly ItemKey[]): Promise<Map<string, StoredItem>>;

  /** Writes items, one outcome for each in the same order. A key must occur once. */
  write(scope: StateScope, writes: readonly ItemWrite[]): Promise<WriteOutcome[]>;

  /**
   * All items of a key group, tombstones too, in no order that can be relied on. Each read is consistent; the scan as a whole
   * is of one moment only while nobody writes.
   */
  scan(scope: StateScope, keyGroup: number): AsyncIterable<StoredItem>;

  /** Removes items for good, whatever they hold: of generations that are over (R10, R13). */
  remove(scope: StateScope, keys: readonly ItemKey[]): Promise<void>;

  /**
   * Lets tombstones be collected from `expiresAtSeconds` (s since the epoch) on, each only while it is a tombstone of
   * this version (P14). What is no longer so is left alone.
   */
  expireTombstones(
    scope: StateScope,
    tombstones: readonly (ItemKey & {
      readonly version: number;
      readonly expiresAtSeconds: number;
    })[],
  ): Promise<void>;
}
