import type { Command } from 'commander';
import type { JobDescription, RestorePlan } from '../../shared/composition/aws/request-steps.ts';
import { confirm } from '../flush/confirm.ts';
import {
  addWorkflowFlags,
  withWorkflows,
  type WorkflowClient,
  type WorkflowFlags,
} from '../workflow/workflow-client.ts';

interface ResumeFlags extends WorkflowFlags {
  readonly yes: boolean;
}

/** `holdfast resume`: exit code 1 where something else holds the job, or records are lost and it is not confirmed. */
export function addResumeCommand(program: Command): void {
  addWorkflowFlags(program.command('resume'))
    .description('let a job go on that savepoint create --stop has stopped')
    .option('--yes', 'do not ask, even where records have left the stream meanwhile', false)
    .action(async (flags: ResumeFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => resume(client, flags));
    });
}

async function resume(client: WorkflowClient, { yes, json }: ResumeFlags): Promise<number> {
  const { hold } = await client.ask<JobDescription>('job.describe', {});
  if (hold?.kind === 'stopped' && !yes) {
    const ask = { from: hold.owner, restore: 'resume', areTablesLost: false };
    const { gaps } = await client.ask<RestorePlan>('restore.check', ask);
    for (const gap of gaps) console.error(`holdfast: ${gap}`);
    if (gaps.length > 0 && !(await confirm('Channels with a gap will stand still. Go on?'))) {
      console.error('holdfast: the job stays stopped');
      return 1;
    }
  }
  const resumed = await client.ask<{ readonly generation: number }>('job.resume', {});
  console.log(
    json
      ? JSON.stringify(resumed, undefined, 2)
      : hold === null
        ? `the job runs already, in generation ${resumed.generation}`
        : `the job goes on in generation ${resumed.generation}`,
  );
  return 0;
}
