import * as z from 'zod';
import type { RequestStep } from '../../config/workflow-steps.ts';
import { HoldfastError } from '../../core/errors.ts';
import { compareTexts } from '../../core/position.ts';
import type { ManifestReference } from '../../core/registry.ts';
import { readRegistry } from '../../runtime/checkpoint/change-registry.ts';
import { deleteSavepoint } from '../../runtime/checkpoint/delete-savepoint.ts';
import { readFacts } from '../../runtime/checkpoint/manifest-facts.ts';
import { findComplete } from '../../runtime/checkpoint/rebuild-registry.ts';
import { verifyFiles } from '../../runtime/checkpoint/savepoint-steps.ts';
import { readManifest } from '../../runtime/checkpoint/take-manifest.ts';
import { cutAtPositions, cutAtTime } from '../../runtime/restore/cut-in-the-past.ts';
import { deleteOldGenerations } from '../../runtime/restore/delete-old-generations.ts';
import { deleteGeneration } from '../../runtime/restore/delete-generation.ts';
import { resumeJob } from '../../runtime/restore/hold.ts';
import type { RestorePorts } from '../../runtime/restore/restore-order.ts';
import { checkClone } from '../../runtime/restore/check-clone.ts';
import { checkRestore, type RestoreCheck } from '../../runtime/restore/check-restore.ts';
import { requireCloned } from '../../runtime/restore/cloned-objects.ts';
import { readReservation } from '../../runtime/restore/reservation.ts';
import { inspectCopies } from './inspect-copies.ts';
import { copies, deletion } from './restore-steps-schema.ts';
import { count, defineStep, text, type Step } from './workflow-step.ts';

/*
 * What the command line asks for outside of a workflow: so that whoever restores needs the right to invoke one function, and none
 * to the tables and the bucket.
 */

const reference = z.strictObject({
  kind: z.enum(['checkpoint', 'savepoint', 'undo']),
  generation: count,
  number: count,
  object: text,
  label: z.string(),
  completedAtMs: count,
  bytes: count,
  isExact: z.boolean(),
});

const hold = z
  .strictObject({
    kind: z.enum(['savepoint', 'restore', 'stopped', 'unborn']),
    owner: z.string(),
    sinceMs: count,
    isFlipped: z.boolean(),
    undo: z.string(),
  })
  .nullable();

const generation = z.strictObject({
  generation: count,
  /** 0 for the first one. */
  parent: count,
  /** Object names; empty for the first one. */
  manifest: z.string(),
  /** Who reserved it; empty for the first one. */
  restore: z.string(),
  state: z.enum(['present', 'past', 'unused']),
});

/** Manifests of one kind that an answer has, the newest ones. */
const referencesMax = 200;

const hourMs = 3_600_000;

/** Missing files that an answer names. */
const examplesMax = 5;

const jobDescription = z.strictObject({
  job: text,
  /** 0 where the job has none yet, or no item. */
  generation: count,
  hold,
  generations: z.array(generation),
  manifests: z.array(reference),
});

export type JobDescription = z.output<typeof jobDescription>;

const verified = z.strictObject({
  isDone: z.boolean(),
  nextFile: count,
  files: count,
  bytes: count,
});

export type VerifiedFiles = z.output<typeof verified>;

const restorePlan = z.strictObject({
  job: text,
  /** Whose manifest it is, for a clone (R12); empty for one of the job's own. */
  cloned: z.string(),
  object: text,
  kind: z.enum(['checkpoint', 'savepoint', 'undo']),
  generation: count,
  number: count,
  label: z.string(),
  note: z.string(),
  tags: z.record(z.string(), z.string()),
  /** The cut lies before this. */
  readAtMs: count,
  isExact: z.boolean(),
  bytes: count,
  /** With a state, in merged files; segments hold some again, and others. */
  keysInRuns: count,
  channels: count,
  /** The generation that the job is in; 0 where it has none, or its tables are lost. */
  present: count,
  hold,
  differences: z.array(
    z.strictObject({ text: z.string(), remedy: z.string(), isLoss: z.boolean() }),
  ),
  gaps: z.array(z.string()),
  /** What stands against nothing. */
  warnings: z.array(z.string()),
  /** Files that are not in the bucket: how many, and the first of them. */
  missing: z.strictObject({ files: count, examples: z.array(text) }),
});

