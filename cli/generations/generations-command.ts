import { InvalidArgumentError, type Command } from 'commander';
import type { DeletedState, JobDescription } from '../../shared/composition/aws/request-steps.ts';
import { confirm } from '../flush/confirm.ts';
import { formatTable } from '../table.ts';
import {
  addWorkflowFlags,
  withWorkflows,
  type WorkflowClient,
  type WorkflowFlags,
} from '../workflow/workflow-client.ts';

interface DeleteFlags extends WorkflowFlags {
  readonly yes: boolean;
}

/** `holdfast generations list|delete`. Exit code 1 where a generation may not be deleted, or it is not confirmed. */
export function addGenerationsCommand(program: Command): void {
  const command = program
    .command('generations')
    .description('look at the generations of a job: each restore begins a new one');
  addWorkflowFlags(command.command('list'))
    .description('list the generations of a job, oldest first')
    .action(async (flags: WorkflowFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => list(client, flags));
    });
  addWorkflowFlags(command.command('delete'))
    .description('delete the state of a generation that the job is not in')
    .argument('<generation>', 'its number', readGeneration)
    .option('--yes', 'do not ask', false)
    .action(async (generation: number, flags: DeleteFlags) => {
      process.exitCode = await withWorkflows(flags, (client) => remove(client, generation, flags));
    });
}

function readGeneration(text: string): number {
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number from 1');
}

async function list(client: WorkflowClient, { json }: WorkflowFlags): Promise<number> {
  const { generations } = await client.ask<JobDescription>('job.describe', {});
  console.log(
    json
      ? JSON.stringify(generations, undefined, 2)
      : formatTable(
          [
            { heading: 'GENERATION', isNumber: true },
            { heading: 'STATE' },
            { heading: 'PARENT', isNumber: true },
            { heading: 'MADE BY' },
            { heading: 'FROM' },
          ],
          generations.map(({ generation, state, parent, restore, manifest }) => [
            ...[String(generation), state, parent === 0 ? '-' : String(parent)],
            ...[restore === '' ? '-' : restore, manifest === '' ? '-' : manifest],
          ]),
        ),
  );
  return 0;
}

async function remove(
  client: WorkflowClient,
  generation: number,
  { yes, json }: DeleteFlags,
): Promise<number> {
  const question = `This deletes the state of generation ${generation} for ever; a restore does not need it. Go on?`;
  if (!yes && !(await confirm(question))) {
    console.error('holdfast: nothing was deleted');
    return 1;
  }
  let deletion: DeletedState = { isDone: false, operator: '', group: 0, items: 0, rounds: 0 };
  // Each call comes some key groups further.
  while (!deletion.isDone) {
    deletion = await client.ask<DeletedState>('generation.delete', { generation, deletion });
  }
  const { items } = deletion;
  console.log(
    json
      ? JSON.stringify({ generation, items }, undefined, 2)
      : `${items} items of generation ${generation} are deleted`,
  );
  return 0;
}
