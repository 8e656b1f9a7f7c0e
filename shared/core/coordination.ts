import type { ManifestReference, PendingWork, Registry } from './registry.ts';

/*
 * What a coordinator has to do next, decided from facts alone. Nothing is remembered between two decisions: what an earlier
 * coordinator left behind is found in the registry, so it does not matter which one goes on, nor how many there are.
 *
 * Settings mean what they mean in Flink:
 * https://nightlies.apache.org/flink/flink-docs-stable/docs/deployment/config/#checkpointing
 */

export interface CheckpointSettings {
  /** From one trigger to the next (`execution.checkpointing.interval`), ms. */
  readonly intervalMs: number;
  /** One that takes longer is given up (`execution.checkpointing.timeout`), ms. */
  readonly timeoutMs: number;
  /** From the end of one to the next trigger, at least (`execution.checkpointing.min-pause`), ms. */
  readonly minPauseMs: number;
  /** How many may be in the making (`execution.checkpointing.max-concurrent-checkpoints`). */
  readonly maxConcurrent: number;
  /**
   * How many may fail in a row (`execution.checkpointing.tolerable-failed-checkpoints`). Past that Flink fails the job over;
   * here the job goes on, since a failed checkpoint has no part in its data, and it is reported as an error.
   */
  readonly tolerableFailures: number;
  /** How many complete ones are kept (`execution.checkpointing.num-retained`); savepoints are not counted. */
  readonly retained: number;
}

export interface CoordinationFacts {
  readonly registry: Registry;
  /** Undefined where the job has no item: no deploy has created it, or the tables are lost (C1). */
  readonly job:
    | { readonly generation: number; readonly isRunning: boolean; readonly isHeld: boolean }
    | undefined;
  /** Ids of pending checkpoints whose manifest stands. */
  readonly standing: ReadonlySet<string>;
  /** The newest checkpoint of the generation has so many or so large segments that they are worth merging. */
  readonly isMergeDue: boolean;
}

export type CoordinationAction =
  /** Write the manifest where none stands, and complete it. */
  | { readonly kind: 'finish'; readonly work: PendingWork; readonly isStanding: boolean }
  /** Take pending work away, so that it can never complete. */
  | {
      readonly kind: 'expire';
      readonly work: PendingWork;
      readonly reason: string;
      readonly isFailure: boolean;
    }
  | { readonly kind: 'report'; readonly failures: number; readonly reason: string }
  | { readonly kind: 'trigger' }
  /** Strike complete checkpoints off the registry; garbage collection takes their files. */
  | { readonly kind: 'retire'; readonly references: readonly ManifestReference[] }
  /** Go on with a compaction, or begin one. */
  | { readonly kind: 'compact'; readonly work: PendingWork | undefined }
  | { readonly kind: 'collect' }
  | { readonly kind: 'patrol' };

export interface Coordination {
  /** In the order in which they are to be done. */
  readonly actions: readonly CoordinationAction[];
  /** When the next checkpoint is due, ms since the epoch; undefined where the clock alone does not decide. */
  readonly nextTriggerMs: number | undefined;
}

const minuteMs = 60_000;

/** How often all objects of the job are listed for garbage, and all channels looked at. */
export const collectEveryMinutes = 15;
export const patrolEveryMinutes = 5;

/** Decides for any facts at all; it never throws. */
export function coordinate(
  settings: CheckpointSettings,
  facts: CoordinationFacts,
  nowMs: number,
): Coordination {
  const { registry, job } = facts;
  // A job that is not there, or not yet, is nobody's to look after: what the bucket has may be all that is left of it.
  if (job === undefined || !job.isRunning) return { actions: [], nextTriggerMs: undefined };
  const actions = [
    ...registry.pending.flatMap((work) => judgePending(facts, job, work, nowMs)),
    ...reportFailures(settings, registry),
    ...(findObstacle(settings, facts, nowMs) === undefined ? [{ kind: 'trigger' as const }] : []),
    ...(job.isHeld ? [] : retireAndKeepUp(settings, facts, job.generation, nowMs)),
  ];
  return {
    actions,
    nextTriggerMs: job.isHeld ? undefined : nextTrigger(settings, registry, nowMs),
  };
}

/**
 * Why no checkpoint may be triggered now; undefined where one may. Whoever triggers asks again while it holds the registry's
 * version, so that two coordinators make one checkpoint.
 *
 * @param facts.isManual somebody asks for it: interval and pause do not count
 */
export function findObstacle(
  settings: CheckpointSettings,
  facts: Pick<CoordinationFacts, 'registry' | 'job'> & { readonly isManual?: boolean },
  nowMs: number,
): string | undefined {
  const { registry, job, isManual = false } = facts;
  if (job === undefined) return 'the job has no item in the control table; deploy it first';
  if (!job.isRunning)
    return 'the job has not begun; wait for its deploy, or for the restore that it begins with';
  if (job.isHeld) return 'the job is held; wait until the hold is over';
  const making = registry.pending.filter(
    (work) => isOwnCheckpoint(work, job.generation) && nowMs < work.expiresAtMs,
  );
  if (making.length >= settings.maxConcurrent) {
    return `checkpoint ${making[0]?.number} is being made; wait for it`;
  }
  const dueMs = nextTrigger(settings, registry, nowMs);
  return isManual || nowMs >= dueMs ? undefined : `the next one is due in ${dueMs - nowMs} ms`;
}