export type RestorePlan = z.output<typeof restorePlan>;

export type DeletedState = z.output<typeof deletion>;

export const requestSteps: Readonly<Record<RequestStep, Step>> = {
  'job.describe': defineStep({}, jobDescription, async (_, ports) => describeJob(ports)),

  'job.resume': defineStep({}, z.strictObject({ generation: count }), async (_, ports) => ({
    generation: (await resumeJob(ports)).generation,
  })),

  'savepoint.inspect': defineStep(
    { label: text, verified },
    verified,
    async ({ label, verified: before }, ports, deadline) => {
      const { object } = await findReference(ports, label, (await readRegistry(ports)).complete);
      const { runs } = await readManifest(ports, object);
      const seen = await verifyFiles(ports, runs, before.nextFile, deadline);
      return {
        isDone: seen.nextFile === undefined,
        nextFile: seen.nextFile ?? before.nextFile + seen.files,
        files: before.files + seen.files,
        bytes: before.bytes + seen.bytes,
      };
    },
  ),

  'savepoint.delete': defineStep({ label: text }, z.strictObject({}), async ({ label }, ports) => {
    await deleteSavepoint(ports, label);
    return {};
  }),

  'copies.inspect': defineStep(
    { from: text, areTablesLost: z.boolean(), fromBackup: z.literal(true), copies },
    copies,
    async ({ from, areTablesLost, copies: before }, ports, deadline) => {
      const { object } = await findManifestOf(ports, from, areTablesLost);
      return inspectCopies(ports, object, before, deadline);
    },
  ),

  'restore.check': defineStep(
    {
      ...{ from: text, restore: text, areTablesLost: z.boolean() },
      fromBackup: z.boolean().default(false),
    },
    restorePlan,
    async ({ from, restore, areTablesLost }, ports) => {
      const { object } = await findManifestOf(ports, from, areTablesLost);
      const found = await checkRestore(ports, { restore, manifest: object, areTablesLost });
      return describePlan(ports, object, found);
    },
  ),

  'clone.check': defineStep(
    { from: text, restore: text },
    restorePlan,
    async ({ from, restore }, ports) => {
      const cloned = requireCloned(ports);
      const { complete } = await readRegistry(cloned);
      // C3: the newest checkpoint that can be had may be one before the last.
      const exact = complete.filter(({ isExact }) => isExact);
      const { object } = await findReference(cloned, from, from === 'latest' ? exact : complete);
      return describePlan(ports, object, await checkClone(ports, { restore, copyOf: object }));
    },
  ),

  'restore.cut-at-time': defineStep(
    { timeMs: z.int() },
    z.strictObject({ object: text }),
    async ({ timeMs }, ports) => {
      const note = `of ${new Date(timeMs).toISOString()}`;
      return { object: await cutAtTime(ports, timeMs, await readFacts(ports, { note, tags: {} })) };
    },
  ),

  'restore.cut-at-position': defineStep(
    { sequences: z.record(text, z.string().regex(/^\d{1,128}$/, 'a sequence number')) },
    z.strictObject({ object: text }),
    async ({ sequences }, ports) => {
      const shards = Object.entries(sequences);
      const note = `at ${shards.map(([shardId, sequence]) => `${shardId}=${sequence}`).join(', ')}`;
      const facts = await readFacts(ports, { note, tags: {} });
      return { object: await cutAtPositions(ports, new Map(shards), facts) };
    },
  ),

  'generation.delete': defineStep(
    { generation: count, deletion },
    deletion,
    async ({ generation: number, deletion: before }, ports, deadline) => {
      const from =
        before.operator === '' ? undefined : { operator: before.operator, group: before.group };
      const { items, next } = await deleteGeneration(ports, number, deadline, from);
      return {
        isDone: next === undefined,
        operator: next?.operator ?? '',
        group: next?.group ?? 0,
        items: before.items + items,
        rounds: before.rounds + 1,
      };
    },
  ),

  // A schedule asks for it.
  'generations.clean': defineStep(
    { retentionHours: count },
    z.strictObject({ isDone: z.boolean(), items: count, next: count }),
    async ({ retentionHours }, ports, deadline) => {
      const cleaned = await deleteOldGenerations(ports, retentionHours * hourMs, deadline);
      if (cleaned.items > 0) ports.telemetry.log('info', 'old state deleted', { ...cleaned });
      return { ...cleaned };
    },
  ),
};

