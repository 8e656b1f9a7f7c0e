import type { Channel } from './channel.ts';
import type { Progress, SegmentReference } from './progress.ts';
import type { ManifestKind } from './registry.ts';
import type { AheadKey } from './segment.ts';

/*
 * A manifest is a recovery point: the positions of a lineage-closed set of channels (C2), and every file that the state at
 * them is made of. It is enough on its own: with every table gone, a job is restored from it and the files that it names.
 */

/** A run file: the newest items of some keys of one operator, sorted by key group and key. */
export interface StateFile {
  /** Object name. */
  readonly name: string;
  readonly operator: string;
  readonly bytes: number;
  /** CRC-32C of the whole object. */
  readonly crc: number;
  /** The first and the last key group in it. */
  readonly groups: readonly [first: number, last: number];
  /** Keys with a state. */
  readonly keys: number;
  readonly tombstones: number;
}

/** Files that together hold each key once at most, in order of operator, key group and key. */
export interface SortedRun {
  readonly files: readonly StateFile[];
}

/** One channel at the cut. */
export interface ChannelCut {
  readonly channel: Channel;
  /** As it was read, fence and all. */
  readonly progress: Progress;
  /** The keys that the next unit touches whatever it holds (P4): at an exact cut none but those that are overdue (P12). */
  readonly ahead: readonly AheadKey[];
  /** Committed segments of this generation that are not in any of the manifest's runs, oldest first. */
  readonly segments: readonly SegmentReference[];
}

/** A state of an operator, as far as it is a contract. */
export interface StateContract {
  readonly name: string;
  readonly kind: 'value' | 'list' | 'map' | 'aggregating';
  /** Schema version of what the code wrote. */
  readonly version: number;
}

export interface OperatorContract {
  readonly id: string;
  readonly states: readonly StateContract[];
  readonly sinks: readonly { readonly name: string; readonly kind: 'append' | 'upsert' }[];
  readonly timeRules: string;
}

/** A recovery point; see the head of this file. */
export interface Manifest {
  readonly job: string;
  readonly kind: ManifestKind;
  readonly generation: number;
  /** Counts the manifests of a job in all its generations, with gaps. */
  readonly number: number;
  /** The savepoint's name; empty for checkpoints. */
  readonly label: string;
  readonly note: string;
  readonly maxParallelism: number;
  readonly operators: readonly OperatorContract[];
  readonly channels: readonly ChannelCut[];
  /** The newest run is the last one; which item of a key counts is told by generation and position (C6). */
  readonly runs: readonly SortedRun[];
  /** P4: no key is past its channel's position. */
  readonly isExact: boolean;
  /** Git revision, package version, the user's own. */
  readonly tags: Readonly<Record<string, string>>;
  /** ms since the epoch. */
  readonly triggeredAtMs: number;
  /** When all progress had been read: the cut lies between this and `triggeredAtMs`. */
  readonly readAtMs: number;
  readonly writtenAtMs: number;
  /** Bytes of the files that the manifest before it did not list; of all files. */
  readonly newBytes: number;
  readonly totalBytes: number;
  /** Keys with a state in the runs; segments hold some of them again and others besides. */
  readonly keysInRuns: number;
}

/**
 * The files that segments have been merged into, and how far: what a checkpoint lists in place of those segments. An
 * object of its own in S3, written once.
 */
export interface Base {
  readonly job: string;
  readonly generation: number;
  readonly runs: readonly SortedRun[];
  /** For each channel the number of the last segment that the runs hold; channels that are missing have none in them. */
  readonly compacted: readonly { readonly channel: string; readonly number: number }[];
}
