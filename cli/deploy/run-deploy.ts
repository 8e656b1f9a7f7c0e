import { join } from 'node:path';
import type { JobNames } from '../../shared/config/job-names.ts';
import { describeThrown } from '../../shared/core/errors.ts';
import { readRegistry } from '../../shared/runtime/checkpoint/change-registry.ts';
import type { ConnectionFlags } from '../connection-flags.ts';
import { confirm } from '../flush/confirm.ts';
import { formatFacts } from '../table.ts';
import { withWorkflowClient, type WorkflowClient } from '../workflow/workflow-client.ts';
import type { DeploymentCheck } from './check-deployment.ts';
import { writePreviousAssembly, type AssembledStack } from './cloud-assembly.ts';
import {
  deleteSavepoints,
  listExpired,
  makeSavepoint,
  nameSavepoint,
} from './deploy-savepoints.ts';
import { reportOf, type DeployReport } from './deploy-report.ts';
import { withDeployedJob, type DeployedJob } from './deployed-job.ts';
import { readDeployedStack, type DeployedStack } from './deployed-stack.ts';
import { describeCommit, readGitCommit, type GitCommit } from './git-commit.ts';
import type { TemplateJob } from './job-template.ts';
import { hasMoved, type WatchRules } from './judge-watch.ts';
import { lookAtJob, lookBefore, nothingBefore, type Before } from './look-at-job.ts';
import {
  checkStack,
  chooseJob,
  completeNames,
  readPresent,
  synthesizeStack,
  type PresentJob,
  type SynthOrder,
} from './plan-deployment.ts';
import { rollBack } from './roll-back.ts';
import { interruptible, runCdk, type CdkEnd } from './run-cdk.ts';
import { watchJob } from './watch-job.ts';
import { findWayBack, type WayBackFacts } from './way-back.ts';

/** What `holdfast deploy` is told. */
export interface DeployOrder extends SynthOrder {
  /** For `cdk deploy`. */
  readonly cdkArguments: readonly string[];
  readonly names: Partial<JobNames>;
  /** Logical ids of what holds data and may go. */
  readonly removable: ReadonlySet<string>;
  readonly makesSavepoint: boolean;
  /** How many savepoints of deployments stay. */
  readonly savepointsKept: number;
  /** How long a job may take to show that it goes well, once no old code is at work any more, ms. */
  readonly watchMs: number;
  /** How long the old code may be at work after a deployment, ms; undefined: the longest timeout of an operator. */
  readonly settleMs: number | undefined;
  readonly deadLettersMax: number;
  readonly rollsBack: boolean;
  /** Nobody is asked. */
  readonly isConfirmed: boolean;
  readonly connection: Omit<ConnectionFlags, 'json'>;
}

/** What is known of a deployment before anything is changed. */
interface Plan {
  readonly order: DeployOrder;
  readonly stack: AssembledStack;
  readonly next: TemplateJob;
  readonly deployed: DeployedStack | undefined;
  readonly commit: GitCommit | undefined;
}

/** A job that is there already. */
interface Present {
  readonly names: JobNames;
  readonly deployedJob: DeployedJob;
  readonly client: WorkflowClient;
}

const unchanged = 'nothing was changed';

/**
 * Checks, makes a savepoint, deploys, watches, and goes back or tells how to.
 *
 * @param folder for what cdk writes; whoever made it removes it
 */
export async function runDeploy(order: DeployOrder, folder: string): Promise<DeployReport> {
  const stack = await synthesizeStack(order, join(folder, 'cdk.out'));
  const next = chooseJob(stack, order.names.job);
  const refuse = (...reasons: readonly string[]): DeployReport =>
    reportOf(stack.id, order.names.job ?? '', 'refused', { reasons });
  if (typeof next === 'string') return refuse(next);
  const intervalMs = next.checkpointIntervalMs ?? 0;
  if (intervalMs > order.watchMs) {
    return refuse(
      `the job makes a checkpoint every ${intervalMs / 1_000} s and would be watched for ${order.watchMs / 1_000} s: give --watch more than that`,
    );
  }
  const deployed = await interruptible(unchanged, () => readDeployedStack(stack.stackName));
  if (deployed?.status.endsWith('_IN_PROGRESS') === true) {
    return refuse(
      `stack ${stack.stackName} is in state ${deployed.status}: deploy when that is over`,
    );
  }
  const plan: Plan = { order, stack, next, deployed, commit: await readGitCommit() };
  if (deployed?.jobs.some(({ name }) => name === next.name) !== true) return deployFirst(plan);
  const names = completeNames(next.name, order.names, deployed.names);
  if (isMissing(names)) {
    return refuse(
      `stack ${stack.stackName} does not tell where job ${next.name} is, for an older StreamJob has deployed it: give ${names.join(', ')}`,
    );
  }
  return withDeployedJob(names, (deployedJob) =>
    withWorkflowClient(names, (client) => deployAgain(plan, { names, deployedJob, client })),
  );
}

