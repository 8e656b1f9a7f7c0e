import type { MapState, StateGraph } from './definition.ts';
import { ITERATIONS_MAX } from './definition-reader.ts';
import type { HistoryCursor } from './execution-history.ts';
import type { Flow } from './flow.ts';
import type { Scope } from './json-path.ts';
import type { JsonValue } from './json-value.ts';
import { limitSize, runtimeError, showData, StateError } from './state-error.ts';

/** What an iteration that is not needed any more ends with. */
class IterationAborted extends Error {}

/**
 * Runs the iteration for every item, some at once, and gives the list of outputs in the order of the items. The first
 * that fails ends all others; its error is the error of the state.
 */
export async function runMap(
  state: MapState,
  scope: Scope,
  flow: Flow,
  runFlow: (graph: StateGraph, input: JsonValue, flow: Flow) => Promise<JsonValue>,
): Promise<JsonValue> {
  const { history } = flow.host;
  const items = state.selectItems(scope);
  if (!Array.isArray(items)) {
    throw runtimeError(`ItemsPath of '${state.name}' gives ${showData(items)}, expected a list`);
  }
  const inputs = items.map((item, index) => {
    const map = { Item: { Index: index, Value: item } };
    const context = { ...scope.context, Map: map };
    const input = state.selectItem === undefined ? item : state.selectItem({ ...scope, context });
    return { map, input: limitSize(input, state.name) };
  });
  const concurrencyMax = readConcurrency(state.concurrencyMax(scope));

  history.add('MapStateStarted', { length: items.length }, flow.cursor);
  const startedId = flow.cursor.lastId;
  const aborting = new AbortController();
  const signal = AbortSignal.any([flow.signal, aborting.signal]);
  const outputs: JsonValue[] = [];
  let failure: StateError | undefined;

  const iterate = async (index: number): Promise<void> => {
    const { map, input } = inputs[index]!;
    const cursor: HistoryCursor = { lastId: startedId };
    const place = { name: state.name, index };
    const note = (type: string): void => {
      history.add(`MapIteration${type}`, place, cursor);
      flow.cursor.lastId = cursor.lastId;
    };
    try {
      note('Started');
      outputs[index] = await runFlow(state.iteration, input, { ...flow, signal, cursor, map });
      note('Succeeded');
    } catch (error) {
      aborting.abort(new IterationAborted());
      if (error instanceof IterationAborted) {
        note('Aborted');
      } else if (error instanceof StateError) {
        failure ??= error;
        note('Failed');
      } else {
        throw error;
      }
    }
  };
  const pending = inputs.keys();
  const work = async (): Promise<void> => {
    for (const index of pending) {
      if (signal.aborted) return;
      await iterate(index);
    }
  };
  const workers = Array.from({ length: Math.min(concurrencyMax, items.length) }, work);
  for (const settled of await Promise.allSettled(workers)) {
    if (settled.status === 'rejected') throw settled.reason;
  }
  if (failure !== undefined) {
    history.add('MapStateFailed', undefined, flow.cursor);
    throw failure;
  }
  flow.signal.throwIfAborted();
  history.add('MapStateSucceeded', undefined, flow.cursor);
  return outputs;
}

function readConcurrency(value: JsonValue): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
    throw runtimeError(`MaxConcurrencyPath gives ${showData(value)}, expected an integer from 0`);
  }
  return value === 0 ? ITERATIONS_MAX : Math.min(value, ITERATIONS_MAX);
}
