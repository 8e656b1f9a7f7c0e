import type { Command } from 'commander';
import type { RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { drillPrefix, dropStateFlag } from '../restore/begin-restore.ts';
import { fromBackupFlag, inspectBackup } from '../restore/inspect-backup.ts';
import { findObstacles, formatPlan } from '../restore/restore-plan.ts';
import { startAlone } from '../workflow/start-alone.ts';
import {
  addWorkflowFlags,
  nameExecution,
  withWorkflows,
  type WorkflowClient,
  type WorkflowFlags,
} from '../workflow/workflow-client.ts';

interface DrillFlags extends WorkflowFlags {
  readonly restoreWorkflow: string;
  readonly allowNonRestoredState: boolean;
  readonly fromBackup: boolean;
}

/** `holdfast drill`: exit code 1 where a restore from it would be refused, or what was loaded is not what was stored. */
export function addDrillCommand(program: Command): void {
  addWorkflowFlags(program.command('drill'), 'restore-workflow')
    .description(
      'restore for practice: load a checkpoint or savepoint beside the running job, compare it key by key, tell how long it took, and delete it again',
    )
    .argument(
      '<from>',
      'latest, the number of a checkpoint, the name of a savepoint, or the name of a manifest object',
    )
    .option(...dropStateFlag, false)
    .option(...fromBackupFlag, false)
    .action(async (from: string, flags: DrillFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => drill(client, from, flags));
    });
}

async function drill(client: WorkflowClient, from: string, flags: DrillFlags): Promise<number> {
  const { restoreWorkflow: workflow, allowNonRestoredState, fromBackup, json } = flags;
  const name = nameExecution(`${drillPrefix}${from}`);
  const copies = fromBackup ? await inspectBackup(client, from, false) : undefined;
  const ask = { from, restore: name, areTablesLost: false, fromBackup };
  const plan = await client.ask<RestorePlan>('restore.check', ask);
  console.error(formatPlan(plan, copies));
  // Nothing is read again, so that a gap is no obstacle.
  const obstacles = findObstacles(plan, { allowNonRestoredState, acceptGap: true }, copies);
  if (obstacles.length > 0) {
    console.error(`\nholdfast: a restore would be refused:\n- ${obstacles.join('\n- ')}`);
    return 1;
  }
  const input = {
    ...{ manifest: plan.object, allowNonRestoredState, fromBackup },
    ...{ acceptsGaps: true, dryRun: true },
  };
  return startAlone(client, { workflow, name, input, json, excludes: () => false });
}
