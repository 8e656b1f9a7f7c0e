import type { Channel } from '../core/channel.ts';
import type { Position } from '../core/position.ts';
import type { Progress } from '../core/progress.ts';
import type { Registry } from '../core/registry.ts';
import type { AttemptHistory } from '../core/suspicion.ts';

/**
 * What stops a job (R1). There is one at a time; its id is fresh and random for each acquisition, so that a late write of a
 * hold that is over cannot be taken for the present one.
 */
export interface Hold {
  readonly id: string;
  /**
   * `stopped` is what a savepoint with stop leaves behind: only a resume or a restore ends it (R14). `unborn` is what a deploy
   * gives a job that is to begin as a clone: only a restore ends it (R12).
   */
  readonly kind: 'savepoint' | 'restore' | 'stopped' | 'unborn';
  /** Whose it is, for people: the name of the savepoint or of the restore, or of what an unborn job waits for. */
  readonly owner: string;
  /** ms since the epoch. */
  readonly sinceMs: number;
  /** The job has gone over to its new generation: from here there is only forward (R5). */
  readonly isFlipped: boolean;
  /** Object name of the complete manifest at the held positions (R2); undefined until it is. */
  readonly undo: string | undefined;
  /** The hold that this one took over (R1): an abort gives it back, and what it had to reach is still to be reached. */
  readonly before?: Hold;
}

/**
 * Where a generation comes from (R10). What it forked at, channel by channel, is in the object that reserved its number.
 */
export interface TimelineEntry {
  readonly generation: number;
  readonly parent: number;
  /** Object name of the manifest that it began with. */
  readonly manifest: string;
}

/** Sink name → how its table takes rows, for every sink of a job. */
export type SinkKinds = Readonly<Record<string, 'append' | 'upsert'>>;

/** One item for each job: created by a deploy alone (C1). */
export interface Job {
  readonly name: string;
  /** Goes up with each write of this item. */
  readonly version: number;
  /** From 1 on; 0 for a job that is held and has none yet (R11, R12). */
  readonly generation: number;
  /** `creating` until the marker in S3 stands; only a `running` job processes records. */
  readonly status: 'creating' | 'running';
  readonly maxParallelism: number;
  readonly operators: readonly string[];
  /** As they were deployed last. @default not known: the next deployment says it */
  readonly sinks?: SinkKinds;
  readonly hold: Hold | undefined;
  /** Every generation but the first, oldest first. */
  readonly timeline: readonly TimelineEntry[];
}

/** The channel's announcement of attempts (P15), in an item of its own beside progress. */
export interface Suspicion extends AttemptHistory {
  /** Optimistic lock: the first one is 1. */
  readonly version: number;
}

/**
 * - `born`: written.
 * - `exists`: another invocation was first, or our own write whose reply was lost: read it.
 * - `parents-unfinished`: at least one parent is not finished.
 * - `job-changed`: another generation, a hold, or no running job.
 */
export type BirthOutcome = 'born' | 'exists' | 'parents-unfinished' | 'job-changed';

export interface Birth {
  readonly job: string;
  readonly channel: Channel;
  readonly progress: Progress;
  /** Shards of the same stream whose channels must be finished. */
  readonly finishedParentIds: readonly string[];
  /** The hold under which the channel is born, fenced by it; undefined where the job must have none (P9). */
  readonly hold?: string;
}

export type CommitOutcome = 'committed' | 'conflict';

/**
 * Job, progress and suspicion. All reads are consistent; all writes are compare-and-swap on the item's version.
 * `conflict` after a lost reply may be our own success: the caller compares attempt ids (P7).
 */
export interface ControlStore {
  readJob(job: string): Promise<Job | undefined>;
  /** Creates the job item; returns the one that is there where somebody was faster. */
  createJob(job: Job): Promise<Job>;
  replaceJob(job: Job, expectedVersion: number): Promise<CommitOutcome>;

  readProgress(job: string, generation: number, channel: Channel): Promise<Progress | undefined>;

  /**
   * The first commit of a channel, in one transaction: progress and the channel's entry in the job's list are created,
   * if the job runs in this generation, without a hold or with the one that the birth names, and each of the parents is
   * finished (P9).
   */
  bear(birth: Birth): Promise<BirthOutcome>;

  /** Replaces progress while its version is `next.version - 1`, its generation the same and its position `from` (P7). */
  commitProgress(
    job: string,
    channel: Channel,
    next: Progress,
    from: Position | undefined,
  ): Promise<CommitOutcome>;

  /**
   * Fences a channel (R2): raises the version of its progress and sets the fence, whatever else it holds. Never creates.
   * Returns what was written: its position is the one that is held. Undefined where the channel has no progress.
   */
  fenceProgress(
    job: string,
    generation: number,
    channel: Channel,
    fence: string,
  ): Promise<Progress | undefined>;

  /** Creates the progress of a channel that is restored, and its entry in the list; one that is there stays (R5). */
  createProgress(job: string, channel: Channel, progress: Progress): Promise<'created' | 'exists'>;

  /** Every channel that has ever had progress in this generation. */
  listChannels(job: string, generation: number): Promise<Channel[]>;

  /** What the job knows of its manifests; undefined before the first. */
  readRegistry(job: string): Promise<Registry | undefined>;
  /** Writes while the stored version is `next.version - 1` (0 for none). */
  writeRegistry(job: string, next: Registry): Promise<CommitOutcome>;

  readSuspicion(job: string, generation: number, channel: Channel): Promise<Suspicion | undefined>;
  /** Writes while the stored version is `next.version - 1` (0 for none). */
  writeSuspicion(
    job: string,
    generation: number,
    channel: Channel,
    next: Suspicion,
  ): Promise<CommitOutcome>;
}
