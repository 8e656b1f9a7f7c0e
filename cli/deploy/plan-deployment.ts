import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../shared/core/manifest.ts';
import type { JobNames } from '../../shared/config/job-names.ts';
import type { Job } from '../../shared/ports/control-store.ts';
import { readRegistry } from '../../shared/runtime/checkpoint/change-registry.ts';
import { readManifest } from '../../shared/runtime/checkpoint/take-manifest.ts';
import { jobMarkerName } from '../../shared/runtime/object-names.ts';
import { askBundle } from './ask-bundle.ts';
import { checkDeployment, type DeploymentCheck } from './check-deployment.ts';
import { findAsset, findStack, type AssembledStack } from './cloud-assembly.ts';
import type { DeployedJob } from './deployed-job.ts';
import type { DeployedStack } from './deployed-stack.ts';
import type { TemplateJob } from './job-template.ts';
import { runCdk, type CdkCommand } from './run-cdk.ts';

/** What is looked at of a deployed job before another version of it is deployed. */
export interface PresentJob {
  readonly job: Job;
  readonly streamArn: string | undefined;
  /** The newest one. */
  readonly manifest: Manifest | undefined;
}

export interface SynthOrder {
  readonly stack: string | undefined;
  /** A folder that cdk synth has written, or the command that makes it. */
  readonly app: string | undefined;
  readonly context: readonly string[];
  readonly cdk: CdkCommand;
}

/**
 * Writes what is going to be deployed into a folder, or takes what is there, so that what is checked is what is deployed.
 *
 * @throws Error where cdk fails
 */
export async function synthesizeStack(
  { stack, app, context, cdk }: SynthOrder,
  folder: string,
): Promise<AssembledStack> {
  if (app !== undefined && existsSync(join(app, 'manifest.json'))) return findStack(app, stack);
  const { exitCode, signal } = await runCdk(cdk, [
    ...['synth', '--quiet', '--output', folder],
    ...(app === undefined ? [] : ['--app', app]),
    ...context.flatMap((one) => ['--context', one]),
  ]);
  if (signal !== undefined) throw new InterruptedError(signal);
  if (exitCode !== 0) {
    throw new Error(`${cdk.text} synth ended with ${exitCode}; nothing was changed`);
  }
  return findStack(folder, stack);
}

/** Ctrl-C or SIGTERM came before anything was changed. */
export class InterruptedError extends Error {
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super('stopped; nothing was changed');
    this.signal = signal;
  }
}

/** Of several jobs the one that is named. @returns what is wrong where it cannot be told */
export function chooseJob(
  { id, jobs }: AssembledStack,
  name: string | undefined,
): TemplateJob | string {
  const names = jobs.map((job) => job.name).join(', ') || 'none';
  if (name !== undefined) {
    return (
      jobs.find((job) => job.name === name) ??
      `stack ${id} has no job ${name}, it has ${names}: name one of them with --job, and look at HOLDFAST_JOB; a job's name is a contract`
    );
  }
  const [only, ...others] = jobs;
  if (only !== undefined && others.length === 0) return only;
  return only === undefined
    ? `stack ${id} has no StreamJob: name another stack, or deploy it with cdk deploy`
    : `stack ${id} has jobs ${names}: name the one to be watched with --job`;
}

/** The names of a deployed job: as they are given, else as the stack says. @returns the flags that are missing */
export function completeNames(
  job: string,
  given: Partial<JobNames>,
  published: readonly JobNames[],
): JobNames | readonly string[] {
  const names = { ...published.find((one) => one.job === job), ...given, job };
  const missing = Object.entries(flagOf).filter(
    ([name]) => names[name as keyof JobNames] === undefined,
  );
  return missing.length === 0 ? (names as JobNames) : missing.map(([, flag]) => flag);
}

const flagOf: Readonly<Record<Exclude<keyof JobNames, 'job'>, string>> = {
  streamArn: '--stream',
  controlTable: '--control-table',
  deadLetterTable: '--dead-letter-table',
  bucket: '--bucket',
  operatorFunctions: '--operator-function',
  workflowFunction: '--workflow-function',
  savepointWorkflow: '--savepoint-workflow',
  restoreWorkflow: '--restore-workflow',
};

/** Undefined where the job has no item. */
export async function readPresent({ ports }: DeployedJob): Promise<PresentJob | undefined> {
  const job = await ports.control.readJob(ports.job);
  if (job === undefined) return undefined;
  const marker = await ports.objects.read(jobMarkerName(ports.job));
  const { streamArn } = (
    marker === undefined ? {} : JSON.parse(new TextDecoder().decode(marker))
  ) as { readonly streamArn?: string };
  const newest = (await readRegistry(ports)).complete.at(-1);
  const manifest = newest === undefined ? undefined : await readManifest(ports, newest.object);
  return { job, streamArn, manifest };
}

export interface CheckOrder {
  readonly stack: AssembledStack;
  readonly next: TemplateJob;
  readonly deployed: DeployedStack | undefined;
  readonly present: PresentJob | undefined;
  readonly removable: ReadonlySet<string>;
}

/** Looks at everything that could stand against a deployment, and changes nothing. */
export async function checkStack(order: CheckOrder): Promise<DeploymentCheck> {
  const { stack, next, deployed, present, removable } = order;
  const code = [];
  // One after the other: each is a process that loads a bundle.
  for (const one of next.code) {
    const folder = one.asset === undefined ? undefined : findAsset(stack, one.asset);
    code.push(await askBundle(one, folder));
  }
  const check = checkDeployment({
    next: { template: stack.template, job: next },
    deployed: deployed && { template: deployed.template, job: findBefore(order) },
    job: present?.job,
    streamArn: present?.streamArn,
    manifest: present?.manifest,
    ...{ code, removable },
  });
  const others = stack.jobs.filter(({ name }) => name !== next.name).map(({ name }) => name);
  if (others.length === 0) return check;
  const note = `the stack has other jobs, which are deployed with it and not looked at: ${others.join(', ')}`;
  return { ...check, notes: [...check.notes, note] };
}

/** A stack that has one job, and has one now under another name, has renamed it. */
function findBefore({ stack, next, deployed }: CheckOrder): TemplateJob | undefined {
  const before = deployed?.jobs ?? [];
  const same = before.find(({ name }) => name === next.name);
  return same ?? (before.length === 1 && stack.jobs.length === 1 ? before[0] : undefined);
}
