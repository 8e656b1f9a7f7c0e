import { HoldfastError } from '../../../../shared/core/errors.ts';
import type { Reservation } from '../../../../shared/core/reservation.ts';
import { runCompaction } from '../../../../shared/runtime/checkpoint/run-compaction.ts';
import { verifyFiles } from '../../../../shared/runtime/checkpoint/savepoint-steps.ts';
import { readManifest } from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import {
  bringBackManifest,
  checkCopies,
  fallbackOf,
  readingBackup,
  refuseLost,
} from '../../../../shared/runtime/restore/backup-copies.ts';
import { compareState } from '../../../../shared/runtime/restore/compare.ts';
import type { Job } from '../../../../shared/ports/control-store.ts';
import { noDeadline } from '../../../../shared/runtime/deadline.ts';
import { findBehind, flipJob, readTargets } from '../../../../shared/runtime/restore/flip.ts';
import {
  abortHold,
  fenceChannels,
  releaseHold,
  takeHold,
} from '../../../../shared/runtime/restore/hold.ts';
import { loadChannels, loadFile } from '../../../../shared/runtime/restore/load.ts';
import { findMade, type Made } from '../../../../shared/runtime/restore/find-made.ts';
import { findStretches, republishStretch } from '../../../../shared/runtime/restore/republish.ts';
import {
  abandonWork,
  beginBase,
  pinForRestore,
  readBaseObject,
  recreateJob,
  reserve,
  unpinManifest,
  writeBase,
  writeUndo,
} from '../../../../shared/runtime/restore/restore-steps.ts';
import type {
  RestoreOrder,
  RestorePorts,
} from '../../../../shared/runtime/restore/restore-order.ts';
import { isCloneOrder, type CloneOrder } from '../../../../shared/runtime/restore/check-clone.ts';
import { checkRestore, refuseRestore } from '../../../../shared/runtime/restore/check-restore.ts';
import {
  beginCopy,
  finishCopy,
  runCopy,
  unpinCloned,
} from '../../../../shared/runtime/restore/copy-manifest.ts';
import { readBeginning, rewriteView, sweepSink } from '../../../../shared/runtime/restore/sweep.ts';
import { validateClone } from '../../../../shared/runtime/restore/validate-clone.ts';

/*
 * A whole restore in one process: the steps that the workflow runs as tasks of their own, in the same order. What the workflow
 * does with retries, this does not: whoever calls it again with the same order goes on where it ended.
 */

export interface RestoreReport {
  readonly generation: number;
  /** Object name of the manifest by which it can be undone; undefined where the tables were lost. */
  readonly undo: string | undefined;
  readonly keys: number;
  readonly tombstones: number;
  readonly bytes: number;
  readonly replayed: number;
  readonly removedRows: number;
  readonly rewrittenRows: number;
  /** Objects that were read from the backup. */
  readonly fellBack: readonly string[];
}

/** How many visits one channel gets to reach its target. */
const visitsMax = 10_000;

/** @throws HoldfastError; before the flip the job is as it was, and runs */
export async function restoreJob(given: RestorePorts, order: RestoreOrder): Promise<RestoreReport> {
  const ports = order.fromBackup === true ? readingBackup(given) : given;
  // Read first: whatever changes from here on, a twin of this restore that comes to its end too, refuses us the hold (R1).
  const job = await ports.control.readJob(ports.job);
  const made: Made & Partial<MadeNow> =
    (await findMade(ports, order)) ?? (await make(ports, order, job));
  const replayed = await replay(ports, order, made);
  const swept = await sweepAll(ports, made.reservation);
  await unpinManifest(ports, order.restore);
  if (isCloneOrder(order)) await unpinCloned(ports, order);
  const { reservation, undo, loaded = nothingLoaded, fellBack = [] } = made;
  return { ...loaded, ...swept, replayed, generation: reservation.generation, undo, fellBack };
}

const nothingLoaded = { keys: 0, tombstones: 0, bytes: 0 };

/** What this call has brought to the flip itself. */
interface MadeNow extends Made {
  readonly loaded: typeof nothingLoaded;
  readonly fellBack: readonly string[];
}

/** Everything up to the flip; what fails before it leaves the job as it was. */
async function make(
  ports: RestorePorts,
  wanted: RestoreOrder,
  job: Job | undefined,
): Promise<MadeNow> {
  const order = isCloneOrder(wanted) ? await copyFirst(ports, wanted) : wanted;
  const fellBack = await checkAllCopies(ports, order);
  refuseRestore(await checkRestore(ports, order), order);
  // An earlier call of this restore may have died under its hold.
  const holdId = job?.hold?.owner === order.restore ? job.hold.id : ports.system.randomId();
  if (order.areTablesLost) await recreateJob(ports, order, holdId);
  await pinForRestore(ports, order);
  try {
    await bringBackManifest(ports, order.manifest);
    const base = await makeBase(ports, order);
    const begun = { base, holdId, jobVersion: job?.version ?? 1 };
    return { ...(await makeGeneration(ports, order, begun)), fellBack };
  } catch (thrown) {
    if (await abortHold(ports, holdId)) await unpinManifest(ports, order.restore);
    throw thrown;
  }
}

