import * as z from 'zod';
import type { SavepointStep } from '../../config/workflow-steps.ts';
import { HoldfastError } from '../../core/errors.ts';
import { backUp } from '../../runtime/checkpoint/back-up.ts';
import { readRegistry } from '../../runtime/checkpoint/change-registry.ts';
import { readFacts } from '../../runtime/checkpoint/manifest-facts.ts';
import { runCompaction } from '../../runtime/checkpoint/run-compaction.ts';
import {
  beginSavepoint,
  completeSavepoint,
  cutSavepoint,
  verifyFiles,
  waitUntilExact,
} from '../../runtime/checkpoint/savepoint-steps.ts';
import { dropPending, readManifest } from '../../runtime/checkpoint/take-manifest.ts';
import { giveUpHold } from '../../runtime/restore/give-up-hold.ts';
import { fenceChannels, readJob, stopUnderHold, takeHold } from '../../runtime/restore/hold.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';
import {
  count,
  defineStep,
  explainFailure,
  failure,
  holdChoice,
  nothing,
  text,
  type Step,
} from './workflow-step.ts';

/*
 * The steps of a savepoint as tasks of their own (C3, R14): register → (stop: hold, exactly) → cut → merge → verify →
 * complete → (stop: the hold stays) → copy into the backup. What fails up to there gives up: the hold is let go, and what was
 * pending is dropped. A savepoint is complete without its copy, which the coordinator goes on with.
 */

/** What somebody asks for. */
const request = z.strictObject({
  label: text,
  note: z.string().default(''),
  tags: z.record(z.string(), z.string()).default({}),
  stops: z.boolean().default(false),
});

const order = z.strictObject({
  label: text,
  note: z.string(),
  tags: z.record(z.string(), z.string()),
  stops: z.boolean(),
});

const work = z.strictObject({
  id: text,
  kind: z.literal('savepoint'),
  number: count,
  generation: count,
  label: text,
  sinceMs: count,
  expiresAtMs: count,
});

const tried = holdChoice.extend({ tries: count });

/** How many times a job is held and let go again until it was held at an exact cut. */
const holdsMax = 10;

/** Calls of one step of a savepoint, some minutes each, until it has to be done. */
const roundsMax = 1_000;

const merge = z.strictObject({
  isDone: z.boolean(),
  doneBytes: count,
  totalBytes: count,
  rounds: count,
});

const verified = z.strictObject({
  isDone: z.boolean(),
  nextFile: count,
  files: count,
  bytes: count,
  keys: count,
  rounds: count,
});

const savepoint = z.strictObject({
  label: text,
  object: text,
  generation: count,
  number: count,
  keys: count,
  bytes: count,
});

const copy = z.strictObject({ isDone: z.boolean(), rounds: count });

