import type { HashRange } from './key-group.ts';
import type { FiringStep, Position } from './position.ts';
import type { TimeDomain } from './timer.ts';
import type { WatermarkFloor, Watermarks } from './watermark.ts';

/** Where a segment is, and what it must look like. Its object's name follows from channel, generation and these. */
export interface SegmentReference {
  /** Counts the committed segments of a channel in one generation, from 1. */
  readonly number: number;
  /** Random id of the attempt that wrote it. */
  readonly attempt: string;
  readonly bytes: number;
  /** CRC-32C of the whole object. */
  readonly crc: number;
}

/**
 * How far a channel has committed: the commit point (P7). It has constant size.
 */
export interface Progress {
  readonly generation: number;
  /** Goes up with each write of this item, by commits and by fences alike; never back. */
  readonly version: number;
  /** The last position whose effects are all in; undefined before the first unit. */
  readonly position: Position | undefined;
  /** Random id of the attempt that wrote this. */
  readonly attempt: string;
  readonly head: SegmentReference | undefined;
  /** Greatest position of a key that is past `position` (P4); undefined where this is an exact cut. */
  readonly aheadMax: Position | undefined;
  /** The shard is closed and read to its end (P9). */
  readonly isFinished: boolean;
  readonly range: HashRange;
  readonly parentIds: readonly string[];
  /** When this was written, ms since the epoch: for people and for heuristics, never for correctness. */
  readonly committedAtMs: number;
  /**
   * Everything that arrived in the shard before this time has been seen, ms since the epoch (R7): the arrival of the last
   * committed record, or when our own reader stood at the tip.
   */
  readonly checkedAtMs: number;
  /** The channel's watermarks after the record at `position`. */
  readonly watermarks: Watermarks;
  /** What its keys have seen in the shards before. */
  readonly floors: readonly WatermarkFloor[];
  /**
   * Set while the timers that the record at `position` made due have not all fired: the last one that has, or `none` (P12).
   */
  readonly firing: FiringStep | 'none' | undefined;
  /** No timer of the channel is due before these, ms since the epoch; undefined where none is known (P12). */
  readonly earliest: Readonly<Record<TimeDomain, number | undefined>>;
  /**
   * The operator's rules of time that this channel was begun with in this generation (P11); undefined until a first unit
   * is run.
   */
  readonly timeRules: string | undefined;
  /** The hold that fences this channel (R2). */
  readonly fence: string | undefined;
}

/** P4: a recovery point is exact where no key is past it. */
export function isExact(progress: Progress): boolean {
  return progress.aheadMax === undefined;
}
