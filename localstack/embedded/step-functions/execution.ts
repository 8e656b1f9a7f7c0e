import type { SeededRandom } from '../seeded-random.ts';
import type { StateMachineDefinition } from './definition.ts';
import { createExecutionHistory, type ExecutionHistory } from './execution-history.ts';
import type { FlowHost, InvokeFunction } from './flow.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { pause, type Pause } from './pause.ts';
import { runFlow } from './run-flow.ts';
import { StateError } from './state-error.ts';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** One run of a state machine. */
export interface Execution {
  readonly arn: string;
  readonly name: string;
  /** JSON as it was given. */
  readonly input: string;
  readonly startMs: number;
  readonly history: ExecutionHistory;
  state(): ExecutionState;
  /** Ends it if it runs; functions that it has invoked go on. Returns when it ended. */
  stop(reason: ExecutionFailure): number;
  /** Resolves when nothing of it runs any more in this process. */
  readonly settled: Promise<void>;
}

export interface ExecutionFailure {
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
}

export interface ExecutionState extends ExecutionFailure {
  readonly status: ExecutionStatus;
  readonly stopMs?: number;
  /** JSON. */
  readonly output?: string;
}

/** What all executions share. */
export interface ExecutionHost {
  readonly region: string;
  readonly invoke: InvokeFunction;
  readonly nowMs: () => number;
  /** Passes the time of Wait states and before a retry. */
  readonly pause: Pause;
  readonly log: (line: string) => void;
}

export interface ExecutionRequest {
  readonly arn: string;
  readonly name: string;
  readonly input: string;
  readonly machine: {
    readonly arn: string;
    readonly name: string;
    readonly roleArn: string;
    readonly definition: StateMachineDefinition;
  };
  readonly random: SeededRandom;
}

/** Starts it at once. `input` is JSON. */
export function startExecution(request: ExecutionRequest, host: ExecutionHost): Execution {
  const { arn, name, input, machine } = request;
  const startMs = host.nowMs();
  const history = createExecutionHistory(host.nowMs);
  const ending = new AbortController();
  const data = JSON.parse(input) as JsonValue;
  const context: JsonObject = {
    Execution: {
      Id: arn,
      Input: data,
      Name: name,
      RoleArn: machine.roleArn,
      StartTime: new Date(startMs).toISOString(),
      RedriveCount: 0,
    },
    StateMachine: { Id: machine.arn, Name: machine.name },
  };
  let state: ExecutionState = { status: 'RUNNING' };

  /** The first one counts. */
  const end = (event: string, ended: Omit<ExecutionState, 'stopMs'>): void => {
    if (state.status !== 'RUNNING') return;
    state = { ...ended, stopMs: host.nowMs() };
    const { output, error, cause } = ended;
    history.end(`Execution${event}`, {
      ...(output !== undefined && { output, outputDetails: { truncated: false } }),
      ...(error !== undefined && { error }),
      ...(cause !== undefined && { cause }),
    });
    ending.abort(new Error(`execution ${name} has ended`));
    if (ended.status !== 'SUCCEEDED') {
      host.log(`execution ${name} ${ended.status}: ${error ?? ''} ${cause ?? ''}`.trimEnd());
    }
  };

  const cursor = { lastId: 0 };
  history.add(
    'ExecutionStarted',
    { input, inputDetails: { truncated: false }, roleArn: machine.roleArn },
    cursor,
  );
  const flowHost: FlowHost = { ...host, history, random: request.random, context };
  const flow = { host: flowHost, signal: ending.signal, cursor, map: undefined };
  const run = async (): Promise<void> => {
    try {
      const output = await runFlow(machine.definition, data, flow);
      end('Succeeded', { status: 'SUCCEEDED', output: JSON.stringify(output) });
    } catch (error) {
      end('Failed', { status: 'FAILED', ...failureOf(error) });
    }
  };
  const expire = async (timeoutSeconds: number): Promise<void> => {
    await pause(timeoutSeconds * 1_000, ending.signal).catch(() => undefined);
    // Of what has ended already, nothing changes.
    end('TimedOut', { status: 'TIMED_OUT', error: 'States.Timeout' });
  };
  const { timeoutSeconds } = machine.definition;
  const running = [run(), ...(timeoutSeconds === undefined ? [] : [expire(timeoutSeconds)])];

  return {
    arn,
    name,
    input,
    startMs,
    history,
    state: () => state,
    stop({ error, cause }) {
      end('Aborted', { status: 'ABORTED', error, cause });
      return state.stopMs ?? startMs;
    },
    settled: Promise.all(running).then(() => undefined),
  };
}

function failureOf(error: unknown): ExecutionFailure {
  if (error instanceof StateError) return { error: error.error, cause: error.cause };
  // A defect of this interpreter: let the reader see where.
  return { error: 'States.Runtime', cause: error instanceof Error ? error.stack : String(error) };
}
