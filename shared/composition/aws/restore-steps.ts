import * as z from 'zod';
import { PARTS_MAX, type RestoreStep } from '../../config/workflow-steps.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Manifest } from '../../core/manifest.ts';
import type { Reservation } from '../../core/reservation.ts';
import type { Hold } from '../../ports/control-store.ts';
import { runCompaction } from '../../runtime/checkpoint/run-compaction.ts';
import { verifyFiles } from '../../runtime/checkpoint/savepoint-steps.ts';
import { readManifest } from '../../runtime/checkpoint/take-manifest.ts';
import { bringBackManifest, refuseLost } from '../../runtime/restore/backup-copies.ts';
import { reserveForDrill } from '../../runtime/restore/drill-job.ts';
import { findMade, type Made } from '../../runtime/restore/find-made.ts';
import { flipJob } from '../../runtime/restore/flip.ts';
import { giveUpHold } from '../../runtime/restore/give-up-hold.ts';
import { fenceChannels, takeHold } from '../../runtime/restore/hold.ts';
import { readReservation } from '../../runtime/restore/reservation.ts';
import {
  abandonWork,
  beginBase,
  pinForRestore,
  readBaseObject,
  recreateJob,
  reserve,
  writeBase,
  writeUndo,
} from '../../runtime/restore/restore-steps.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';
import { isCloneOrder } from '../../runtime/restore/check-clone.ts';
import { checkRestore, refuseRestore } from '../../runtime/restore/check-restore.ts';
import { unpinCloned } from '../../runtime/restore/copy-manifest.ts';
import { isUnborn } from '../../runtime/restore/unborn-job.ts';
import { cloneSteps } from './clone-steps.ts';
import { filesOf, loadSteps, refuseDifferences, requireReservation } from './restore-steps-load.ts';
import { replaySteps } from './restore-steps-replay.ts';
import { inspectCopies } from './inspect-copies.ts';
import {
  base,
  comparePart,
  copies,
  deletion,
  made,
  prepared,
  restoreOrder,
  restoreRequest,
} from './restore-steps-schema.ts';
import { refuseEndless } from './savepoint-steps.ts';
import {
  count,
  cutRange,
  defineStep,
  explainFailure,
  failure,
  holdChoice,
  nothing,
  text,
  type Step,
} from './workflow-step.ts';

/*
 * The steps of a restore as tasks of their own (R5): validate → pin, merge → hold → fence → undo point → reserve → load →
 * compare → flip → replay → bring outputs back → release → sweep. Up to the flip a failure gives up, and the job goes on as
 * it was. A drill (R13) goes the same way without hold up to the comparison, and deletes what it has loaded. A clone (R12) copies
 * the manifest first.
 */

/** Files that one part of a load has at least, and groups that one part of a comparison has at least. */
const filesOfPartMin = 4;
const groupsOfPartMin = 16;

/** Key groups are compared in a part for each so many files. */
const filesOfComparisonMin = 4;