function nextTrigger(settings: CheckpointSettings, registry: Registry, nowMs: number): number {
  return Math.max(
    after(registry.triggeredAtMs, settings.intervalMs, nowMs),
    after(registry.endedAtMs, settings.minPauseMs, nowMs),
  );
}

/** A moment further ahead than the pause itself was written by a clock that was wrong: it must not stop checkpoints for long. */
function after(momentMs: number, pauseMs: number, nowMs: number): number {
  return momentMs > nowMs + pauseMs ? nowMs : momentMs + pauseMs;
}

function judgePending(
  { standing }: CoordinationFacts,
  job: NonNullable<CoordinationFacts['job']>,
  work: PendingWork,
  nowMs: number,
): CoordinationAction[] {
  const isOver = nowMs >= work.expiresAtMs;
  const isOurs = work.kind === 'checkpoint' || (work.kind === 'compaction' && work.label === '');
  if (isOurs && work.generation !== job.generation) {
    return [expire(work, `the job has gone over to generation ${job.generation}`)];
  }
  if (!isOrdinary(work)) {
    // While the job is held, its holder alone knows what it still needs.
    return isOver && !job.isHeld ? [expire(work, `${work.kind} was not complete in time`)] : [];
  }
  const isStanding = standing.has(work.id);
  // All that is left to do is to say so: also where the time is over, which is there to bound the work.
  if (isStanding) return [{ kind: 'finish', work, isStanding }];
  if (isOver) {
    const takenMs = work.expiresAtMs - work.sinceMs;
    return [{ ...expire(work, `it was not complete within ${takenMs / 1000} s`), isFailure: true }];
  }
  return job.isHeld ? [] : [{ kind: 'finish', work, isStanding }];
}

function expire(
  work: PendingWork,
  reason: string,
): Extract<CoordinationAction, { readonly kind: 'expire' }> {
  return { kind: 'expire', work, reason, isFailure: false };
}

function reportFailures(
  { tolerableFailures }: CheckpointSettings,
  { failures, lastFailure }: Registry,
): CoordinationAction[] {
  if (failures <= tolerableFailures) return [];
  return [{ kind: 'report', failures, reason: lastFailure ?? 'unknown' }];
}

/** Everything that a hold puts off: no file is taken away or merged while somebody restores. */
function retireAndKeepUp(
  settings: CheckpointSettings,
  { registry, isMergeDue }: CoordinationFacts,
  generation: number,
  nowMs: number,
): CoordinationAction[] {
  const references = chooseRetired(registry, settings.retained);
  const merging = registry.pending.find((work) => isOwnCompaction(work, generation));
  const goesOn = merging !== undefined && nowMs < merging.expiresAtMs;
  return [
    ...(references.length === 0 ? [] : [{ kind: 'retire' as const, references }]),
    ...(goesOn || (merging === undefined && isMergeDue)
      ? [{ kind: 'compact' as const, work: merging }]
      : []),
    ...(isTurn(nowMs, collectEveryMinutes) ? [{ kind: 'collect' as const }] : []),
    ...(isTurn(nowMs, patrolEveryMinutes) ? [{ kind: 'patrol' as const }] : []),
  ];
}

/**
 * The checkpoints beyond the newest so many, of all generations together, that nobody has pinned (C7). Savepoints and undo
 * points are never among them: they end by somebody's hand.
 */
export function chooseRetired(
  { complete, pins }: Pick<Registry, 'complete' | 'pins'>,
  retained: number,
): readonly ManifestReference[] {
  const pinned = new Set(pins.map(({ object }) => object));
  return complete
    .filter(({ kind }) => kind === 'checkpoint')
    .sort((a, b) => b.generation - a.generation || b.number - a.number)
    .slice(Math.max(retained, 1))
    .filter(({ object }) => !pinned.has(object));
}

/** The coordinator's own; those of savepoints and restores are labelled, and theirs. */
export function isOwnCompaction(work: PendingWork, generation: number): boolean {
  return work.kind === 'compaction' && work.label === '' && work.generation === generation;
}

function isOwnCheckpoint(work: PendingWork, generation: number): boolean {
  return isOrdinary(work) && work.generation === generation;
}

/** Those with a label are cut in the past (R15), by whoever has registered them. */
function isOrdinary({ kind, label }: PendingWork): boolean {
  return kind === 'checkpoint' && label === '';
}

/** One minute out of so many, by the clock: nothing has to be written down, and one that is missed comes again. */
function isTurn(nowMs: number, everyMinutes: number): boolean {
  return Math.floor(nowMs / minuteMs) % everyMinutes === 0;
}
