import * as z from 'zod';
import { HoldfastError } from '../../core/errors.ts';
import type { Base, StateFile } from '../../core/manifest.ts';
import type { Reservation } from '../../core/reservation.ts';
import { readManifest } from '../../runtime/checkpoint/take-manifest.ts';
import { hasTimeFor } from '../../runtime/deadline.ts';
import { compareState } from '../../runtime/restore/compare.ts';
import { deleteDrill } from '../../runtime/restore/drill-job.ts';
import { loadChannels, loadFile } from '../../runtime/restore/load.ts';
import { readReservation } from '../../runtime/restore/reservation.ts';
import { readBaseObject, unpinManifest } from '../../runtime/restore/restore-steps.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';
import {
  comparePart,
  copies,
  deletion,
  loadPart,
  made,
  restoreOrder,
} from './restore-steps-schema.ts';
import { refuseEndless } from './savepoint-steps.ts';
import { count, defineStep, holdChoice, text, type Step } from './workflow-step.ts';

/* Loading and comparing, in parts side by side; and what a drill does with it in the end. */

/** A file is not begun with less time than this left, ms. */
const reserveMs = 20_000;

const examplesMax = 3;
const exampleCharactersMax = 300;

type LoadStep = 'restore.load' | 'restore.compare' | 'drill.delete' | 'drill.finish';

export const loadSteps: Readonly<Record<LoadStep, Step>> = {
  'restore.load': defineStep(
    { order: restoreOrder, hold: holdChoice, generation: count, part: loadPart },
    loadPart,
    async ({ hold: { id }, generation, part }, ports, deadline) => {
      refuseEndless(part.rounds, `the load of generation ${generation}`);
      const { reservation, manifest, base } = await readGeneration(ports, generation);
      const next = { ...part, rounds: part.rounds + 1 };
      if (part.isOfChannels) {
        await loadChannels(ports, reservation, manifest, id);
        return { ...next, isDone: true, endedAtMs: ports.system.now() };
      }
      const files = filesOf(base);
      while (next.from < next.to && hasTimeFor(deadline, reserveMs)) {
        const loaded = await loadFile(ports, reservation, manifest, files[next.from]!);
        next.keys += loaded.keys;
        next.tombstones += loaded.tombstones;
        next.bytes += loaded.bytes;
        next.from += 1;
      }
      return { ...next, isDone: next.from >= next.to, endedAtMs: ports.system.now() };
    },
  ),

  'restore.compare': defineStep(
    { order: restoreOrder, generation: count, part: comparePart },
    comparePart,
    async ({ generation, part }, ports, deadline) => {
      refuseEndless(part.rounds, `the comparison of generation ${generation}`);
      const { reservation, manifest, base } = await readGeneration(ports, generation);
      const range = { operator: part.operator, fromGroup: part.from, toGroup: part.to };
      const found = await compareState(ports, { reservation, manifest, base }, range, deadline);
      const examples = [...part.examples, ...found.examples];
      return {
        operator: part.operator,
        from: found.nextGroup ?? part.to,
        to: part.to,
        isDone: found.nextGroup === undefined,
        keys: part.keys + found.keys,
        tombstones: part.tombstones + found.tombstones,
        bytes: part.bytes + found.bytes,
        differing: part.differing + found.differing,
        examples: examples
          .slice(0, examplesMax)
          .map((example) => example.slice(0, exampleCharactersMax)),
        endedAtMs: ports.system.now(),
        rounds: part.rounds + 1,
      };
    },
  ),

  'drill.delete': defineStep(
    { order: restoreOrder, generation: count, deletion },
    deletion,
    async ({ order: { restore }, generation, deletion: before }, ports, deadline) => {
      refuseEndless(before.rounds, `the deletion of generation ${generation}`);
      const from =
        before.operator === '' ? undefined : { operator: before.operator, group: before.group };
      // Nothing was loaded where no number was reserved.
      const { items, next } =
        generation === 0
          ? { items: 0, next: undefined }
          : await deleteDrill(ports, { restore, generation }, deadline, from);
      return {
        isDone: next === undefined,
        operator: next?.operator ?? '',
        group: next?.group ?? 0,
        items: before.items + items,
        rounds: before.rounds + 1,
      };
    },
  ),

  'drill.finish': defineStep(
    {
      order: restoreOrder,
      copies,
      made,
      loaded: z.array(loadPart),
      compared: z.array(comparePart),
    },
    z.strictObject({
      drill: text,
      generation: count,
      keys: count,
      tombstones: count,
      bytes: count,
      loadSeconds: z.number(),
      compareSeconds: z.number(),
      megabytesPerSecond: z.number(),
      keysPerSecond: z.number(),
      /** Objects that were read from the backup, the first of them. */
      fellBack: z.array(text),
    }),
    async ({ order, copies: seen, made: { generation, startedAtMs }, loaded, compared }, ports) => {
      await unpinManifest(ports, order.restore);
      refuseDifferences(generation, compared);
      const loadedAtMs = Math.max(startedAtMs, ...loaded.map(({ endedAtMs }) => endedAtMs));
      const comparedAtMs = Math.max(loadedAtMs, ...compared.map(({ endedAtMs }) => endedAtMs));
      const totals = sumLoads(loaded);
      // At least a millisecond, so that a small state has no infinite speed.
      const seconds = Math.max(loadedAtMs - startedAtMs, 1) / 1_000;
      return {
        drill: order.restore,
        generation,
        ...totals,
        loadSeconds: seconds,
        compareSeconds: (comparedAtMs - loadedAtMs) / 1_000,
        megabytesPerSecond: totals.bytes / 1e6 / seconds,
        keysPerSecond: totals.keys / seconds,
        fellBack: seen.fellBack.examples,
      };
    },
  ),
};

export function sumLoads(
  loaded: readonly z.output<typeof loadPart>[],
): Pick<z.output<typeof loadPart>, 'keys' | 'tombstones' | 'bytes'> {
  const sum = (field: 'keys' | 'tombstones' | 'bytes'): number =>
    loaded.reduce((total, part) => total + part[field], 0);
  return { keys: sum('keys'), tombstones: sum('tombstones'), bytes: sum('bytes') };
}

/** R5: no flip to a generation that is not what its manifest says. */
export function refuseDifferences(
  generation: number,
  compared: readonly z.output<typeof comparePart>[],
): void {
  const differing = compared.reduce((total, part) => total + part.differing, 0);
  if (differing === 0) return;
  const examples = compared.flatMap((part) => part.examples).slice(0, 2 * examplesMax);
  throw new HoldfastError(
    'corrupt',
    `generation ${generation} is not what its manifest says, ${differing} keys differ: ${examples.join('; ')}`,
  );
}

export function filesOf({ runs }: Base): readonly StateFile[] {
  return runs.flatMap((run) => run.files);
}

export async function requireReservation(
  ports: RestorePorts,
  generation: number,
): Promise<Reservation> {
  const reservation = await readReservation(ports, generation);
  if (reservation !== undefined) return reservation;
  throw new HoldfastError(
    'corrupt',
    `generation ${generation} of job ${ports.job} has no reservation in the bucket`,
  );
}

async function readGeneration(ports: RestorePorts, generation: number) {
  const reservation = await requireReservation(ports, generation);
  const [manifest, base] = await Promise.all([
    readManifest(ports, reservation.manifest),
    readBaseObject(ports, reservation.base),
  ]);
  return { reservation, manifest, base };
}