export const restoreSteps: Readonly<Record<RestoreStep, Step>> = {
  ...cloneSteps,
  ...loadSteps,
  ...replaySteps,

  'restore.prepare': defineStep(
    { request: restoreRequest, execution: text },
    prepared,
    async ({ request, execution }, ports) => {
      const { clones, ...wanted } = request;
      const order = {
        ...{ ...wanted, restore: wanted.restore ?? execution },
        ...(clones ? { copyOf: wanted.manifest } : {}),
      };
      if (clones && (order.dryRun || order.areTablesLost)) {
        throw new HoldfastError(
          'invalid',
          `a clone is neither drilled nor made again from its bucket; once job ${ports.job} has begun, restore it from manifests of its own`,
        );
      }
      if (order.dryRun && order.areTablesLost) {
        throw new HoldfastError(
          'invalid',
          `a drill of job ${ports.job} needs its tables; without them there is nothing to drill beside, restore it`,
        );
      }
      // Read first: whatever changes from here on, a twin of this restore that comes to its end, too, refuses us the hold (R1).
      const job = await ports.control.readJob(ports.job);
      const begun = order.dryRun ? undefined : await findMade(ports, order);
      const isOurs = job?.hold?.owner === order.restore;
      const choice = {
        // Fresh for each acquisition; an earlier execution of this restore may have died under its hold.
        id: isOurs ? job.hold.id : ports.system.randomId(),
        jobVersion: job?.version ?? 1,
      };
      const { holdId, reservation, undo } = begun ?? {};
      const generation = reservation?.generation ?? 0;
      return {
        order,
        stage: stageOf(begun),
        hold: holdId === undefined ? choice : { ...choice, id: holdId },
        made: { generation, startedAtMs: ports.system.now(), loads: [], compares: [] },
        undo: { object: undo ?? '' },
      };
    },
  ),

  'restore.check-copies': defineStep(
    { order: restoreOrder, copies },
    copies,
    async ({ order: { manifest, fromBackup }, copies: before }, ports, deadline) => {
      if (!fromBackup) return { ...before, isDone: true };
      refuseEndless(before.rounds, `the look at the copies of ${manifest}`);
      const now = await inspectCopies(ports, manifest, before, deadline);
      const { examples, objects } = now.lost;
      if (now.isDone) refuseLost(manifest, examples, objects - examples.length);
      return now;
    },
  ),

  'restore.validate': defineStep({ order: restoreOrder }, nothing, async ({ order }, ports) => {
    refuseRestore(await checkRestore(ports, order), order);
    return {};
  }),

  'restore.recreate': defineStep(
    { order: restoreOrder, hold: holdChoice },
    nothing,
    async ({ order, hold: { id } }, ports) => {
      await recreateJob(ports, order, id);
      return {};
    },
  ),

  'restore.begin-base': defineStep({ order: restoreOrder }, base, async ({ order }, ports) => {
    await pinForRestore(ports, order);
    if (!order.dryRun) await bringBackManifest(ports, order.manifest);
    const begun = await beginBase(ports, order);
    const fresh = {
      isDone: false,
      object: '',
      nextFile: 0,
      doneBytes: 0,
      totalBytes: 0,
      rounds: 0,
    };
    return { ...begun, ...fresh };
  }),

  'restore.make-base': defineStep(
    { order: restoreOrder, base },
    base,
    async ({ order, base: before }, ports, deadline) => {
      const { number, mustMerge, rounds } = before;
      refuseEndless(rounds, `the merge for restore ${order.restore}`);
      const next = { ...before, rounds: rounds + 1 };
      if (!mustMerge) {
        // A merge reads every file; where there is none, damage is to show before the job is held, too.
        const { runs } = await readManifest(ports, order.manifest);
        const { nextFile } = await verifyFiles(ports, runs, before.nextFile, deadline);
        if (nextFile !== undefined) return { ...next, nextFile };
        return {
          ...next,
          isDone: true,
          object: await writeBase(ports, order, number, undefined),
        };
      }
      const { isDone, runs, doneBytes, totalBytes } = await runCompaction(ports, number, deadline);
      const object = isDone ? await writeBase(ports, order, number, runs) : '';
      return { ...next, isDone, object, doneBytes, totalBytes };
    },
  ),

  'restore.take-hold': defineStep(
    { order: restoreOrder, hold: holdChoice },
    nothing,
    async ({ order: { restore: owner }, hold: { id, jobVersion } }, ports) => {
      const wanted = { id, kind: 'restore', owner, takesOver: true } as const;
      await takeHold(ports, { ...wanted, jobVersion });
      return {};
    },
  ),

  'restore.fence': defineStep({ hold: holdChoice }, nothing, async ({ hold: { id } }, ports) => {
    await fenceChannels(ports, id);
    return {};
  }),

  'restore.write-undo': defineStep(
    { order: restoreOrder, hold: holdChoice },
    z.strictObject({ object: z.string() }),
    async ({ order, hold: { id } }, ports) => ({
      object: (await writeUndo(ports, order, id)) ?? '',
    }),
  ),

  'restore.reserve': defineStep(
    { order: restoreOrder, hold: holdChoice, base },
    made,
    async ({ order, hold: { id }, base: { object } }, ports) => {
      const reservation = order.dryRun
        ? await reserveForDrill(ports, order, object)
        : await reserve(ports, order, id, object);
      if (reservation.manifest !== order.manifest) {
        throw new HoldfastError(
          'invalid',
          `restore ${order.restore} has been one from ${reservation.manifest}; give the one from ${order.manifest} another name`,
        );
      }
      return planGeneration(ports, reservation, order.dryRun);
    },
  ),

  'restore.flip': defineStep(
    {
      ...{ order: restoreOrder, hold: holdChoice },
      ...{ generation: count, compared: z.array(comparePart) },
    },
    nothing,
    async ({ hold: { id }, generation, compared }, ports) => {
      refuseDifferences(generation, compared);
      await flipJob(ports, id, await requireReservation(ports, generation));
      return {};
    },
  ),

  'restore.give-up': defineStep(
    { order: restoreOrder, hold: holdChoice, made, deletion, failure },
    z.strictObject({ message: text, isFlipped: z.boolean() }),
    async ({ order, hold, made: { generation }, deletion: { isDone }, failure: failed }, ports) => {
      const reason = explainFailure(failed);
      // A drill has none.
      const isFlipped = !order.dryRun && !(await giveUpHold(ports, hold));
      if (isFlipped) return { message: reason, isFlipped };
      await abandonWork(ports, order.restore);
      if (isCloneOrder(order)) await unpinCloned(ports, order);
      const { restore, dryRun } = order;
      const job = await ports.control.readJob(ports.job);
      const outcome = dryRun
        ? `drill ${restore} has failed`
        : job !== undefined && isUnborn(job)
          ? explainClosed(restore, job.hold)
          : `restore ${restore} has failed before it changed anything; the job goes on as before`;
      const left =
        generation === 0 || isDone
          ? ''
          : `. What it has loaded goes with: holdfast generations delete ${generation}`;
      return { message: `${outcome}: ${reason}${left}`, isFlipped: false };
    },
  ),

  'restore.explain': defineStep(
    { restore: text, failure },
    z.strictObject({ message: text }),
    async ({ restore, failure: failed }, ports) => {
      const reason = explainFailure(failed);
      const job = await ports.control.readJob(ports.job);
      if (job?.hold?.owner === restore && job.hold.isFlipped) {
        return {
          message: `restore ${restore} has brought the job to generation ${job.generation} and has not finished; the job is held until it has. Start it again under the same name: it goes on. ${reason}`,
        };
      }
      const made = job && (await readReservation(ports, job.generation));
      if (made?.restore !== restore) return { message: reason };
      return {
        message: `restore ${restore} has succeeded, the job runs in generation ${made.generation}; what is left to do is done when it is started again under the same name. ${reason}`,
      };
    },
  ),
};

