import type { Command } from 'commander';
import { SFNClient } from '@aws-sdk/client-sfn';
import { addConnectionFlags, useConnection, type ConnectionFlags } from '../connection-flags.ts';
import { formatFacts } from '../table.ts';
import { followExecution } from './follow-execution.ts';
import type { WorkflowClient } from './workflow-client.ts';

/** `holdfast follow`: exit code 1 where the execution fails. */
export function addFollowCommand(program: Command): void {
  addConnectionFlags(program.command('follow'))
    .description('follow a savepoint, restore or drill that is running')
    .argument('<execution>', 'the ARN of its execution')
    .action(async (execution: string, flags: ConnectionFlags) => {
      useConnection(flags);
      const stepFunctions = new SFNClient();
      process.exitCode = await follow({ stepFunctions }, execution, flags.json);
      stepFunctions.destroy();
    });
}

/** Follows an execution and prints what it gives. @returns the exit code */
export async function follow(
  { stepFunctions }: Pick<WorkflowClient, 'stepFunctions'>,
  execution: string,
  json: boolean,
): Promise<number> {
  const { status, output, reason } = await followExecution(stepFunctions, execution);
  if (status !== 'SUCCEEDED') {
    console.error(`holdfast: ${reason}`);
    return 1;
  }
  console.log(json ? JSON.stringify(output, undefined, 2) : formatOutput(output));
  return 0;
}

function formatOutput(output: unknown): string {
  const facts = Object.entries(output as Readonly<Record<string, unknown>>).map(
    ([name, value]) => [spell(name), show(value)] as const,
  );
  return formatFacts(facts.filter(([, value]) => value !== ''));
}

/** `megabytesPerSecond` as `megabytes per second`. */
function spell(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function show(value: unknown): string {
  if (typeof value === 'number') {
    return value.toLocaleString('en-US', { maximumFractionDigits: 3, useGrouping: true });
  }
  return Array.isArray(value) ? value.join(', ') : String(value);
}
