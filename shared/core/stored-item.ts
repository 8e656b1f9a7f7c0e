import type { Spill } from './emission.ts';
import type { Position } from './position.ts';
import type { Timer } from './timer.ts';

/**
 * What the state store keeps of one key (P2): its states and, as its own outbox, the emissions that were past progress
 * when it was written.
 */
export interface StoredItem {
  readonly key: string;
  readonly keyGroup: number;
  /** Optimistic lock. Starts anywhere, goes up by one with each write (P5). */
  readonly version: number;
  /** The last position that has been applied to the key. Never goes back. */
  readonly position: Position;
  /** Arrival time of the record at `position`, ms since the epoch. */
  readonly arrivalMs: number;
  /** Packed states; undefined for a tombstone (P14). */
  readonly states: Uint8Array | undefined;
  /** Packed emissions; undefined for none. */
  readonly emissions: Uint8Array | undefined;
  readonly spills: readonly Spill[];
  /** Pending timers, in the order in which they fire. The hints that find them are only hints (P12). */
  readonly timers: readonly Timer[];
}

/**
 * Largest item that is written, in bytes of keys, states and emissions. DynamoDB takes 400 KB with attribute names;
 * the rest is room for those and for `spills`.
 */
export const itemBytesMax = 390 * 1024;

/**
 * Largest item without its emissions, in bytes. The rest up to {@link itemBytesMax} is for naming an object that holds
 * them: a verdict on a record of a full key can always be stored.
 */
export const stateBytesMax = 380 * 1024;

/** The size of an item as this rule counts it. */
export function itemBytes(item: StoredItem): number {
  let bytes = 200 + item.key.length * 3;
  for (const spill of item.spills) bytes += spill.name.length + 120;
  for (const timer of item.timers) bytes += timer.name.length + 12;
  return bytes + (item.states?.length ?? 0) + (item.emissions?.length ?? 0);
}
