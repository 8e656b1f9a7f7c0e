import { randomUUID } from 'node:crypto';

import type { Chaos } from '../chaos.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { createEnvironmentPool } from './environment-pool.ts';
import { environmentVariables, type ServiceEndpoints } from './environment-variables.ts';
import type { Environment, EnvironmentExit } from './environment.ts';
import type { FunctionSettings } from './function-settings.ts';
import type {
  FailedInvocation,
  InvocationResult,
  RejectedInvocation,
} from './invocation-result.ts';
import { RESPONSE_BYTES_MAX, type RuntimeReport } from './runtime-api.ts';

/** Lambda's limit for an event: 6 MB. */
export const PAYLOAD_BYTES_MAX = 6_291_456;

/** Real Lambda allows 10 s; a busy laptop is slower than a sandbox, and a false failure would look like a bug. */
const INIT_TIMEOUT_MS = 30_000;
/** A timed-out process was seen to live on for about 0.7 s; its requests may land when the retry already runs. */
const KILL_DELAY_MS_MAX = 1_000;

export interface FunctionStats {
  /** Invocations that reached an environment. */
  readonly invocations: number;
  /** The handler threw or could not be loaded, or its response was refused. */
  readonly errors: number;
  /** The environment ended during an invocation or while it started. */
  readonly crashes: number;
  readonly timeouts: number;
  readonly coldStarts: number;
  /** Invocations refused because too many ran. */
  readonly throttles: number;
}

export interface InvokeOptions {
  /** Kills the environment if the invocation still runs after this time. */
  readonly killAfterMs?: number;
  /** Called if that has happened. */
  readonly onKilled?: () => void;
}

/** A deployed function. */
export interface LambdaFunction {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  /** Runs the function on JSON text. Never throws for what the function does. */
  invoke(payload: string, options?: InvokeOptions): Promise<InvocationResult>;
  /** SIGKILL for every environment, busy or idle; returns how many there were. */
  kill(): number;
  stats(): FunctionStats;
  /** Process ids of the environments that live. */
  pids(): number[];
  /** Kills what runs, waits until it is gone, refuses later invocations. */
  stop(): Promise<void>;
}

export interface LambdaHost {
  readonly region: string;
  readonly endpoints: ServiceEndpoints;
  readonly random: SeededRandom;
  readonly chaos: Chaos;
  readonly log: (line: string) => void;
}

export function createLambdaFunction(
  logicalId: string,
  settings: FunctionSettings,
  host: LambdaHost,
): LambdaFunction {
  const random = host.random.fork(`function ${logicalId}`);
  const counts = { invocations: 0, errors: 0, crashes: 0, timeouts: 0, throttles: 0 };
  let running = 0;
  let isStopped = false;
  const pool = createEnvironmentPool({
    settings,
    random,
    chaos: host.chaos,
    variables: (runtimeApi) =>
      environmentVariables(settings, {
        region: host.region,
        endpoints: host.endpoints,
        runtimeApi,
        logStreamName: randomUUID(),
      }),
    log: (line) => host.log(`[${settings.functionName}] ${line}`),
  });

  const run = async (payload: string, call: Call): Promise<RunOutcome> => {
    const environment = await pool.acquire();
    call.logTail = environment.logTail;
    const initialized = await withTimeout(environment.initialized, INIT_TIMEOUT_MS);
    if (initialized === 'timeout' || initialized.kind !== 'ready') {
      environment.kill();
      return initialized === 'timeout'
        ? { kind: 'timeout', what: `loading ${settings.handler}`, afterMs: INIT_TIMEOUT_MS }
        : initialized.kind === 'error'
          ? { ...initialized, kind: 'init-error' }
          : initialized;
    }
    counts.invocations += 1;
    const killTimer = scheduleKill(environment, call.options);
    const outcome = await withTimeout(
      environment.run({
        requestId: call.requestId,
        payload,
        deadlineMs: Date.now() + settings.timeoutMs,
        functionArn: settings.functionArn,
      }),
      settings.timeoutMs,
    );
    clearTimeout(killTimer);
    if (outcome === 'timeout') {
      killLater(environment, random.integerBelow(KILL_DELAY_MS_MAX));
      return { kind: 'timeout', what: 'Task', afterMs: settings.timeoutMs };
    }
    pool.release(environment);
    return outcome;
  };

  const count = (failure: FailedInvocation): void => {
    if (failure.reason === 'timeout') counts.timeouts += 1;
    else if (failure.reason === 'crash') counts.crashes += 1;
    else counts.errors += 1;
  };

  return {
    logicalId,
    name: settings.functionName,
    arn: settings.functionArn,
    roleArn: settings.roleArn,
    async invoke(payload, options = {}) {
      const call: Call = { requestId: randomUUID(), options, logTail: () => [] };
      const concurrencyMax = settings.concurrencyMax;
      const rejection = admit(payload, { isStopped, running, concurrencyMax });
      if (rejection !== undefined) {
        if (rejection.reason === 'throttled') counts.throttles += 1;
        return { kind: 'rejected', requestId: call.requestId, ...rejection };
      }
      running += 1;
      const outcome = await run(payload, call).finally(() => (running -= 1));
      const result = resultOf(outcome, call);
      if (result.kind !== 'failed') return result;
      if (isStopped) return { kind: 'rejected', requestId: call.requestId, ...stopped };
      count(result);
      return result;
    },
    kill: () => pool.kill(),
    stats: () => ({ ...counts, coldStarts: pool.coldStarts() }),
    pids: () => pool.pids(),
    stop() {
      isStopped = true;
      return pool.stop();
    },
  };
}

