import {
  coordinate,
  type CheckpointSettings,
  type CoordinationAction,
  type CoordinationFacts,
} from '../../core/coordination.ts';
import { describeThrown, isHoldfastError, isPassing } from '../../core/errors.ts';
import type { ManifestReference, PendingWork, Registry } from '../../core/registry.ts';
import type { CheckpointMetrics } from '../../ports/checkpoint-metrics.ts';
import { hasTimeFor, noDeadline, type Deadline } from '../deadline.ts';
import { hasObject } from '../has-object.ts';
import { completionName } from '../object-names.ts';
import { endStaleHold } from '../restore/end-stale-hold.ts';
import { backUp } from './back-up.ts';
import { readRegistry } from './change-registry.ts';
import type { MergeThresholds } from './choose-compaction.ts';
import { collectGarbage } from './collect-garbage.ts';
import { compactJob, isMergeDue } from './compact-job.ts';
import { patrolChannels, type PatrolPorts } from './patrol-channels.ts';
import {
  factsOf,
  finishCheckpoint,
  retireCheckpoints,
  triggerCheckpoint,
} from './take-checkpoint.ts';
import { dropPending, manifestOf, markComplete } from './take-manifest.ts';

/*
 * One tick of the coordinator: it reads the facts, lets coordination decide, and acts. A schedule starts one each minute; for
 * shorter intervals a tick goes on until the next one comes. It can be killed anywhere, and run beside others: whatever it has
 * begun is pending in the registry, where the next one finds it.
 */

export interface CoordinatorPorts extends PatrolPorts {
  readonly metrics: CheckpointMetrics;
  /** When segments are merged. @default defaultMergeThresholds */
  readonly mergeThresholds?: MergeThresholds;
}

/** What a tick has done. */
export interface CoordinatorReport {
  readonly completed: readonly ManifestReference[];
  readonly expired: number;
  readonly failed: number;
  readonly retired: number;
}

/** With less time left no checkpoint is begun, ms. */
const reserveMs = 5_000;

/** How long is waited after what may pass by itself, ms. */
const pauseMs = 1_000;

/** How long the collection of garbage leaves to decisions of ours what is pending behind its time, ms. */
const collectionGraceMs = 10 * 60 * 1000;

/** Decisions in one tick: enough for the shortest interval with all that one checkpoint brings. */
const roundsMax = 100;

interface Tick {
  readonly completed: ManifestReference[];
  /** From trigger to completion of the last one. */
  lastTookMs: number | undefined;
  expired: number;
  failed: number;
  retired: number;
  hasReported: boolean;
}

/**
 * Runs one tick.
 *
 * @param deadline until the next tick is due; a checkpoint that has begun is brought to its end behind it
 * @throws whatever the upkeep of the job met that does not pass by itself, after the checkpoints were looked after
 */
export async function runCoordinator(
  ports: CoordinatorPorts,
  settings: CheckpointSettings,
  deadline: Deadline,
): Promise<CoordinatorReport> {
  const tick: Tick = {
    completed: [],
    lastTookMs: undefined,
    expired: 0,
    failed: 0,
    retired: 0,
    hasReported: false,
  };
  await endStaleHold(ports);
  // Side by side, so that no long merge keeps a checkpoint waiting.
  const lanes = await Promise.allSettled([
    lookAfterCheckpoints(ports, settings, tick, deadline),
    keepUp(ports, settings, deadline),
  ]);
  await publishFigures(ports, tick);
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  const { completed, expired, failed, retired } = tick;
  return { completed, expired, failed, retired };
}

