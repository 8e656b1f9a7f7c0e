import { describeThrown } from '../../shared/core/errors.ts';
import type { ManifestReference } from '../../shared/core/registry.ts';
import type { RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { findObstacles } from '../restore/restore-plan.ts';
import { drillPrefix } from '../restore/begin-restore.ts';
import { followExecution } from '../workflow/follow-execution.ts';
import { nameExecution, type WorkflowClient } from '../workflow/workflow-client.ts';
import { interruptible } from './run-cdk.ts';

/** What a savepoint is called that is made before a deployment: no other is ever deleted by one. */
const labelPattern = /^deploy-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;

/** @param nowMs ms since the epoch */
export function nameSavepoint(nowMs: number): string {
  const time = new Date(nowMs).toISOString().replace(/\.\d+/, '').replaceAll(':', '-');
  return `deploy-${time}`;
}

export interface SavepointOrder {
  readonly workflow: string;
  readonly label: string;
  readonly note: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** Makes a savepoint. @returns why there is none; undefined where it was made */
export async function makeSavepoint(
  client: WorkflowClient,
  { workflow, label, note, tags }: SavepointOrder,
): Promise<string | undefined> {
  const [running] = await client.listRunning(workflow);
  if (running !== undefined) {
    return `${running.name} is running since ${running.startDate?.toISOString()}; follow it with: holdfast follow ${running.executionArn}`;
  }
  const input = { label, note, tags, stops: false };
  return runToEnd(client, await client.start(workflow, nameExecution(label), input));
}

/** Brings the job back to a savepoint. @returns why it could not; undefined where it is back */
export async function restoreSavepoint(
  client: WorkflowClient,
  workflow: string,
  label: string,
): Promise<string | undefined> {
  const restore = nameExecution(`restore-${label}`);
  const ask = { from: label, restore, areTablesLost: false, fromBackup: false };
  const plan = await client.ask<RestorePlan>('restore.check', ask);
  const obstacles = findObstacles(plan, { allowNonRestoredState: false, acceptGap: false });
  if (obstacles.length > 0) return obstacles.join('; ');
  const running = (await client.listRunning(workflow)).find(
    ({ name = '' }) => !name.startsWith(drillPrefix),
  );
  if (running !== undefined) return `${running.name} is running`;
  const input = {
    ...{ manifest: plan.object, restore, allowNonRestoredState: false, acceptsGaps: false },
    ...{ areTablesLost: false, fromBackup: false },
  };
  return runToEnd(client, await client.start(workflow, restore, input));
}

async function runToEnd(
  { stepFunctions }: WorkflowClient,
  execution: string,
): Promise<string | undefined> {
  // Ctrl-C is followExecution's own business.
  const { status, reason } = await interruptible(
    `the execution goes on; follow it with: holdfast follow ${execution}`,
    () => followExecution(stepFunctions, execution),
    { by: ['SIGTERM'] },
  );
  return status === 'SUCCEEDED' ? undefined : reason;
}

/**
 * The savepoints of deployments that are one too many, oldest first.
 *
 * @param keep how many stay, the newest ones
 */
export function listExpired(complete: readonly ManifestReference[], keep: number): string[] {
  const made = complete.filter(
    ({ kind, label }) => kind === 'savepoint' && labelPattern.test(label),
  );
  return made.slice(0, Math.max(0, made.length - keep)).map(({ label }) => label);
}

/** Deletes savepoints, as far as that is possible: one that is being read, or needed, stays. */
export async function deleteSavepoints(
  client: WorkflowClient,
  labels: readonly string[],
): Promise<{ readonly deleted: readonly string[]; readonly notes: readonly string[] }> {
  const deleted: string[] = [];
  const notes: string[] = [];
  for (const label of labels) {
    try {
      await client.ask('savepoint.delete', { label });
      deleted.push(label);
    } catch (thrown) {
      notes.push(`savepoint ${label} stays: ${describeThrown(thrown)}`);
    }
  }
  return { deleted, notes };
}