function isMissing(names: JobNames | readonly string[]): names is readonly string[] {
  return Array.isArray(names);
}

/** There is no job yet: nothing to save, and nothing to go back to. */
async function deployFirst(plan: Plan): Promise<DeployReport> {
  const { order, stack, next, deployed } = plan;
  const check = await interruptible(unchanged, () =>
    checkStack({ stack, next, deployed, present: undefined, removable: order.removable }),
  );
  const report = reporter(plan, check);
  if (check.problems.length > 0) return report('refused', { reasons: listProblems(check) });
  if (!(await isAgreed(plan, check, [['job', `${next.name}, which is new`]]))) {
    return report('declined');
  }
  const end = await deployWithCdk(plan);
  const wayBack = findWayBack(wayBackFacts(plan, undefined, { hasMoved: true, isCodeBack: false }));
  if (isCutShort(end)) return report(...describeEnd(plan, end, { wayBack }));
  const after = await readDeployedStack(stack.stackName);
  const names = completeNames(next.name, order.names, after?.names ?? []);
  if (isMissing(names)) {
    const reason = `the job cannot be watched: give ${names.join(', ')}`;
    return report('trouble', { reasons: [reason], wayBack });
  }
  return withDeployedJob(names, async (deployedJob) => {
    const job = await deployedJob.ports.control.readJob(next.name);
    if (job?.hold?.kind === 'unborn') {
      const note = `job ${next.name} waits for: holdfast clone`;
      return report('deployed', { notes: [...check.notes, note] });
    }
    const rules = rulesOf(order, Date.now());
    const { verdict } = await watchJob(deployedJob, nothingBefore, rules, undefined);
    return verdict.kind === 'well'
      ? report('deployed', { channels: verdict })
      : report('trouble', { reasons: verdict.reasons, wayBack });
  });
}

async function deployAgain(plan: Plan, there: Present): Promise<DeployReport> {
  const { order, stack, next, deployed } = plan;
  const { deployedJob } = there;
  const present = await interruptible(unchanged, () => readPresent(deployedJob));
  if (present === undefined) {
    const reason = `job ${next.name} has no item in control table ${there.names.controlTable}: if its tables are lost, bring it back with holdfast restore latest --tables-lost, and deploy then`;
    return reportOf(stack.id, next.name, 'refused', { reasons: [reason] });
  }
  const check = await interruptible(unchanged, () =>
    checkStack({ stack, next, deployed, present, removable: order.removable }),
  );
  const report = reporter(plan, check);
  if (check.problems.length > 0) return report('refused', { reasons: listProblems(check) });
  const label = nameSavepoint(Date.now());
  if (!(await isAgreed(plan, check, describePresent(plan, present, label)))) {
    return report('declined');
  }
  if (order.makesSavepoint) {
    const failure = await savepointBefore(plan, there, label);
    if (failure !== undefined) {
      const reason = `no savepoint could be made: ${failure}; mend that, or deploy without one by --no-savepoint`;
      return report('refused', { reasons: [reason] });
    }
  }
  const savepoint = order.makesSavepoint ? label : undefined;
  const before = await interruptible(unchanged, () => lookBefore(deployedJob, present.job));
  const previous = { stack: stack.id, folder: join('cdk.out', `before-${label}`) };
  writePreviousAssembly(stack, deployed!.templateText, previous.folder);
  const end = await deployWithCdk(plan);
  const known = { savepoint: savepoint ?? null };
  const facts = { previous, savepoint, names: there.names };
  if (isCutShort(end)) {
    const isCodeBack = end.signal === undefined && (await isBack(plan));
    const seen = await lookAtJob(deployedJob, before, []);
    const state = { hasMoved: hasMoved(before, seen), isCodeBack };
    const wayBack = findWayBack(wayBackFacts(plan, facts, state));
    return report(...describeEnd(plan, end, { ...known, wayBack }));
  }
  const trouble = await watchPresent(plan, there, before, present);
  if (!('reasons' in trouble)) {
    const expired = await expire(plan, there);
    const notes = [...check.notes, ...expired.notes];
    return report('deployed', { ...known, ...expired, notes, channels: trouble });
  }
  const state = { hasMoved: trouble.hasMoved, isCodeBack: false };
  const wayBack = wayBackFacts(plan, facts, state);
  const { reasons } = trouble;
  if (!order.rollsBack)
    return report('trouble', { ...known, reasons, wayBack: findWayBack(wayBack) });
  const gone = await rollBack({ ...there, before, facts: wayBack, cdk: order.cdk });
  return report(gone.failures.length === 0 ? 'rolled-back' : 'trouble', {
    ...known,
    reasons: [...reasons, ...gone.failures],
    wayBack: gone.wayBack,
  });
}

