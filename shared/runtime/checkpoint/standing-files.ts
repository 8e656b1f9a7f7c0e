import type { CompactionPlan } from '../../core/compaction-plan.ts';
import { HoldfastError } from '../../core/errors.ts';
import { sortedHeadBytes } from '../../core/sorted-blocks.ts';
import { describeRunFile, type DescribedFile } from '../../core/state-file.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import {
  compactionPrefix,
  parseObjectName,
  runFileName,
  savepointFileName,
  savepointPrefix,
} from '../object-names.ts';

/*
 * The files that a compaction has written tell how far it is: they are numbered without gaps, each is put once the one before it
 * stands, and their headers say which key each ends with and whether it ends its run.
 */

type ObjectsOfJob = Pick<JobPorts, 'objects' | 'job'>;

/** Headers that are read at once. */
const requestsMax = 32;

/** The header of a file of usual size fits. */
const headBytesGuess = 16 * 1024;

/** What a compaction has written, step by step. */
export interface Standing {
  /** For each step that has been begun its files, in order. */
  readonly files: DescribedFile[][];
  /** The number of the next file. */
  nextFile: number;
}

/** The files of step `step` are complete. */
export function isStepDone({ files }: Standing, step: number): boolean {
  // A later step is begun only once this one has ended, be it without a file.
  return files.length > step + 1 || files[step]?.at(-1)?.header.isLast === true;
}

/** Where file number `file` of a compaction stands: intermediate ones never lie in a savepoint. */
export function nameFile(job: string, plan: CompactionPlan, step: number, file: number): string {
  return plan.savepoint !== '' && plan.steps[step]!.isFinal
    ? savepointFileName(job, plan.savepoint, file)
    : runFileName(job, plan.number, file);
}

/** Reads what stands of a compaction. */
export async function findStanding(ports: ObjectsOfJob, plan: CompactionPlan): Promise<Standing> {
  const names = await listFiles(ports, plan);
  const described = await inParallel(names, requestsMax, (name) => describeStanding(ports, name));
  const standing: Standing = { files: plan.steps.length === 0 ? [] : [[]], nextFile: 1 };
  for (const one of described) {
    let step = standing.files.length - 1;
    const isOver = (): boolean =>
      isStepDone(standing, step) || plan.steps[step]?.operator !== one.header.operator;
    // Only the last step of an operator can end without a file: all that it merges was dropped.
    while (isOver()) {
      step += 1;
      if (step >= plan.steps.length) throw unexpected(one.file.name, plan);
      standing.files.push([]);
    }
    standing.files[step]!.push(one);
    standing.nextFile += 1;
  }
  return standing;
}

/** Reads the header of a file that stands. */
export async function describeStanding(
  { objects }: ObjectsOfJob,
  name: string,
): Promise<DescribedFile> {
  const start = await objects.readStart(name, headBytesGuess);
  if (start === undefined) throw gone(name);
  const headBytes = sortedHeadBytes(start);
  if (headBytes <= start.length) return describeRunFile(start, name);
  const head = await objects.readStart(name, headBytes);
  if (head === undefined) throw gone(name);
  return describeRunFile(head, name);
}

/** The names of the files from number 1 up to the first that is missing. */
async function listFiles({ objects, job }: ObjectsOfJob, plan: CompactionPlan): Promise<string[]> {
  const found = new Map<number, string>();
  const prefixes = [compactionPrefix(job, plan.number)];
  if (plan.savepoint !== '') prefixes.push(savepointPrefix(job, plan.savepoint));
  for (const prefix of prefixes) {
    for await (const name of objects.list(prefix)) {
      const identity = parseObjectName(job, name);
      if (identity.kind === 'run' || identity.kind === 'savepoint-file')
        found.set(identity.file, name);
    }
  }
  const names: string[] = [];
  for (let file = 1; found.has(file); file += 1) names.push(found.get(file)!);
  return names;
}

function gone(name: string): HoldfastError {
  return new HoldfastError(
    'fenced',
    `run file ${name} was taken away while its compaction was under way: its work counted as left behind; begin another one`,
  );
}

function unexpected(name: string, { number }: CompactionPlan): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `run file ${name} is not one that the plan of compaction ${number} leads to; drop the compaction, its manifest is not affected`,
  );
}