async function describePlan(
  ports: RestorePorts,
  object: string,
  { manifest, differences, gaps, warnings, missing }: RestoreCheck,
): Promise<z.input<typeof restorePlan>> {
  const job = await ports.control.readJob(ports.job);
  const { kind, number, label, note, tags, readAtMs, isExact, keysInRuns } = manifest;
  return {
    ...{ job: ports.job, object, kind, number, label, note, tags },
    ...{ readAtMs, isExact, keysInRuns },
    cloned: manifest.job === ports.job ? '' : manifest.job,
    generation: manifest.generation,
    bytes: manifest.totalBytes,
    channels: manifest.channels.length,
    present: job?.generation ?? 0,
    hold: describeHold(job),
    differences: differences.map((difference) => ({ ...difference })),
    gaps: [...gaps],
    warnings: [...warnings],
    missing: { files: missing.length, examples: missing.slice(0, examplesMax) },
  };
}

async function describeJob(ports: RestorePorts): Promise<z.input<typeof jobDescription>> {
  const job = await ports.control.readJob(ports.job);
  const { complete } = await readRegistry(ports);
  const present = job?.generation ?? 0;
  const past = new Set(job?.timeline.map((entry) => entry.generation) ?? []);
  const generations: z.input<typeof generation>[] = [];
  // R4: numbers are taken without gaps.
  for (let number = 2; ; number += 1) {
    const made = await readReservation(ports, number);
    if (made === undefined) break;
    const isPast = past.has(number) ? 'past' : 'unused';
    const { parent, manifest, restore } = made;
    const state = number === present ? 'present' : isPast;
    generations.push({ generation: number, parent, manifest, restore, state });
  }
  const first = { generation: 1, parent: 0, manifest: '', restore: '' };
  return {
    job: ports.job,
    generation: present,
    hold: describeHold(job),
    generations: [
      { ...first, state: present === 1 ? ('present' as const) : ('past' as const) },
      ...generations,
    ],
    manifests: (['checkpoint', 'savepoint', 'undo'] as const).flatMap((kind) =>
      complete.filter((one) => one.kind === kind).slice(-referencesMax),
    ),
  };
}

function describeHold(
  job: Awaited<ReturnType<RestorePorts['control']['readJob']>>,
): z.input<typeof hold> {
  if (job?.hold === undefined) return null;
  const { kind, owner, sinceMs, isFlipped, undo } = job.hold;
  return { kind, owner, sinceMs, isFlipped, undo: undo ?? '' };
}

async function findManifestOf(
  ports: RestorePorts,
  from: string,
  areTablesLost: boolean,
): Promise<Pick<ManifestReference, 'object'>> {
  const complete = areTablesLost ? await findComplete(ports) : (await readRegistry(ports)).complete;
  return findReference(ports, from, complete);
}

/**
 * A manifest as people call it: `latest`, the number of a checkpoint, the name of a savepoint, or the name of its object.
 */
async function findReference(
  ports: Pick<RestorePorts, 'job'>,
  from: string,
  complete: readonly ManifestReference[],
): Promise<Pick<ManifestReference, 'object'>> {
  const savepoint = complete.find((one) => one.kind === 'savepoint' && one.label === from);
  if (savepoint !== undefined) return savepoint;
  // The newest one first, in the order of C4.
  const newest = complete.toReversed();
  if (from === 'latest') {
    const latest = newest.find(
      // Checkpoints with a label are of moments of the past (R15).
      ({ kind, label }) => kind === 'savepoint' || (kind === 'checkpoint' && label === ''),
    );
    if (latest !== undefined) return latest;
  }
  if (/^\d+$/.test(from)) {
    const numbered = newest.find(({ number }) => number === Number(from));
    if (numbered !== undefined) return numbered;
  }
  if (from.includes('/')) return { object: from };
  const names = complete.map(({ kind, number, label }) =>
    kind === 'savepoint' ? label : String(number),
  );
  throw new HoldfastError(
    'invalid',
    `job ${ports.job} has no manifest ${JSON.stringify(from)}; there are ${names.sort(compareTexts).slice(-20).join(', ') || 'none'}`,
  );
}