/** How the watch ended; whatever keeps us from watching is trouble, too. */
async function watchPresent(
  { order, next, deployed }: Plan,
  { deployedJob }: Present,
  before: Before,
  { manifest }: PresentJob,
): Promise<
  | { readonly committed: number; readonly quiet: number }
  | { readonly reasons: readonly string[]; readonly hasMoved: boolean }
> {
  const rules = rulesOf(order, Date.now(), settleMsOf(order, next, deployed));
  try {
    const { verdict, sight } = await watchJob(deployedJob, before, rules, manifest);
    if (verdict.kind === 'well') return { committed: verdict.committed, quiet: verdict.quiet };
    return { reasons: verdict.reasons, hasMoved: hasMoved(before, sight) };
  } catch (thrown) {
    return { reasons: [`the job cannot be watched: ${describeThrown(thrown)}`], hasMoved: true };
  }
}

function reporter({ stack, next }: Plan, { notes }: DeploymentCheck) {
  return (outcome: DeployReport['outcome'], known: Partial<DeployReport> = {}): DeployReport =>
    reportOf(stack.id, next.name, outcome, { notes, ...known });
}

function listProblems({ problems }: DeploymentCheck): string[] {
  return problems.map(({ text, remedy }) => `${text}: ${remedy}`);
}

/** Shows what is going to happen, and asks whoever is there. */
async function isAgreed(
  { order, stack, commit }: Plan,
  { notes }: DeploymentCheck,
  facts: readonly (readonly [string, string])[],
): Promise<boolean> {
  console.error(
    formatFacts([
      ['stack', stack.stackName],
      ...facts,
      ['commit', describeCommit(commit)],
      ...notes.map((note) => ['note', note] as const),
    ]),
  );
  return order.isConfirmed || confirm('\nThis deploys the stack. Go on?');
}

function describePresent(
  { order, next, deployed }: Plan,
  { job, manifest }: PresentJob,
  label: string,
): (readonly [string, string])[] {
  return [
    ['job', `${job.name}, in generation ${job.generation}`],
    [
      'compared with',
      manifest === undefined ? 'nothing' : `the state of ${manifest.kind} ${manifest.number}`,
    ],
    ...describeCode(next, deployed).map((line) => ['code', line] as const),
    ['savepoint', order.makesSavepoint ? label : 'none'],
  ];
}

/** Which operators get other code. */
function describeCode(next: TemplateJob, deployed: DeployedStack | undefined): string[] {
  const before = deployed?.jobs.find(({ name }) => name === next.name)?.code ?? [];
  return next.code.map(({ operator, asset = 'unknown' }) => {
    const old = before.find((one) => one.operator === operator)?.asset ?? 'none';
    return old === asset
      ? `${operator}, as it is deployed`
      : `${operator}, ${shorten(asset)} in place of ${shorten(old)}`;
  });
}