/** What belongs to one invocation. */
interface Call {
  readonly requestId: string;
  readonly options: InvokeOptions;
  logTail: () => readonly string[];
}

type RunOutcome =
  | RuntimeReport
  | EnvironmentExit
  | { readonly kind: 'init-error'; readonly errorType: string; readonly errorMessage: string }
  | { readonly kind: 'timeout'; readonly what: string; readonly afterMs: number };

function resultOf(outcome: RunOutcome, call: Call): InvocationResult {
  const fail = (
    failure: Pick<FailedInvocation, 'reason' | 'errorType' | 'errorMessage'>,
  ): InvocationResult => ({
    kind: 'failed',
    requestId: call.requestId,
    ...failure,
    logTail: call.logTail(),
  });
  switch (outcome.kind) {
    case 'response':
      return { kind: 'success', requestId: call.requestId, payload: outcome.payload };
    case 'error':
    case 'init-error':
      return fail({
        reason: outcome.kind === 'error' ? 'function-error' : 'init-error',
        errorType: outcome.errorType,
        errorMessage: outcome.errorMessage,
      });
    case 'response-too-large':
      return fail({
        reason: 'response-too-large',
        errorType: 'Function.ResponseSizeTooLarge',
        errorMessage: `the response has ${outcome.bytes} bytes, at most ${RESPONSE_BYTES_MAX} are allowed`,
      });
    case 'exit':
      return fail({
        reason: 'crash',
        errorType: 'Runtime.ExitError',
        errorMessage: `Runtime exited with error: ${outcome.how}`,
      });
    case 'timeout':
      return fail({
        reason: 'timeout',
        errorType: 'Sandbox.Timedout',
        errorMessage: `${outcome.what} timed out after ${(outcome.afterMs / 1_000).toFixed(2)} seconds`,
      });
  }
}

const stopped = { reason: 'stopped', errorMessage: 'the local AWS is stopping' } as const;

function admit(
  payload: string,
  state: { isStopped: boolean; running: number; concurrencyMax: number },
): Pick<RejectedInvocation, 'reason' | 'errorMessage'> | undefined {
  if (state.isStopped) return stopped;
  const bytes = Buffer.byteLength(payload);
  if (bytes > PAYLOAD_BYTES_MAX) {
    const errorMessage = `the event has ${bytes} bytes, at most ${PAYLOAD_BYTES_MAX} are allowed; send less`;
    return { reason: 'payload-too-large', errorMessage };
  }
  if (state.running >= state.concurrencyMax) {
    const errorMessage = `Rate exceeded: ${state.running} invocations run, at most ${state.concurrencyMax} may`;
    return { reason: 'throttled', errorMessage };
  }
  return undefined;
}

function scheduleKill(
  environment: Environment,
  options: InvokeOptions,
): NodeJS.Timeout | undefined {
  if (options.killAfterMs === undefined) return undefined;
  return setTimeout(() => {
    environment.kill();
    options.onKilled?.();
  }, options.killAfterMs);
}

function killLater(environment: Environment, delayMs: number): void {
  const timer = setTimeout(() => environment.kill(), delayMs);
  void environment.exited.then(() => clearTimeout(timer));
}

async function withTimeout<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
): Promise<Value | 'timeout'> {
  const expiry = Promise.withResolvers<'timeout'>();
  const timer = setTimeout(() => expiry.resolve('timeout'), timeoutMs);
  try {
    return await Promise.race([promise, expiry.promise]);
  } finally {
    clearTimeout(timer);
  }
}
