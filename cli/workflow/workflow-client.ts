import { randomBytes } from 'node:crypto';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  type ExecutionListItem,
} from '@aws-sdk/client-sfn';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Command } from 'commander';
import { workflowSteps } from '../../shared/composition/aws/step-handler.ts';
import { STEP_ERROR_PREFIX, type RequestStep } from '../../shared/config/workflow-steps.ts';
import { HoldfastError, isHoldfastError, type ErrorKind } from '../../shared/core/errors.ts';
import {
  addConnectionFlags,
  mustHave,
  useConnection,
  type ConnectionFlags,
} from '../connection-flags.ts';

/** Longer than a step may run, ms. */
const requestTimeoutMs = 910_000;

/** What every command about savepoints and restores is told. */
export interface WorkflowFlags extends ConnectionFlags {
  readonly workflowFunction: string;
  readonly savepointWorkflow?: string;
  readonly restoreWorkflow?: string;
}

/** The workflows of a deployed job, and the function that does their steps. */
export interface WorkflowClient {
  readonly stepFunctions: SFNClient;
  /** Asks the function for something outside of a workflow. */
  ask<Answer>(step: RequestStep, input: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** Starts an execution. @returns its ARN */
  start(workflow: string, name: string, input: object): Promise<string>;
  listRunning(workflow: string): Promise<ExecutionListItem[]>;
}

/** The names are outputs of the job's stack. */
export function addWorkflowFlags(
  command: Command,
  workflow?: 'savepoint-workflow' | 'restore-workflow',
): Command {
  command.addOption(
    mustHave(
      '--workflow-function <name>',
      "the function of the job's workflows, by its name or ARN",
      'HOLDFAST_WORKFLOW_FUNCTION',
    ),
  );
  if (workflow !== undefined) {
    const variable = `HOLDFAST_${workflow.replace('-', '_').toUpperCase()}`;
    command.addOption(mustHave(`--${workflow} <arn>`, 'the ARN of its state machine', variable));
  }
  return addConnectionFlags(command);
}

/**
 * Runs a command over the workflows of a job.
 *
 * @returns its exit code: 1 where something refuses, with the reason on standard error
 */
export async function withWorkflows(
  flags: WorkflowFlags,
  run: (client: WorkflowClient) => Promise<number>,
): Promise<number> {
  useConnection(flags);
  try {
    return await withWorkflowClient(flags, run);
  } catch (thrown) {
    if (!isHoldfastError(thrown, 'invalid') && !isHoldfastError(thrown, 'conflict')) throw thrown;
    console.error(`holdfast: ${thrown.message}`);
    return 1;
  }
}

/** Opens the workflows of a job, and closes their connections behind the run. */
export async function withWorkflowClient<Result>(
  { workflowFunction }: Pick<WorkflowFlags, 'workflowFunction'>,
  run: (client: WorkflowClient) => Promise<Result>,
): Promise<Result> {
  const stepFunctions = new SFNClient();
  const lambda = new LambdaClient({
    requestHandler: new NodeHttpHandler({ requestTimeout: requestTimeoutMs }),
  });
  try {
    return await run({
      stepFunctions,
      ask: async <Answer>(step: RequestStep, input: Readonly<Record<string, unknown>>) =>
        (await askStep(lambda, workflowFunction, step, input)) as Answer,
      async start(stateMachineArn, name, input) {
        const command = { stateMachineArn, name, input: JSON.stringify(input) };
        const { executionArn } = await stepFunctions.send(new StartExecutionCommand(command));
        return executionArn!;
      },
      async listRunning(stateMachineArn) {
        const command = { stateMachineArn, statusFilter: 'RUNNING' } as const;
        return (await stepFunctions.send(new ListExecutionsCommand(command))).executions ?? [];
      },
    });
  } finally {
    stepFunctions.destroy();
    lambda.destroy();
  }
}

async function askStep(
  lambda: LambdaClient,
  FunctionName: string,
  step: RequestStep,
  input: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const Payload = new TextEncoder().encode(JSON.stringify({ step, ...input }));
  const reply = await lambda.send(new InvokeCommand({ FunctionName, Payload }));
  const text = new TextDecoder().decode(reply.Payload);
  if (reply.FunctionError === undefined) return workflowSteps[step].output.parse(JSON.parse(text));
  const { errorType = '', errorMessage = text } = JSON.parse(text) as Partial<
    Record<'errorType' | 'errorMessage', string>
  >;
  const kind = errorType.startsWith(STEP_ERROR_PREFIX)
    ? (errorType.slice(STEP_ERROR_PREFIX.length) as ErrorKind)
    : 'unavailable';
  throw new HoldfastError(kind, errorMessage);
}

/** Executions are named for people, and never twice. */
export function nameExecution(what: string): string {
  const unique = `${Date.now().toString(36)}-${randomBytes(3).toString('hex')}`;
  const readable = what.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replace(/^[-_]+/, '');
  return `${readable.slice(0, 50)}-${unique}`;
}