/** Enough of a hash for people. */
function shorten(asset: string): string {
  return asset.slice(0, 12);
}

/** @returns why there is none */
async function savepointBefore(
  { order, stack, next, deployed, commit }: Plan,
  { client, names }: Present,
  label: string,
): Promise<string | undefined> {
  const code = describeCode(next, deployed).join('; ');
  console.error(`making savepoint ${label} …`);
  try {
    return await makeSavepoint(client, {
      workflow: order.names.savepointWorkflow ?? names.savepointWorkflow,
      label,
      note: `before stack ${stack.stackName} was deployed from commit ${describeCommit(commit)}: ${code}`,
      tags: { stack: stack.stackName, ...(commit === undefined ? {} : { commit: commit.id }) },
    });
  } catch (thrown) {
    return describeThrown(thrown);
  }
}

function deployWithCdk({ order, stack }: Plan): Promise<CdkEnd> {
  return runCdk(order.cdk, [
    ...['deploy', stack.id, '--app', stack.folder],
    ...(order.isConfirmed ? ['--require-approval', 'never'] : []),
    ...order.cdkArguments,
  ]);
}

function isCutShort({ exitCode, signal }: CdkEnd): boolean {
  return exitCode !== 0 || signal !== undefined;
}

function describeEnd(
  { order }: Plan,
  { exitCode, signal }: CdkEnd,
  known: Partial<DeployReport>,
): readonly [DeployReport['outcome'], Partial<DeployReport>] {
  const cdk = `${order.cdk.text} deploy`;
  if (signal === undefined) {
    const reasons = [`${cdk} ended with ${exitCode}; the reason stands above`];
    return ['failed', { ...known, reasons }];
  }
  const reasons = [`${cdk} was stopped by ${signal}; see how far it came in CloudFormation`];
  return ['interrupted', { ...known, reasons, signal }];
}

/** The stack is as it was: CloudFormation has gone back, or has not begun. */
async function isBack({ stack, deployed }: Plan): Promise<boolean> {
  const now = await readDeployedStack(stack.stackName);
  if (now === undefined || now.status.endsWith('_IN_PROGRESS')) return false;
  return now.status.endsWith('ROLLBACK_COMPLETE') || now.templateText === deployed?.templateText;
}

function rulesOf(
  { watchMs, deadLettersMax }: DeployOrder,
  nowMs: number,
  settleMs = 0,
): WatchRules {
  const settledAtMs = nowMs + settleMs;
  return { settledAtMs, untilMs: settledAtMs + watchMs, deadLettersMax };
}

/** An invocation that has begun before a deployment runs the old code to its end. */
function settleMsOf(
  { settleMs }: DeployOrder,
  next: TemplateJob,
  deployed: DeployedStack | undefined,
): number {
  const before = deployed?.jobs.flatMap(({ code }) => code) ?? [];
  return settleMs ?? Math.max(0, ...[...before, ...next.code].map(({ timeoutMs }) => timeoutMs));
}

function wayBackFacts(
  { order, next, deployed }: Plan,
  facts: (Pick<WayBackFacts, 'previous' | 'savepoint'> & { readonly names: JobNames }) | undefined,
  state: Pick<WayBackFacts, 'hasMoved' | 'isCodeBack'>,
): WayBackFacts {
  return {
    previous: facts?.previous,
    savepoint: facts?.savepoint,
    ...state,
    settleMs: settleMsOf(order, next, deployed),
    cdk: order.cdk.text,
    workflowFunction: facts?.names.workflowFunction ?? '',
    restoreWorkflow: facts?.names.restoreWorkflow ?? '',
    connection: order.connection,
  };
}

/** Deletes what earlier deployments have left one too many. */
async function expire(
  { order }: Plan,
  { client, deployedJob }: Present,
): Promise<{ readonly deletedSavepoints: readonly string[]; readonly notes: readonly string[] }> {
  const { complete } = await readRegistry(deployedJob.ports);
  const expired = listExpired(complete, order.savepointsKept);
  const { deleted, notes } = await deleteSavepoints(client, expired);
  return { deletedSavepoints: deleted, notes };
}