async function lookAfterCheckpoints(
  ports: CoordinatorPorts,
  settings: CheckpointSettings,
  tick: Tick,
  deadline: Deadline,
): Promise<void> {
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    const { facts } = await readFacts(ports);
    const { actions, nextTriggerMs } = coordinate(settings, facts, ports.system.now());
    const outcomes: Outcome[] = [];
    for (const action of actions) outcomes.push(await act(ports, settings, action, tick));
    const waitMs = outcomes.includes('waiting')
      ? pauseMs
      : outcomes.includes('done')
        ? 0
        : (nextTriggerMs ?? Infinity) - ports.system.now();
    // Above all where nothing is due before the next tick: a function that waits is paid for.
    if (!hasTimeFor(deadline, reserveMs + Math.max(waitMs, 0))) return;
    if (waitMs > 0) await ports.system.sleep(waitMs);
  }
}

/** `done`: look again at once; `waiting`: after a pause; `nothing`: another lane's, or no change. */
type Outcome = 'done' | 'waiting' | 'nothing';

async function act(
  ports: CoordinatorPorts,
  settings: CheckpointSettings,
  action: CoordinationAction,
  tick: Tick,
): Promise<Outcome> {
  switch (action.kind) {
    case 'finish':
      return finish(ports, action.work, tick, action.isStanding);
    case 'trigger':
      return trigger(ports, settings, tick);
    case 'expire': {
      const { work, reason, isFailure } = action;
      if (!(await dropPending(ports, work.id, isFailure ? reason : undefined))) return 'done';
      tick.expired += 1;
      ports.telemetry.log('warn', 'pending work was taken away', { ...nameWork(work), reason });
      return 'done';
    }
    case 'retire':
      await retireCheckpoints(ports, action.references);
      tick.retired += action.references.length;
      return 'done';
    case 'report':
      if (!tick.hasReported) {
        const { failures, reason } = action;
        ports.telemetry.log('error', 'checkpoints keep failing', { failures, reason });
      }
      tick.hasReported = true;
      return 'nothing';
    case 'compact':
    case 'collect':
    case 'patrol':
      return 'nothing';
  }
}

async function trigger(
  ports: CoordinatorPorts,
  settings: CheckpointSettings,
  tick: Tick,
): Promise<Outcome> {
  let work: PendingWork;
  try {
    work = await triggerCheckpoint(ports, settings);
  } catch (thrown) {
    // Another coordinator was faster, or somebody holds the job now.
    if (isHoldfastError(thrown, 'conflict')) return 'done';
    throw thrown;
  }
  return finish(ports, work, tick, false);
}

async function finish(
  ports: CoordinatorPorts,
  work: PendingWork,
  tick: Tick,
  isStanding: boolean,
): Promise<Outcome> {
  try {
    const complete = await finishCheckpoint(ports, work, { isStanding });
    if (complete === undefined) return 'done';
    tick.completed.push(complete);
    const { number, bytes, isExact } = complete;
    tick.lastTookMs = complete.completedAtMs - work.sinceMs;
    const fields = { ...nameWork(work), number, bytes, isExact, tookMs: tick.lastTookMs };
    ports.telemetry.log('info', 'checkpoint complete', fields);
    await copyManifests(ports, [complete], noDeadline);
    return 'done';
  } catch (thrown) {
    const reason = describeThrown(thrown);
    // It stays pending, and is gone on with until its time is over.
    if (isPassing(thrown)) {
      ports.telemetry.log('warn', 'checkpoint delayed', { ...nameWork(work), reason });
      return 'waiting';
    }
    // Whoever comes late may find what it goes on from collected (C7): others have ended its work, or its generation is over.
    const isOver = (await ports.control.readJob(ports.job))?.generation !== work.generation;
    const wasThere = await dropPending(ports, work.id, isOver ? undefined : reason);
    if (wasThere && !isOver) {
      tick.failed += 1;
      ports.telemetry.log('error', 'checkpoint failed', { ...nameWork(work), reason });
    } else {
      ports.telemetry.log('warn', 'checkpoint came too late', { ...nameWork(work), reason });
    }
    return 'done';
  }
}

