import { identifyKey } from '../../core/channel.ts';
import type { CompactionPlan, MergeSource } from '../../core/compaction-plan.ts';
import { createKeyCuts, findRange } from '../../core/key-cuts.ts';
import { compareKeys, type KeyPlace } from '../../core/key-order.ts';
import type { SortedRun } from '../../core/manifest.ts';
import type { MergeRule } from '../../core/merge-entries.ts';
import { encodeRunFile, type RunEntry } from '../../core/run-file.ts';
import { describeRunFile, type DescribedFile } from '../../core/state-file.ts';
import { itemBytes } from '../../core/stored-item.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import type { JobPorts } from '../job-ports.ts';
import { copiedGeneration } from '../restore/unborn-job.ts';
import { mergeFiles } from './merge-files.ts';
import { readPlan } from './plan-compaction.ts';
import { runSource, segmentSource, type SourceFiles } from './sorted-source.ts';
import {
  describeStanding,
  findStanding,
  isStepDone,
  nameFile,
  type Standing,
} from './standing-files.ts';

/** How far a compaction is. */
export interface CompactionState {
  readonly isDone: boolean;
  /** Once it is done: the runs that hold what the manifest's runs and segments do. */
  readonly runs?: readonly SortedRun[];
  /** Bytes of files that have been merged, of those that are to be; what is merged twice counts twice. */
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** The rest of an invocation in which no file is begun any more, ms. */
const reserveMs = 15_000;

/**
 * Does as much of a planned compaction as there is time for. It can end anywhere: whoever calls next goes on behind the last
 * file that stands. Two at once write the same files, and where one stands already, that one counts.
 */
export async function runCompaction(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  number: number,
  deadline: Deadline,
): Promise<CompactionState> {
  const plan = await readPlan(ports, number);
  const standing = await findStanding(ports, plan);
  const totals = weighSteps(plan);
  const totalBytes = totals.reduce((sum, bytes) => sum + bytes, 0);
  let doneBytes = 0;
  for (const [step, stepBytes] of totals.entries()) {
    if (!isStepDone(standing, step)) {
      const passed = await runStep(ports, plan, { standing, step }, deadline);
      if (passed !== undefined) {
        return { isDone: false, doneBytes: doneBytes + Math.min(passed, stepBytes), totalBytes };
      }
    }
    doneBytes += stepBytes;
  }
  return { isDone: true, runs: resultOf(plan, standing), doneBytes, totalBytes };
}

interface StepPlace {
  readonly standing: Standing;
  readonly step: number;
}

/**
 * Runs a step to its end.
 *
 * @returns undefined at the end; the bytes that are done where there was no more time
 */
async function runStep(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  plan: CompactionPlan,
  { standing, step }: StepPlace,
  deadline: Deadline,
): Promise<number | undefined> {
  const made = (standing.files[step] ??= []);
  const sources = sourcesOf(plan, standing, step);
  for (;;) {
    let passedBytes = 0;
    const after = made.at(-1)?.header.last;
    const merged = mergeFiles(ports.objects, sources, {
      rule: ruleOf(plan, step),
      after,
      passed: (bytes) => (passedBytes += bytes),
    });
    const cutter = cutFiles(numberAnew(merged, plan, step), plan.fileBytes, deadline);
    let ours: KeyPlace | undefined = after;
    for await (const part of cutter) {
      if (part === undefined) return passedBytes;
      const name = nameFile(ports.job, plan, step, standing.nextFile);
      const file = await putFile(ports, name, plan, step, part);
      made.push(file);
      standing.nextFile += 1;
      if (file.header.isLast) return undefined;
      ours = part.entries.at(-1)!.item;
      // Whoever wrote it has cut elsewhere: go on behind what stands.
      if (compareKeys(ours, file.header.last) !== 0) break;
    }
    const last = made.at(-1)?.header.last;
    if (last === undefined || ours === undefined || compareKeys(ours, last) === 0) return undefined;
  }
}

/**
 * Entries say in which generation they were made, and the highest counts (C6). Those of another job have nothing to do with
 * generations of this one: they would hide what it makes itself. The merge itself goes by them, up to its last step.
 */
async function* numberAnew(
  merged: AsyncGenerator<RunEntry>,
  { copiedFrom, steps }: CompactionPlan,
  step: number,
): AsyncGenerator<RunEntry> {
  const isAnew = copiedFrom !== undefined && steps[step]!.isFinal;
  for await (const entry of merged) {
    yield isAnew ? { ...entry, generation: copiedGeneration } : entry;
  }
}

interface FilePart {
  readonly entries: readonly RunEntry[];
  readonly isLast: boolean;
}

/** Cuts a sequence into files of a size; undefined is the end of the time. */
async function* cutFiles(
  merged: AsyncGenerator<RunEntry>,
  fileBytes: number,
  deadline: Deadline,
): AsyncGenerator<FilePart | undefined> {
  let entries: RunEntry[] = [];
  let bytes = 0;
  for await (const entry of merged) {
    if (!hasTimeFor(deadline, reserveMs)) {
      yield undefined;
      return;
    }
    if (bytes >= fileBytes) {
      yield { entries, isLast: false };
      entries = [];
      bytes = 0;
    }
    entries.push(entry);
    bytes += itemBytes(entry.item);
  }
  if (entries.length > 0) yield { entries, isLast: true };
}

async function putFile(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  name: string,
  plan: CompactionPlan,
  step: number,
  { entries, isLast }: FilePart,
): Promise<DescribedFile> {
  const { operator } = plan.steps[step]!;
  const { bytes } = encodeRunFile({ job: ports.job, operator, isLast }, entries);
  const outcome = await ports.objects.create(name, bytes);
  return outcome === 'created' ? describeRunFile(bytes, name) : describeStanding(ports, name);
}

function ruleOf({ manifest, steps, dropsUpTo }: CompactionPlan, step: number): MergeRule {
  const { operator, isFinal } = steps[step]!;
  const sinks = manifest.operators.find(({ id }) => id === operator)?.sinks ?? [];
  // An intermediate step does not see all that a tombstone must hide.
  const ranges = isFinal ? dropsUpTo.filter((range) => range.operator === operator) : [];
  return {
    cutOf: createKeyCuts(manifest.channels, operator),
    upserts: new Set(sinks.filter(({ kind }) => kind === 'upsert').map(({ name }) => name)),
    dropsUpTo: (key) => findRange(ranges, identifyKey(key).hash)?.position,
  };
}

function sourcesOf(plan: CompactionPlan, standing: Standing, step: number): SourceFiles[] {
  const { operator, sources } = plan.steps[step]!;
  return sources.map((source) => filesOf(plan, standing, operator, source));
}

function filesOf(
  { manifest }: CompactionPlan,
  { files }: Standing,
  operator: string,
  source: MergeSource,
): SourceFiles {
  if ('segment' in source) return segmentSource(manifest, source.segment);
  if ('run' in source) return runSource(manifest.runs[source.run]!.files, operator);
  const made = files[source.step] ?? [];
  return runSource(
    made.map(({ file }) => file),
    operator,
  );
}

/** How many bytes each step merges; what an earlier step makes counts as much as what it is made of. */
function weighSteps(plan: CompactionPlan): number[] {
  const weights: number[] = [];
  const nothing: Standing = { files: [], nextFile: 1 };
  for (const { operator, sources } of plan.steps) {
    const bytes = sources.flatMap((source) =>
      'step' in source
        ? [weights[source.step]!]
        : filesOf(plan, nothing, operator, source).map((file) => file.bytes),
    );
    weights.push(bytes.reduce((total, some) => total + some, 0));
  }
  return weights;
}

/** The runs that were left alone, and the new one behind them. */
function resultOf(
  { manifest, mergedRuns, steps }: CompactionPlan,
  { files }: Standing,
): SortedRun[] {
  const kept = manifest.runs.slice(0, manifest.runs.length - mergedRuns);
  const made = steps.flatMap(({ isFinal }, step) => (isFinal ? (files[step] ?? []) : []));
  return made.length === 0 ? [...kept] : [...kept, { files: made.map(({ file }) => file) }];
}