/** R12: from here on a clone is a restore from a manifest of its own, of a job that has no generation yet. */
async function copyFirst(ports: RestorePorts, order: CloneOrder): Promise<RestoreOrder> {
  await validateClone(ports, order);
  try {
    const number = await beginCopy(ports, order);
    while (number !== undefined && !(await runCopy(ports, number, noDeadline)).isDone);
    return { ...order, manifest: await finishCopy(ports, order, number) };
  } catch (thrown) {
    await unpinCloned(ports, order);
    await abandonWork(ports, order.restore);
    throw thrown;
  }
}

/** @returns the objects that are read from the backup */
async function checkAllCopies(
  ports: RestorePorts,
  { manifest }: RestoreOrder,
): Promise<readonly string[]> {
  const objects = fallbackOf(ports);
  if (objects === undefined) return [];
  const { fellBack, lost } = await checkCopies({ ...ports, objects }, manifest, noDeadline);
  refuseLost(manifest, lost);
  return fellBack;
}

async function makeBase(ports: RestorePorts, order: RestoreOrder): Promise<string> {
  const { number, mustMerge } = await beginBase(ports, order);
  if (!mustMerge) {
    // A merge reads every file; where there is none, damage is to show before the job is held, too.
    await verifyFiles(ports, (await readManifest(ports, order.manifest)).runs, 0, noDeadline);
    return writeBase(ports, order, number, undefined);
  }
  for (;;) {
    const merge = await runCompaction(ports, number, noDeadline);
    if (merge.isDone) return writeBase(ports, order, number, merge.runs);
  }
}

/** From the hold to the flip. */
async function makeGeneration(
  ports: RestorePorts,
  order: RestoreOrder,
  {
    base: baseObject,
    holdId,
    jobVersion,
  }: { readonly base: string; readonly holdId: string; readonly jobVersion: number },
): Promise<Omit<MadeNow, 'fellBack'>> {
  const wanted = { id: holdId, kind: 'restore', owner: order.restore, takesOver: true } as const;
  await takeHold(ports, { ...wanted, jobVersion });
  await fenceChannels(ports, holdId);
  const undo = await writeUndo(ports, order, holdId);
  const reservation = await reserve(ports, order, holdId, baseObject);
  const cut = await readManifest(ports, order.manifest);
  const base = await readBaseObject(ports, reservation.base);
  const loaded = { ...nothingLoaded };
  for (const file of base.runs.flatMap((run) => run.files)) {
    const { keys, tombstones, bytes } = await loadFile(ports, reservation, cut, file);
    loaded.keys += keys;
    loaded.tombstones += tombstones;
    loaded.bytes += bytes;
  }
  await loadChannels(ports, reservation, cut, holdId);
  for (const { id: operator } of cut.operators) {
    const part = { operator, fromGroup: 0, toGroup: cut.maxParallelism - 1 };
    const made = { reservation, manifest: cut, base };
    const found = await compareState(ports, made, part, noDeadline);
    if (found.differing === 0) continue;
    throw new HoldfastError(
      'corrupt',
      `generation ${reservation.generation} is not what its manifest says, ${found.differing} keys differ: ${found.examples.join('; ')}. The job goes on in its old generation`,
    );
  }
  await flipJob(ports, holdId, reservation);
  return { reservation, holdId, undo, loaded };
}

/** R6: after the flip, up to where the job was held. */
async function replay(
  ports: RestorePorts,
  { acceptsGaps }: RestoreOrder,
  { reservation, holdId }: Made,
): Promise<number> {
  if (holdId === undefined) return 0;
  // R1: a hold that was given back by one that had taken it over finds that one's fences.
  await fenceChannels(ports, holdId);
  const targets = await readTargets(ports, holdId);
  let records = 0;
  for (const { operator, shardId, goal } of targets) {
    for (let visits = 0; ; visits += 1) {
      const visit = { shardId, goal, hold: holdId, acceptsGaps };
      const report = await ports.calls.visit(operator, visit);
      records += report.records;
      if (report.isThere) break;
      if (report.isStuck || visits > visitsMax) {
        throw new HoldfastError(
          'invalid',
          `the replay of shard ${shardId} is stuck: ${report.reason}`,
        );
      }
    }
  }
  await bringBack(ports, reservation);
  const behind = acceptsGaps ? [] : await findBehind(ports, holdId, targets);
  if (behind.length > 0) {
    throw new HoldfastError(
      'unavailable',
      `channels ${behind.join(', ')} are not yet where they were held`,
    );
  }
  await releaseHold(ports, holdId, reservation.generation);
  return records;
}

/** R10: outputs that count again by this restore, or that were lost with their tables. */
async function bringBack(ports: RestorePorts, reservation: Reservation): Promise<void> {
  const { generation, left } = reservation;
  for (const stretch of await findStretches(ports, reservation)) {
    await republishStretch(ports, generation, stretch, noDeadline);
  }
  if (left !== 'all') return;
  const beginning = await readBeginning(ports, reservation);
  for (const swept of ports.sinks) await rewriteView(ports, swept, beginning, noDeadline);
}

async function sweepAll(
  ports: RestorePorts,
  reservation: Reservation,
): Promise<{ readonly removedRows: number; readonly rewrittenRows: number }> {
  const beginning = await readBeginning(ports, reservation);
  const total = { removedRows: 0, rewrittenRows: 0 };
  for (const swept of ports.sinks) {
    const { removed, rewritten } = await sweepSink(ports, swept, beginning, noDeadline);
    total.removedRows += removed;
    total.rewrittenRows += rewritten;
  }
  return total;
}