export const savepointSteps: Readonly<Record<SavepointStep, Step>> = {
  'savepoint.register': defineStep(
    { request, execution: text },
    z.strictObject({ order, work }),
    async ({ request: wanted, execution }, ports) => ({
      order: wanted,
      work: (await beginSavepoint(ports, { ...wanted, execution })) as z.input<typeof work>,
    }),
  ),

  'savepoint.choose-hold': defineStep(
    { order, hold: tried },
    tried,
    async ({ order: { label }, hold: { tries } }, ports) => {
      if (tries >= holdsMax) {
        throw new HoldfastError(
          'conflict',
          `job ${ports.job} could not be held at an exact cut in ${holdsMax} tries: attempts die all the time; try again once it runs quietly`,
        );
      }
      const { version, hold } = await readJob(ports);
      const isOurs = hold?.kind === 'savepoint' && hold.owner === label;
      const id = isOurs ? hold.id : ports.system.randomId();
      return { id, jobVersion: version, tries: tries + 1 };
    },
  ),

  'savepoint.take-hold': defineStep(
    { order, hold: tried },
    nothing,
    async ({ order: { label }, hold: { id, jobVersion } }, ports) => {
      const wanted = { id, kind: 'savepoint', owner: label, takesOver: false } as const;
      await takeHold(ports, { ...wanted, jobVersion });
      return {};
    },
  ),

  'savepoint.fence': defineStep(
    { hold: tried },
    z.strictObject({ isExact: z.boolean() }),
    async ({ hold: { id } }, ports) => {
      await fenceChannels(ports, id);
      return { isExact: await waitUntilExact(ports, { waitMs: 0 }) };
    },
  ),

  'savepoint.let-go': defineStep({ hold: tried }, nothing, async ({ hold }, ports) => {
    await giveUpHold(ports, hold);
    await waitUntilExact(ports);
    return {};
  }),

  'savepoint.cut': defineStep({ order, work }, nothing, async (input, ports) => {
    await cutSavepoint(ports, input.work, await readFacts(ports, input.order));
    return {};
  }),

  'savepoint.merge': defineStep(
    { work, merge },
    merge,
    async ({ work: { number }, merge: { rounds } }, ports, deadline) => {
      refuseEndless(rounds, `the merge of savepoint ${number}`);
      const { isDone, doneBytes, totalBytes } = await runCompaction(ports, number, deadline);
      return { isDone, doneBytes, totalBytes, rounds: rounds + 1 };
    },
  ),

  'savepoint.verify': defineStep(
    { work, verified },
    verified,
    async ({ work: { number }, verified: before }, ports, deadline) => {
      refuseEndless(before.rounds, `the verification of savepoint ${number}`);
      const runs = await readMerged(ports, number);
      const seen = await verifyFiles(ports, runs, before.nextFile, deadline);
      return {
        isDone: seen.nextFile === undefined,
        nextFile: seen.nextFile ?? before.nextFile + seen.files,
        files: before.files + seen.files,
        bytes: before.bytes + seen.bytes,
        keys: before.keys + seen.keys,
        rounds: before.rounds + 1,
      };
    },
  ),

  'savepoint.complete': defineStep({ work }, savepoint, async (input, ports) => {
    const runs = await readMerged(ports, input.work.number);
    const made = await completeSavepoint(ports, input.work, runs);
    const { label, generation, number, keysInRuns, totalBytes } = await readManifest(
      ports,
      made.object,
    );
    return {
      ...{ label, generation, number, object: made.object },
      keys: keysInRuns,
      bytes: totalBytes,
    };
  }),

  'savepoint.stop': defineStep({ hold: tried }, nothing, async ({ hold: { id } }, ports) => {
    await stopUnderHold(ports, id);
    return {};
  }),

  'savepoint.copy': defineStep(
    { savepoint, copy },
    copy,
    async ({ savepoint: { object }, copy: { rounds } }, ports, deadline) => {
      refuseEndless(rounds, `the copy of ${object}`);
      const made = (await readRegistry(ports)).complete.find((one) => one.object === object);
      const isDone =
        ports.backup === undefined ||
        made === undefined ||
        (await backUp(ports, ports.backup, made, deadline));
      return { isDone, rounds: rounds + 1 };
    },
  ),

  'savepoint.give-up': defineStep(
    { execution: text, hold: tried, failure },
    z.strictObject({ message: text }),
    async ({ execution, hold, failure: failed }, ports) => {
      await giveUpHold(ports, hold);
      await dropPending(ports, execution);
      return { message: explainFailure(failed) };
    },
  ),
};

export function refuseEndless(rounds: number, what: string): void {
  if (rounds < roundsMax) return;
  throw new HoldfastError(
    'conflict',
    `${what} was not done in ${roundsMax} calls; its function's log says how far each came`,
  );
}

/** The files of a savepoint that has been merged. */
async function readMerged(ports: RestorePorts, number: number) {
  const { runs } = await runCompaction(ports, number, { remainingMs: () => 0 });
  if (runs !== undefined) return runs;
  const isKnown = (await readRegistry(ports)).pending.some((one) => one.number === number);
  throw new HoldfastError(
    'conflict',
    `savepoint ${number} ${isKnown ? 'is not merged to its end' : 'was taken away as too old'}; make another one`,
  );
}
