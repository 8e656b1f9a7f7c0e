import { follow } from './follow-command.ts';
import type { WorkflowClient } from './workflow-client.ts';

export interface Start {
  readonly workflow: string;
  readonly name: string;
  readonly input: object;
  readonly json: boolean;
  /** Of the executions that run, those beside which this one may not be started. @default all */
  readonly excludes?: (name: string) => boolean;
}

/**
 * Starts an execution, where none runs beside which it may not, and follows it.
 *
 * @returns the exit code
 */
export async function startAlone(client: WorkflowClient, start: Start): Promise<number> {
  const { workflow, name, input, json, excludes = () => true } = start;
  const running = (await client.listRunning(workflow)).find((one) => excludes(one.name ?? ''));
  if (running !== undefined) {
    console.error(
      `holdfast: ${running.name} is running since ${running.startDate?.toISOString()}; follow it with: holdfast follow ${running.executionArn}`,
    );
    return 1;
  }
  const execution = await client.start(workflow, name, input);
  console.error(`execution ${execution}`);
  return follow(client, execution, json);
}
