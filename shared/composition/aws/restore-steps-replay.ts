import * as z from 'zod';
import { PARTS_MAX } from '../../config/workflow-steps.ts';
import { HoldfastError } from '../../core/errors.ts';
import { crc32c } from '../../core/crc32c.ts';
import type { Reservation } from '../../core/reservation.ts';
import type { SweptSink } from '../../ports/sink.ts';
import { hasTimeFor, type Deadline } from '../../runtime/deadline.ts';
import { inParallel } from '../../runtime/in-parallel.ts';
import { isCloneOrder } from '../../runtime/restore/check-clone.ts';
import { unpinCloned } from '../../runtime/restore/copy-manifest.ts';
import { findBehind, readTargets, type ReplayTarget } from '../../runtime/restore/flip.ts';
import { fenceChannels, readJob, releaseHold } from '../../runtime/restore/hold.ts';
import { findStretches, republishStretch } from '../../runtime/restore/republish.ts';
import { unpinManifest } from '../../runtime/restore/restore-steps.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';
import { readBeginning, rewriteView, sweepSink } from '../../runtime/restore/sweep.ts';
import { requireReservation, sumLoads } from './restore-steps-load.ts';
import {
  copies,
  loadPart,
  outputPart,
  replayPart,
  restoreOrder,
  sweepPart,
} from './restore-steps-schema.ts';
import { refuseEndless } from './savepoint-steps.ts';
import {
  count,
  cutRange,
  defineStep,
  holdChoice,
  nothing,
  text,
  type Step,
} from './workflow-step.ts';

/* What comes after the flip: from here there is only forward. */

type ReplayStep =
  | 'restore.plan-replay'
  | 'restore.replay'
  | 'restore.plan-outputs'
  | 'restore.bring-back'
  | 'restore.release'
  | 'restore.plan-sweep'
  | 'restore.sweep'
  | 'restore.finish';

/** Channels that one part visits at once. */
const visitsAtOnce = 8;

/** Visits of one part until its channels have to be where they were held. */
const visitsMax = 10_000;

/** No round of visits is begun with less time than this left, ms: each may take as long as an operator's timeout. */
const visitReserveMs = 60_000;

/** How long is waited where no channel has come further, ms: for parents in other parts, or for attempts to end. */
const pauseMs = 2_000;

/** Passes through one sink until zombies are left to the next sweep. */
const passesMax = 500;

/** Calls, some minutes each, that all passes through one sink may take. */
const sweepRoundsMax = 1_000;

