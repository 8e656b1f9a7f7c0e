import type { Command } from 'commander';
import type { InspectedCopies } from '../../shared/composition/aws/inspect-copies.ts';
import type { RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { confirm } from '../flush/confirm.ts';
import { startAlone } from '../workflow/start-alone.ts';
import type { WorkflowClient, WorkflowFlags } from '../workflow/workflow-client.ts';
import { findObstacles, formatPlan, type RestoreAllowances } from './restore-plan.ts';

/** Drills run in the same workflow, and beside anything. */
export const drillPrefix = 'drill-';

export const dropStateFlag = [
  '--allow-non-restored-state',
  'leave state behind that the code does not declare',
] as const;

/** What a restore and a clone can be told alike. */
export interface BeginFlags extends WorkflowFlags, RestoreAllowances {
  readonly restoreWorkflow: string;
  readonly yes: boolean;
  readonly name?: string;
}

/** @param kind what is begun, for those who read the help */
export function addBeginFlags(command: Command, kind: 'restore' | 'clone'): Command {
  return command
    .option(...dropStateFlag, false)
    .option('--accept-gap', 'go on without records that have left the stream unread', false)
    .option(`--name <${kind}>`, `go on with a ${kind} of this name that has not finished`)
    .option('--yes', 'do not ask', false);
}

export interface Beginning {
  readonly plan: RestorePlan;
  /** What was found of its objects, where the backup is read, too. */
  readonly copies?: InspectedCopies | undefined;
  /** What cannot be done with it, as `the job cannot be restored from it`. */
  readonly refusal: string;
  /** What is going to happen, as a sentence. */
  readonly announcement: string;
  /** Of the execution. */
  readonly name: string;
  /** What the order says besides the manifest and the flags. */
  readonly order: object;
}

/**
 * Shows the plan, refuses what stands against it, asks whoever is there, and starts the workflow.
 *
 * @returns the exit code: 1 where it is refused, not confirmed, or fails
 */
export async function beginRestore(
  client: WorkflowClient,
  flags: BeginFlags,
  { plan, copies, refusal, announcement, name, order }: Beginning,
): Promise<number> {
  console.error(formatPlan(plan, copies));
  const obstacles = findObstacles(plan, flags, copies);
  if (obstacles.length > 0) {
    console.error(`\nholdfast: ${refusal}:\n- ${obstacles.join('\n- ')}`);
    return 1;
  }
  if (!flags.yes && !(await confirm(`\n${announcement} Go on?`))) {
    console.error('holdfast: nothing was changed');
    return 1;
  }
  return startAlone(client, {
    ...{ workflow: flags.restoreWorkflow, name, json: flags.json },
    excludes: (running) => !running.startsWith(drillPrefix),
    input: {
      manifest: plan.object,
      restore: flags.name ?? name,
      allowNonRestoredState: flags.allowNonRestoredState,
      acceptsGaps: flags.acceptGap,
      ...order,
    },
  });
}
