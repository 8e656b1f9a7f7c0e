import type { Channel } from '../core/channel.ts';
import type { Position } from '../core/position.ts';
import type { Progress } from '../core/progress.ts';
import type { AttemptHistory } from '../core/suspicion.ts';

/** One item for each job: created by a deploy alone (C1). */
export interface Job {
  readonly name: string;
  /** Goes up with each write of this item. */
  readonly version: number;
  readonly generation: number;
  /** `creating` until the marker in S3 stands; only a `running` job processes records. */
  readonly status: 'creating' | 'running';
  readonly maxParallelism: number;
  readonly operators: readonly string[];
  /** The hold that stops the job (R1). */
  readonly hold: string | undefined;
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
   * if the job runs in this generation without a hold and each of the parents is finished (P9).
   */
  bear(birth: Birth): Promise<BirthOutcome>;

  /** Replaces progress while its version is `next.version - 1`, its generation the same and its position `from` (law 5). */
  commitProgress(
    job: string,
    channel: Channel,
    next: Progress,
    from: Position | undefined,
  ): Promise<CommitOutcome>;

  /** Every channel that has ever had progress in this generation. */
  listChannels(job: string, generation: number): Promise<Channel[]>;

  readSuspicion(job: string, generation: number, channel: Channel): Promise<Suspicion | undefined>;
  /** Writes while the stored version is `next.version - 1` (0 for none). */
  writeSuspicion(
    job: string,
    generation: number,
    channel: Channel,
    next: Suspicion,
  ): Promise<CommitOutcome>;
}
