import { parseTimestampMs } from './choice-rules.ts';
import type { MapState, State, StateGraph, TaskState, WaitState } from './definition.ts';
import type { Flow } from './flow.ts';
import type { Scope } from './json-path.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';
import { findRule, RetryCounter } from './retry-rules.ts';
import { runMap } from './run-map.ts';
import { runTask } from './run-task.ts';
import { limitSize, runtimeError, showData, StateError } from './state-error.ts';

/** Runs states until one ends the graph; returns its output. Throws StateError, or the reason of the signal. */
export async function runFlow(graph: StateGraph, input: JsonValue, flow: Flow): Promise<JsonValue> {
  let data = input;
  for (let name: string | undefined = graph.startAt; name !== undefined;) {
    flow.signal.throwIfAborted();
    const state = graph.states.get(name);
    if (state === undefined) throw new Error(`state "${name}" was checked but is not there`);
    const { output, next }: Outcome = await runState(state, data, flow);
    data = output;
    name = next;
  }
  return data;
}

interface Outcome {
  readonly output: JsonValue;
  /** The state that follows; undefined where the graph ends. */
  readonly next: string | undefined;
}

async function runState(state: State, rawInput: JsonValue, flow: Flow): Promise<Outcome> {
  const { history, nowMs } = flow.host;
  const enteredId = history.add(
    `${state.type}StateEntered`,
    { name: state.name, input: JSON.stringify(rawInput), inputDetails: { truncated: false } },
    flow.cursor,
  );
  const enteredTime = new Date(nowMs()).toISOString();
  const retries = new RetryCounter('retriers' in state ? state.retriers : []);
  for (;;) {
    const context = {
      ...flow.host.context,
      State: { Name: state.name, EnteredTime: enteredTime, RetryCount: retries.count },
      ...(flow.map !== undefined && { Map: flow.map }),
    };
    try {
      const outcome = await attempt(state, { rawInput, context, flow });
      limitSize(outcome.output, state.name);
      return leave(state, outcome, flow);
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      const delaySeconds = retries.nextDelaySeconds(error, flow.host.random);
      if (delaySeconds === undefined) {
        return leave(state, handOver(state, rawInput, located(error, state, enteredId)), flow);
      }
      await flow.host.pause(delaySeconds * 1_000, flow.signal);
    }
  }
}

function leave(state: State, outcome: Outcome, { host, cursor }: Flow): Outcome {
  host.history.add(
    `${state.type}StateExited`,
    {
      name: state.name,
      output: JSON.stringify(outcome.output),
      outputDetails: { truncated: false },
    },
    cursor,
  );
  return outcome;
}

/** To the state that the first matching Catch names; throws the error if there is none. */
function handOver(state: State, rawInput: JsonValue, error: StateError): Outcome {
  const catcher = findRule('catchers' in state ? state.catchers : [], error);
  if (catcher === undefined) throw error;
  const report = { Error: error.error ?? '', Cause: error.cause ?? '' };
  return {
    output: limitSize(catcher.putResult(rawInput, report), state.name),
    next: catcher.next,
  };
}

/** Says where a state's data did not fit, as the service does; of nested states the innermost has said it. */
function located(error: StateError, state: State, enteredId: number): StateError {
  const prefix = 'An error occurred while executing the state ';
  if (error.error !== 'States.Runtime' || error.cause?.startsWith(prefix) === true) return error;
  return runtimeError(
    `${prefix}'${state.name}' (entered at the event id #${enteredId}). ${error.cause ?? ''}`,
  );
}

interface Attempt {
  readonly rawInput: JsonValue;
  readonly context: JsonObject;
  readonly flow: Flow;
}

async function attempt(state: State, { rawInput, context, flow }: Attempt): Promise<Outcome> {
  const scope: Scope = { data: state.selectInput({ data: rawInput, context }), context };
  const next = 'next' in state ? state.next : undefined;
  const finish = (result: JsonValue): Outcome => ({
    output: state.selectOutput({ data: result, context }),
    next,
  });
  switch (state.type) {
    case 'Pass': {
      const parameters = limitSize(state.parameters(scope), state.name);
      const result = state.result === undefined ? parameters : state.result;
      return finish(state.putResult(rawInput, result));
    }
    case 'Task':
      return finish(shape(state, rawInput, context, await runTask(state, scope, flow)));
    case 'Map':
      return finish(shape(state, rawInput, context, await runMap(state, scope, flow, runFlow)));
    case 'Choice': {
      const choice = state.choices.find(({ condition }) => condition(scope));
      const chosen = choice?.next ?? state.fallback;
      if (chosen !== undefined) return { ...finish(scope.data), next: chosen };
      throw new StateError(
        'States.NoChoiceMatched',
        `No Choice rule of state '${state.name}' matched and there is no Default.`,
      );
    }
    case 'Wait':
      await flow.host.pause(waitMs(state, scope, flow), flow.signal);
      return finish(scope.data);
    case 'Succeed':
      return finish(scope.data);
    case 'Fail':
      throw new StateError(
        textOf(state.error?.(scope), 'ErrorPath'),
        textOf(state.cause?.(scope), 'CausePath'),
      );
  }
}

/** ResultSelector, then ResultPath. */
function shape(
  state: TaskState | MapState,
  rawInput: JsonValue,
  context: JsonObject,
  result: JsonValue,
): JsonValue {
  const selected = state.selectResult({ data: limitSize(result, state.name), context });
  return state.putResult(rawInput, selected);
}

function waitMs(state: WaitState, scope: Scope, flow: Flow): number {
  if (state.until.kind === 'seconds') {
    const seconds = state.until.seconds(scope);
    if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0) {
      return seconds * 1_000;
    }
    throw runtimeError(`SecondsPath gives ${showData(seconds)}, expected an integer from 0`);
  }
  const timestamp = state.until.timestamp(scope);
  const timeMs = parseTimestampMs(timestamp);
  if (timeMs !== undefined) return Math.max(0, timeMs - flow.host.nowMs());
  throw runtimeError(`TimestampPath gives ${showData(timestamp)}, expected an RFC 3339 timestamp`);
}

function textOf(value: JsonValue | undefined, field: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw runtimeError(
    `${field} gives ${isJsonObject(value) ? 'an object' : showData(value)}, expected a text`,
  );
}
