import type { Command } from 'commander';
import type { RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { confirm } from '../flush/confirm.ts';
import { drillPrefix } from '../restore/restore-command.ts';
import { findObstacles, formatPlan, type RestoreAllowances } from '../restore/restore-plan.ts';
import { startAlone } from '../workflow/start-alone.ts';
import {
  addWorkflowFlags,
  nameExecution,
  withWorkflows,
  type WorkflowClient,
  type WorkflowFlags,
} from '../workflow/workflow-client.ts';

interface CloneFlags extends WorkflowFlags, RestoreAllowances {
  readonly restoreWorkflow: string;
  readonly yes: boolean;
  readonly name?: string;
}

/** `holdfast clone`: exit code 1 where it is refused, not confirmed, or fails. Its flags are those of the job that begins. */
export function addCloneCommand(program: Command): void {
  addWorkflowFlags(program.command('clone'), 'restore-workflow')
    .description(
      'let a job that was deployed with cloneOf begin, from a checkpoint or savepoint of the job that it clones, which goes on undisturbed',
    )
    .argument(
      '[from]',
      'latest, the number of a checkpoint, the name of a savepoint, or the name of a manifest object, of the job that is cloned',
      'latest',
    )
    .option(
      '--allow-non-restored-state',
      'leave state behind that the code does not declare',
      false,
    )
    .option('--accept-gap', 'go on without records that have left the stream unread', false)
    .option('--name <clone>', 'go on with a clone of this name that has not finished')
    .option('--yes', 'do not ask', false)
    .action(async (from: string, flags: CloneFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => clone(client, from, flags));
    });
}

async function clone(client: WorkflowClient, from: string, flags: CloneFlags): Promise<number> {
  const name = nameExecution(`clone-${from}`);
  const restore = flags.name ?? name;
  const plan = await client.ask<RestorePlan>('clone.check', { from, restore });
  console.error(formatPlan(plan));
  const obstacles = findObstacles(plan, flags);
  if (obstacles.length > 0) {
    console.error(`\nholdfast: the job cannot begin with it:\n- ${obstacles.join('\n- ')}`);
    return 1;
  }
  const question = `\nThis lets job ${plan.job} begin as a clone of job ${plan.cloned}, which goes on. Go on?`;
  if (!flags.yes && !(await confirm(question))) {
    console.error('holdfast: nothing was changed');
    return 1;
  }
  return startAlone(client, {
    ...{ workflow: flags.restoreWorkflow, name, json: flags.json },
    excludes: (running) => !running.startsWith(drillPrefix),
    input: {
      ...{ manifest: plan.object, restore, clones: true },
      allowNonRestoredState: flags.allowNonRestoredState,
      acceptsGaps: flags.acceptGap,
    },
  });
}
