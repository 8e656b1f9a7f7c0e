import type { InvocationResult } from '../lambda/invocation-result.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { ExecutionHistory, HistoryCursor } from './execution-history.ts';
import type { JsonObject } from './json-value.ts';
import type { Pause } from './pause.ts';

/** Invokes a function by name, partial ARN or ARN; undefined if there is none. */
export type InvokeFunction = (
  functionName: string,
  payload: string,
) => Promise<InvocationResult> | undefined;

/** What all flows of one execution share. */
export interface FlowHost {
  readonly region: string;
  readonly invoke: InvokeFunction;
  readonly history: ExecutionHistory;
  readonly random: SeededRandom;
  readonly nowMs: () => number;
  /** Passes the time of Wait states and before a retry. */
  readonly pause: Pause;
  /** `$$` without what belongs to a state. */
  readonly context: JsonObject;
}

/** One line of states that runs by itself: the execution, or one iteration of a Map. */
export interface Flow {
  readonly host: FlowHost;
  /** Its reason is no StateError: neither Retry nor Catch may hold up what is aborted. */
  readonly signal: AbortSignal;
  readonly cursor: HistoryCursor;
  /** `$$.Map`, in an iteration. */
  readonly map: JsonObject | undefined;
}