export const replaySteps: Readonly<Record<ReplayStep, Step>> = {
  'restore.plan-replay': defineStep(
    { order: restoreOrder, hold: holdChoice },
    z.strictObject({ parts: z.array(replayPart) }),
    async ({ hold: { id } }, ports) => {
      // R1: a hold that was given back by one that had taken it over finds that one's fences.
      await fenceChannels(ports, id);
      const parts = Math.min((await readTargets(ports, id)).length, PARTS_MAX);
      return {
        parts: Array.from({ length: parts }, (_, index) => ({
          ...{ index, parts, isDone: false, reached: [] },
          ...{ records: 0, visits: 0, rounds: 0 },
        })),
      };
    },
  ),

  'restore.replay': defineStep(
    { order: restoreOrder, hold: holdChoice, part: replayPart },
    replayPart,
    async ({ order: { acceptsGaps }, hold: { id }, part }, ports, deadline) => {
      if (part.visits > visitsMax) {
        throw new HoldfastError(
          'conflict',
          `channels have not come to where they were held in ${visitsMax} visits`,
        );
      }
      const targets = (await readTargets(ports, id))
        .filter(({ channel }) => dealOut(channel, part.parts) === part.index)
        // Children have later ids than their parents.
        .sort((a, b) => (a.shardId < b.shardId ? -1 : 1));
      const replay = { hold: id, acceptsGaps };
      const visited = await visitAll(ports, replay, targets, part, deadline);
      return { ...visited, rounds: part.rounds + 1 };
    },
  ),

  'restore.plan-outputs': defineStep(
    { order: restoreOrder, generation: count },
    z.strictObject({ parts: z.array(outputPart) }),
    async ({ generation }, ports) => {
      const reservation = await requireReservation(ports, generation);
      const { left } = reservation;
      const { length } = await findStretches(ports, reservation);
      const fresh = { segment: null, isDone: false, rounds: 0 };
      const views = left === 'all' ? ports.sinks : [];
      const parts = length === 0 ? [] : cutRange(length, PARTS_MAX);
      return {
        parts: [
          ...parts.map((range) => ({
            ...{ ...range, ...fresh, kind: 'stretches' as const },
            ...{ operator: '', sink: '' },
          })),
          ...views.map(({ operator, name: sink }) => ({
            ...{ operator, sink, ...fresh, kind: 'view' as const },
            ...{ from: 0, to: 0 },
          })),
        ],
      };
    },
  ),

  'restore.bring-back': defineStep(
    { order: restoreOrder, generation: count, part: outputPart },
    outputPart,
    async ({ generation, part }, ports, deadline) => {
      refuseEndless(part.rounds, `bringing back outputs of generation ${generation}`);
      const reservation = await requireReservation(ports, generation);
      const next =
        part.kind === 'view'
          ? await bringBackView(ports, reservation, part, deadline)
          : await bringBackStretches(ports, reservation, part, deadline);
      return { ...next, rounds: part.rounds + 1 };
    },
  ),

  'restore.release': defineStep(
    { order: restoreOrder, hold: holdChoice, generation: count },
    nothing,
    async ({ order: { acceptsGaps }, hold: { id }, generation }, ports) => {
      const job = await readJob(ports);
      // Released by an earlier attempt, whose reply was lost.
      if (job.hold === undefined && job.generation === generation) return {};
      const behind = acceptsGaps ? [] : await findBehind(ports, id, await readTargets(ports, id));
      if (behind.length > 0) {
        throw new HoldfastError(
          'unavailable',
          `channels ${behind.slice(0, 5).join(', ')}, ${behind.length} in all, are not yet where they were held`,
        );
      }
      await releaseHold(ports, id, generation);
      return {};
    },
  ),

  'restore.plan-sweep': defineStep(
    { order: restoreOrder, generation: count },
    z.strictObject({ parts: z.array(sweepPart) }),
    async (_, ports) => ({
      parts: tablesOf(ports.sinks).map(({ operator, name: sink }) => ({
        ...{ operator, sink, isDone: false, isClean: false, place: { mark: '', voids: 0 } },
        ...{ passes: 0, removed: 0, rewritten: 0, rounds: 0 },
      })),
    }),
  ),

  'restore.sweep': defineStep(
    { order: restoreOrder, generation: count, part: sweepPart },
    sweepPart,
    async ({ generation, part }, ports, deadline) => {
      const beginning = await readBeginning(ports, await requireReservation(ports, generation));
      const sink = findSink(ports, part);
      const swept = await sweepSink(ports, sink, beginning, deadline, part.place);
      const { isClean, next: place } = swept;
      const rounds = part.rounds + 1;
      const passes = part.passes + swept.passes;
      return {
        ...{ operator: part.operator, sink: part.sink, isClean, place: { ...place } },
        isDone: isClean || passes >= passesMax || rounds >= sweepRoundsMax,
        ...{ passes, rounds },
        removed: part.removed + swept.removed,
        rewritten: part.rewritten + swept.rewritten,
      };
    },
  ),

  'restore.finish': defineStep(
    {
      order: restoreOrder,
      copies,
      generation: count,
      undo: z.strictObject({ object: z.string() }),
      loaded: z.array(loadPart),
      replayed: z.array(replayPart),
      swept: z.array(sweepPart),
    },
    z.strictObject({
      restore: text,
      generation: count,
      undo: z.string(),
      keys: count,
      tombstones: count,
      bytes: count,
      replayed: count,
      removedRows: count,
      rewrittenRows: count,
      /** Sinks in which rows of the abandoned time may still be, `operator/sink`. */
      unswept: z.array(text),
      /** Objects that were read from the backup, the first of them. */
      fellBack: z.array(text),
    }),
    async ({ order, copies: seen, generation, undo, loaded, replayed, swept }, ports) => {
      const { restore } = order;
      await unpinManifest(ports, restore);
      if (isCloneOrder(order)) await unpinCloned(ports, order);
      const sum = (numbers: readonly number[]): number =>
        numbers.reduce((total, number) => total + number, 0);
      return {
        ...{ restore, generation, undo: undo.object },
        ...sumLoads(loaded),
        replayed: sum(replayed.map(({ records }) => records)),
        removedRows: sum(swept.map(({ removed }) => removed)),
        rewrittenRows: sum(swept.map(({ rewritten }) => rewritten)),
        unswept: swept
          .filter(({ isClean }) => !isClean)
          .map(({ operator, sink }) => `${operator}/${sink}`),
        fellBack: seen.fellBack.examples,
      };
    },
  ),
};