/** R11, R12: a job that has no generation is never opened by a failure. */
function explainClosed(restore: string, hold: Hold | undefined): string {
  const until =
    hold?.kind === 'unborn' ? 'until it is cloned' : 'until a restore of this name succeeds';
  return `restore ${restore} has failed; the job stays closed ${until}`;
}

/** How far an earlier execution of a restore came. */
function stageOf(begun: Made | undefined): 'begin' | 'flipped' | 'released' {
  if (begun === undefined) return 'begin';
  return begun.holdId === undefined ? 'released' : 'flipped';
}

/** Deals out what is to be loaded and compared: few parts for a small state, so that it is no slower than it must be. */
async function planGeneration(
  ports: RestorePorts,
  { generation, manifest: object, base: baseObject }: Reservation,
  isDrill: boolean,
): Promise<z.output<typeof made>> {
  const manifest = await readManifest(ports, object);
  const files = filesOf(await readBaseObject(ports, baseObject)).length;
  const startedAtMs = ports.system.now();
  const fresh = { isDone: false, keys: 0, tombstones: 0, bytes: 0, rounds: 0 };
  // One part for the channels, which a drill does not load.
  const parts = Math.min(PARTS_MAX - 1, Math.ceil(files / filesOfPartMin));
  const loads = cutRange(files, parts).map((range) => ({
    ...{ ...range, ...fresh, isOfChannels: false },
    endedAtMs: startedAtMs,
  }));
  const channels = { ...fresh, isOfChannels: true, from: 0, to: 0, endedAtMs: startedAtMs };
  return {
    generation,
    startedAtMs,
    loads: isDrill ? loads : [channels, ...loads],
    compares: planComparison(manifest, files, startedAtMs),
  };
}

function planComparison(
  { operators, maxParallelism }: Manifest,
  files: number,
  startedAtMs: number,
): z.output<typeof comparePart>[] {
  const most = Math.min(
    Math.floor(PARTS_MAX / Math.max(1, operators.length)),
    Math.ceil(maxParallelism / groupsOfPartMin),
    Math.ceil(files / filesOfComparisonMin),
  );
  return operators.flatMap(({ id: operator }) =>
    cutRange(maxParallelism, most).map(({ from, to }) => ({
      ...{ operator, from, to: to - 1, isDone: false, rounds: 0 },
      ...{ keys: 0, tombstones: 0, bytes: 0, differing: 0, examples: [], endedAtMs: startedAtMs },
    })),
  );
}
