import type { Command } from 'commander';
import type { RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { addBeginFlags, beginRestore, type BeginFlags } from '../restore/begin-restore.ts';
import {
  addWorkflowFlags,
  nameExecution,
  withWorkflows,
  type WorkflowClient,
} from '../workflow/workflow-client.ts';

/** `holdfast clone`: exit code 1 where it is refused, not confirmed, or fails. Its flags are those of the job that begins. */
export function addCloneCommand(program: Command): void {
  const command = addWorkflowFlags(program.command('clone'), 'restore-workflow')
    .description(
      'let a job that was deployed with cloneOf begin, from a checkpoint or savepoint of the job that it clones, which goes on undisturbed',
    )
    .argument(
      '[from]',
      'latest, the number of a checkpoint, the name of a savepoint, or the name of a manifest object, of the job that is cloned',
      'latest',
    );
  addBeginFlags(command, 'clone').action(async (from: string, flags: BeginFlags) => {
    process.exitCode = await withWorkflows(flags, (client) => clone(client, from, flags));
  });
}

async function clone(client: WorkflowClient, from: string, flags: BeginFlags): Promise<number> {
  const name = nameExecution(`clone-${from}`);
  const ask = { from, restore: flags.name ?? name };
  const plan = await client.ask<RestorePlan>('clone.check', ask);
  return beginRestore(client, flags, {
    ...{ plan, name, order: { clones: true } },
    refusal: 'the job cannot begin with it',
    announcement: `This lets job ${plan.job} begin as a clone of job ${plan.cloned}, which goes on.`,
  });
}