/** Which of so many parts a channel belongs to; the same whatever other channels come and go. */
function dealOut(channel: string, parts: number): number {
  return crc32c(new TextEncoder().encode(channel)) % parts;
}

async function visitAll(
  ports: RestorePorts,
  replay: { readonly hold: string; readonly acceptsGaps: boolean },
  targets: readonly ReplayTarget[],
  part: z.output<typeof replayPart>,
  deadline: Deadline,
): Promise<z.output<typeof replayPart>> {
  const reached = new Set(part.reached);
  let { records, visits } = part;
  for (;;) {
    const open = targets.filter(({ channel }) => !reached.has(channel));
    if (open.length === 0) return { ...part, isDone: true, reached: [], records, visits };
    const before = records + reached.size;
    await inParallel(open, visitsAtOnce, async ({ channel, operator, shardId, goal }) => {
      const report = await ports.calls.visit(operator, { shardId, goal, ...replay });
      visits += 1;
      records += report.records;
      if (report.isThere) reached.add(channel);
      if (report.isThere || !report.isStuck) return;
      throw new HoldfastError(
        'invalid',
        `the replay of shard ${shardId} by operator ${operator} is stuck: ${report.reason}`,
      );
    });
    if (!hasTimeFor(deadline, visitReserveMs)) break;
    if (records + reached.size === before) await ports.system.sleep(pauseMs);
  }
  return { ...part, isDone: false, reached: [...reached], records, visits };
}

async function bringBackStretches(
  ports: RestorePorts,
  reservation: Reservation,
  part: z.output<typeof outputPart>,
  deadline: Deadline,
): Promise<z.output<typeof outputPart>> {
  const stretches = await findStretches(ports, reservation);
  const { generation } = reservation;
  let from = part.segment ?? undefined;
  for (let at = part.from; at < part.to; at += 1) {
    const stretch = stretches[at]!;
    const next = await republishStretch(ports, generation, stretch, deadline, from);
    if (next !== undefined) return { ...part, from: at, segment: next };
    from = undefined;
  }
  return { ...part, from: part.to, segment: null, isDone: true };
}

async function bringBackView(
  ports: RestorePorts,
  reservation: Reservation,
  part: z.output<typeof outputPart>,
  deadline: Deadline,
): Promise<z.output<typeof outputPart>> {
  const beginning = await readBeginning(ports, reservation);
  const next = await rewriteView(ports, findSink(ports, part), beginning, deadline, part.from);
  return { ...part, from: next ?? part.from, isDone: next === undefined };
}

function findSink(
  { sinks }: RestorePorts,
  { operator, sink }: { readonly operator: string; readonly sink: string },
): SweptSink {
  const found = sinks.find((one) => one.operator === operator && one.name === sink);
  if (found !== undefined) return found;
  throw new HoldfastError(
    'invalid',
    `sink ${sink} of operator ${operator} is no more deployed; deploy it again until the restore is done`,
  );
}

/** One sink for each table: operators share that of the dead letters. */
function tablesOf(sinks: readonly SweptSink[]): SweptSink[] {
  const tables = new Map(sinks.map((swept) => [swept.table, swept]));
  return [...tables.values()];
}
