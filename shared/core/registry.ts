/*
 * What a job knows of its manifests: one item, changed by compare-and-swap on its version. S3 has the manifests; this says
 * which of them count, which are being made, and which somebody is reading (C4, C7).
 */

export type ManifestKind = 'checkpoint' | 'savepoint' | 'undo';

/**
 * Something that is being made. It is registered before its first object is put, so that garbage collection leaves alone
 * what it is about to name; whoever finds it too old takes it away by compare-and-swap, and then it can never complete.
 */
export interface PendingWork {
  /** Fresh and random. */
  readonly id: string;
  readonly kind: ManifestKind | 'compaction';
  /** Counts manifests and compactions of a job alike, from 1, in all its generations. */
  readonly number: number;
  readonly generation: number;
  /** The savepoint's name; what a person would call it otherwise. */
  readonly label: string;
  readonly sinceMs: number;
  /** From when on it may be taken away, ms since the epoch. */
  readonly expiresAtMs: number;
}

/** A complete manifest. */
export interface ManifestReference {
  readonly kind: ManifestKind;
  readonly generation: number;
  readonly number: number;
  /** Name of its object. */
  readonly object: string;
  /** The savepoint's name; empty for checkpoints. */
  readonly label: string;
  readonly completedAtMs: number;
  /** Bytes of all files that it lists. */
  readonly bytes: number;
  /** P4: no key is past its channel's position. */
  readonly isExact: boolean;
}

/** Somebody reads a manifest and its files: they stay as long as the pin does (C7). */
export interface Pin {
  readonly object: string;
  /** One for each reader; that of another job begins with {@link clonePinPrefix}. */
  readonly id: string;
  /** Who, for people. */
  readonly owner: string;
  readonly sinceMs: number;
}

/** R12: begins the ids of pins by which clones of the job read it; no restore of the job itself can be called so. */
export const clonePinPrefix = 'clone:';

/** So long does a clone's pin count from when it was set, ms: what it copies is copied by then, or is not copied at all. */
export const clonePinAgeMaxMs = 24 * 3_600_000;

/**
 * R12: a pin of a clone that is older than a fraction of its greatest age. Nothing in this job can know whether a clone goes on
 * somewhere, or has died behind its pin; one that does and finds a file gone fails, and changes nothing by it.
 */
export function isClonePinOlder({ id, sinceMs }: Pin, nowMs: number, fraction = 1): boolean {
  return id.startsWith(clonePinPrefix) && nowMs - sinceMs >= fraction * clonePinAgeMaxMs;
}

/** How far the state of generations that are over has been deleted. */
export interface CleanupPlace {
  /** The first of which something may be left. */
  readonly generation: number;
  /** Of that one: the operator, and its key group, from which to go on; empty at its start. */
  readonly operator: string;
  readonly group: number;
}

export interface Registry {
  /** Optimistic lock: the first one is 1. */
  readonly version: number;
  /** The number that the next pending work gets; never goes back. */
  readonly nextNumber: number;
  readonly pending: readonly PendingWork[];
  /** Oldest first. */
  readonly complete: readonly ManifestReference[];
  readonly pins: readonly Pin[];
  /** The newest base of a generation: object name; undefined before its first compaction. */
  readonly base: { readonly generation: number; readonly object: string } | undefined;
  /** Checkpoints that have failed or expired since the last one that completed. */
  readonly failures: number;
  /** When the last checkpoint was triggered, and when one ended, ms since the epoch; 0 for never. */
  readonly triggeredAtMs: number;
  readonly endedAtMs: number;
  /** Why the last one that failed did so; undefined where the last one completed. */
  readonly lastFailure: string | undefined;
  /** Undefined before anything was deleted. */
  readonly cleanup?: CleanupPlace;
}

export const emptyRegistry: Registry = {
  version: 0,
  nextNumber: 1,
  pending: [],
  complete: [],
  pins: [],
  base: undefined,
  failures: 0,
  triggeredAtMs: 0,
  endedAtMs: 0,
  lastFailure: undefined,
};
