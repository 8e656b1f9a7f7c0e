import { GetExecutionHistoryCommand, ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { firstDifference, type Finding, type Need, type Probe } from '../finding.ts';
import {
  judgeCatch,
  judgeFailedExecution,
  judgeFinalError,
  judgeFlow,
  judgeRetries,
  type ExecutionEnd,
} from './judge-execution.ts';
import { awaitEnd, startExecution, type WorkflowBed } from './workflow-bed.ts';

const need: Need = { kind: 'needed', text: 'savepoints, restores, drills, clones' };

/** Waits for the one execution that succeeds, which is started once. */
async function succeed(bed: WorkflowBed): Promise<{
  readonly end: ExecutionEnd;
  readonly name: string;
  readonly tookMs: number;
}> {
  const started = (bed.succeeding ??= await startExecution(bed, 'succeeds'));
  const end = await awaitEnd(bed, started);
  const stoppedAtMs = end.stopDate?.getTime() ?? Date.now();
  const startedAtMs = end.startDate?.getTime() ?? started.startedAtMs;
  return { end, name: started.name, tookMs: stoppedAtMs - startedAtMs };
}

const timeLimitMs = 60_000;

const flow: Probe<WorkflowBed> = {
  capability: 'choices, loops, parts (inline Map), paths, the context object',
  need,
  timeLimitMs,
  run: async (bed) => {
    const { end, name } = await succeed(bed);
    return judgeFlow(end, name);
  },
};

const retries: Probe<WorkflowBed> = {
  capability: 'errors that pass are tried again, with growing pauses',
  need,
  timeLimitMs,
  run: async (bed) => {
    const { end, tookMs } = await succeed(bed);
    return judgeRetries(end, tookMs);
  },
};

const catches: Probe<WorkflowBed> = {
  capability: 'errors are caught when all tries are used up',
  need: { kind: 'needed', text: 'a restore that fails leaves the job as it was' },
  timeLimitMs,
  run: async (bed) => judgeCatch((await succeed(bed)).end),
};

const finalErrors: Probe<WorkflowBed> = {
  capability: 'final errors are known by name, and caught at once',
  need: {
    kind: 'adapted',
    text: 'what is final is then tried again for some minutes before it is given up',
  },
  timeLimitMs,
  run: async (bed) => judgeFinalError((await succeed(bed)).end),
};

const failedExecutions: Probe<WorkflowBed> = {
  capability: 'a failed execution tells its error and cause',
  need,
  timeLimitMs,
  run: async (bed) => judgeFailedExecution(await awaitEnd(bed, await startExecution(bed, 'fails'))),
};

const listing: Probe<WorkflowBed> = {
  capability: 'executions are listed by status',
  need: { kind: 'needed', text: 'no two restores at once' },
  timeLimitMs,
  run: probeListing,
};

const history: Probe<WorkflowBed> = {
  capability: 'the history names the states that were entered',
  need: { kind: 'optional', text: 'progress on terminals' },
  timeLimitMs,
  run: async (bed) => {
    await succeed(bed);
    const { events = [] } = await bed.client.send(
      new GetExecutionHistoryCommand({ executionArn: bed.succeeding!.arn, maxResults: 1_000 }),
    );
    const entered = events.map((event) => event.stateEnteredEventDetails?.name);
    const lost = ['Count', 'Parts', 'Done'].filter((state) => !entered.includes(state));
    return firstDifference([
      ...([lost.length === 0, 'Count, Parts and Done entered'] as const),
      `no ${lost.join(', ')}`,
    ]);
  },
};

export const workflowProbes = [
  ...[flow, retries, catches, finalErrors],
  ...[failedExecutions, listing, history],
];

async function probeListing(bed: WorkflowBed): Promise<Finding> {
  const running = await startExecution(bed, 'succeeds');
  const list = async (statusFilter: 'RUNNING' | 'SUCCEEDED'): Promise<boolean> => {
    const command = { stateMachineArn: bed.machineArn, statusFilter };
    const { executions = [] } = await bed.client.send(new ListExecutionsCommand(command));
    return executions.some(({ name }) => name === running.name);
  };
  // It takes three seconds at least.
  const [isRunning, isDoneEarly] = [await list('RUNNING'), await list('SUCCEEDED')];
  const { status } = await awaitEnd(bed, running);
  const isRunningStill = await list('RUNNING');
  return firstDifference(
    [isRunning, 'one that was just started among those that run', 'not there'],
    [!isDoneEarly, 'it is not among those that have succeeded', 'it is'],
    [!isRunningStill, `none that runs after it is ${status}`, 'it still runs'],
  );
}