/** What is not about the next checkpoint: merging, garbage, quiet channels, second copies. Once in a tick. */
async function keepUp(
  ports: CoordinatorPorts,
  settings: CheckpointSettings,
  deadline: Deadline,
): Promise<void> {
  const { facts, registry } = await readFacts(ports);
  const { job } = facts;
  if (job === undefined || !job.isRunning || job.isHeld) return;
  await secureManifests(ports, registry.complete.slice(-1), deadline);
  const merge = await isMergeDue(ports, registry, job.generation, ports.mergeThresholds);
  const { actions } = coordinate(settings, { ...facts, isMergeDue: merge }, ports.system.now());
  for (const action of actions) {
    try {
      await keepUpOne(ports, action, deadline);
    } catch (thrown) {
      const reason = describeThrown(thrown);
      const fields = { upkeep: action.kind, reason };
      ports.telemetry.log(isPassing(thrown) ? 'warn' : 'error', 'upkeep failed', fields);
    }
  }
}

async function keepUpOne(
  ports: CoordinatorPorts,
  action: CoordinationAction,
  deadline: Deadline,
): Promise<void> {
  if (action.kind === 'compact') {
    await compactJob(ports, action.work, deadline, ports.mergeThresholds);
  } else if (action.kind === 'collect') {
    const options = { graceMs: collectionGraceMs, dryRun: false, deadline };
    const { isDone, expired, deleted } = await collectGarbage(ports, options);
    ports.telemetry.log('info', 'garbage collected', { isDone, expired, deleted });
  } else if (action.kind === 'patrol') {
    // As they are by now: what this very tick has retired may be collected already.
    await secureManifests(ports, (await readRegistry(ports)).complete, deadline);
    await patrolChannels(ports);
  }
}

/**
 * Whoever died right behind the registry's write has left a complete manifest without its completion object, or without its
 * copy.
 */
async function secureManifests(
  ports: CoordinatorPorts,
  references: readonly ManifestReference[],
  deadline: Deadline,
): Promise<void> {
  for (const reference of references) {
    const isMarked = await hasObject(ports.objects, completionName(ports.job, reference));
    if (!isMarked) await markComplete(ports, reference);
  }
  await copyManifests(ports, references, deadline);
}

/** A checkpoint is complete without its copy: what fails here is tried again with the next patrol. */
async function copyManifests(
  ports: CoordinatorPorts,
  references: readonly ManifestReference[],
  deadline: Deadline,
): Promise<void> {
  const { backup, telemetry } = ports;
  if (backup === undefined) return;
  for (const reference of references) {
    try {
      await backUp(ports, backup, reference, deadline);
    } catch (thrown) {
      const fields = { manifest: reference.object, reason: describeThrown(thrown) };
      telemetry.log(isPassing(thrown) ? 'warn' : 'error', 'manifest not copied', fields);
    }
  }
}

async function readFacts(
  ports: CoordinatorPorts,
): Promise<{ readonly facts: CoordinationFacts; readonly registry: Registry }> {
  const [job, registry] = await Promise.all([
    ports.control.readJob(ports.job),
    readRegistry(ports),
  ]);
  const standing = new Set<string>();
  for (const work of registry.pending) {
    if (work.kind !== 'checkpoint') continue;
    if (await hasObject(ports.objects, manifestOf(ports.job, work))) standing.add(work.id);
  }
  const facts = { registry, job: job && factsOf(job), standing, isMergeDue: false };
  return { facts, registry };
}

async function publishFigures(
  ports: CoordinatorPorts,
  { completed, lastTookMs }: Tick,
): Promise<void> {
  const { complete, failures } = await readRegistry(ports);
  const newest = complete.findLast(({ kind }) => kind === 'checkpoint');
  ports.metrics.publish({
    checkpointsCompleted: completed.length,
    checkpointFailures: failures,
    checkpointAgeMs: newest && ports.system.now() - newest.completedAtMs,
    checkpointDurationMs: lastTookMs,
    checkpointBytes: newest?.bytes,
  });
}

function nameWork({ kind, number, generation }: PendingWork) {
  return { work: kind, number, generation };
}
