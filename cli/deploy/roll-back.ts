import { setTimeout as sleep } from 'node:timers/promises';
import type { JobNames } from '../../shared/config/job-names.ts';
import { describeThrown } from '../../shared/core/errors.ts';
import type { WorkflowClient } from '../workflow/workflow-client.ts';
import { restoreSavepoint } from './deploy-savepoints.ts';
import type { DeployedJob } from './deployed-job.ts';
import { hasMoved } from './judge-watch.ts';
import { lookAtJob, type Before } from './look-at-job.ts';
import { interruptible, runCdk, type CdkCommand } from './run-cdk.ts';
import {
  findWayBack,
  previousDeployArguments,
  type WayBack,
  type WayBackFacts,
} from './way-back.ts';

export interface RollBackOrder {
  readonly names: JobNames;
  readonly deployedJob: DeployedJob;
  readonly client: WorkflowClient;
  readonly before: Before;
  readonly facts: WayBackFacts;
  readonly cdk: CdkCommand;
}

export interface RolledBack {
  /** Why the job is not back; empty where it is. */
  readonly failures: readonly string[];
  /** What was done, and what is left to be done by hand. */
  readonly wayBack: WayBack;
}

/**
 * Deploys what was deployed before, waits until no invocation of the new code can be at work any more, and restores the savepoint
 * where anything was committed meanwhile: an invocation that outlives the restore would read on in the new generation.
 */
export async function rollBack(order: RollBackOrder): Promise<RolledBack> {
  const { facts, cdk, names, client } = order;
  const { previous, savepoint } = facts;
  const fail = (failure: string, left: Partial<WayBackFacts> = {}): RolledBack => ({
    failures: [`the rollback failed: ${failure}`],
    wayBack: findWayBack({ ...facts, ...left }),
  });
  if (previous === undefined) return fail('there is nothing to go back to');
  console.error('going back to what was deployed before …');
  const end = await runCdk(cdk, previousDeployArguments(previous.stack, previous.folder));
  if (end.exitCode !== 0 || end.signal !== undefined) {
    return fail(`${cdk.text} deploy ended with ${end.exitCode}`);
  }
  try {
    const isMoved = await settle(order);
    const done = { ...facts, hasMoved: isMoved, isCodeBack: true };
    if (!isMoved)
      return { failures: [], wayBack: { ...findWayBack(done), kind: 'code', why: onlyCode } };
    if (savepoint === undefined) return fail('no savepoint was made before it', done);
    console.error(`restoring savepoint ${savepoint} …`);
    const failure = await restoreSavepoint(client, names.restoreWorkflow, savepoint);
    if (failure !== undefined) return fail(failure, done);
    return { failures: [], wayBack: { kind: 'restore', why: codeAndState, commands: [] } };
  } catch (thrown) {
    return fail(describeThrown(thrown), { isCodeBack: true, hasMoved: true });
  }
}

const onlyCode = 'the old code is in place, and the new one has committed nothing';
const codeAndState =
  'the old code is in place, and the savepoint was restored: what the new code has written is undone, and the records are processed again';

/** @returns true where something was committed since the deployment began */
async function settle({ facts, deployedJob, before }: RollBackOrder): Promise<boolean> {
  const message = 'the old code is in place, the savepoint is not restored';
  return interruptible(message, async () => {
    if (facts.hasMoved) {
      await sleep(facts.settleMs);
      return true;
    }
    await sleep(facts.settleMs);
    return hasMoved(before, await lookAtJob(deployedJob, before, []));
  });
}
