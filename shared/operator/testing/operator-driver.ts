import { isDeepStrictEqual } from 'node:util';
import type { Emission } from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import { pack } from '../../core/pack.ts';
import type { Position } from '../../core/position.ts';
import { createOperatorInstance } from '../operator-instance.ts';
import { decodeStates, emptyStates, encodeStates } from '../key-state.ts';
import type { Operator } from '../operator.ts';

/** An output as a test sees it. A removed upsert row has `row` null. */
export interface DrivenOutput {
  readonly sink: string;
  readonly key: string;
  /** Upsert sinks: the sort key of the row. Append sinks: empty. */
  readonly rowKey: string;
  readonly row: unknown;
}

export interface SendOptions {
  /**
   * What `ctx.now()` says, ms since the epoch.
   *
   * @default one second after the event before, beginning with 2025-01-01T00:00:00Z
   */
  readonly arrivalMs?: number;
}

/**
 * Runs an operator in this process, with no AWS, for unit tests. It does what the runtime does and checks what the
 * runtime relies on: events pass the schema, states survive being stored, rows pass their sink's schema, and a second
 * run of the same event gives the same result.
 */
export interface OperatorDriver {
  /**
   * Processes one event, given as the object that a producer would send (or, for an operator with a decode of its own, as
   * the bytes), and returns its outputs in order.
   *
   * @throws whatever the operator throws; its state is then as it was before the event
   * @throws HoldfastError `invalid` where one of the checks fails
   */
  send(event: unknown, options?: SendOptions): readonly DrivenOutput[];
  /** The states of a key by name, decoded: lists as arrays, maps as Maps, aggregates as accumulators. */
  stateOf(key: string): Readonly<Record<string, unknown>>;
  /** Keys that have state, sorted. */
  keys(): string[];
  /** Everything that went to a sink so far, in order. For upsert sinks see {@link OperatorDriver.view}. */
  outputs(sink: string): readonly DrivenOutput[];
  /** The rows of an upsert sink as they stand now. */
  view(sink: string): readonly DrivenOutput[];
}

const firstArrivalMs = Date.UTC(2025, 0, 1);

export function createOperatorDriver(operator: Operator): OperatorDriver {
  const instance = createOperatorInstance(operator);
  const encoder = new TextEncoder();
  const stored = new Map<string, Uint8Array>();
  const outputs: DrivenOutput[] = [];
  let sent = 0;
  let clockMs = firstArrivalMs;

  const load = (key: string): unknown[] => {
    const bytes = stored.get(key);
    return bytes === undefined ? emptyStates(operator) : decodeStates(operator, bytes, key);
  };

  return {
    send(event, options = {}) {
      const data = event instanceof Uint8Array ? event : encoder.encode(JSON.stringify(event));
      const parsed = operator.parse(data);
      const key = operator.key(parsed);
      clockMs = options.arrivalMs ?? clockMs + 1000;
      const position: Position = { sequence: String(sent + 1), sub: 0 };
      const run = () => {
        const live = load(key);
        const emissions: Emission[] = [];
        // Parsed again, as a replay would: an operator that changes its event must not see the change.
        const again = operator.parse(data);
        instance.processEvent({ key, position, arrivalMs: clockMs, event: again }, live, emissions);
        const states = encodeStates(operator, live);
        return { live, emissions, states };
      };
      const result = run();
      checkReplay(operator, key, result, run());
      checkStates(operator, key, result.live, result.states);
      for (const emission of result.emissions) checkRow(operator, emission);
      sent += 1;
      if (result.states === undefined) stored.delete(key);
      else stored.set(key, result.states);
      const made = result.emissions.map((emission) => toOutput(key, emission));
      outputs.push(...made);
      return made;
    },
    stateOf(key) {
      const live = load(key);
      return Object.fromEntries(operator.stateNames.map((name, slot) => [name, live[slot]]));
    },
    keys: () => [...stored.keys()].sort(),
    outputs: (sink) => outputs.filter((output) => output.sink === sink),
    view(sink) {
      const rows = new Map<string, DrivenOutput>();
      for (const output of outputs) {
        if (output.sink !== sink) continue;
        const name = JSON.stringify([output.key, output.rowKey]);
        if (output.row === null) rows.delete(name);
        else rows.set(name, output);
      }
      return [...rows.values()];
    },
  };
}

interface DrivenRun {
  readonly emissions: readonly Emission[];
  readonly states: Uint8Array | undefined;
}

function toOutput(key: string, { sink, row, value }: Emission): DrivenOutput {
  return { sink, key, rowKey: row, row: value };
}

function checkReplay(operator: Operator, key: string, first: DrivenRun, second: DrivenRun): void {
  const isSame =
    isDeepStrictEqual(first.emissions, second.emissions) &&
    isDeepStrictEqual(first.states, second.states);
  if (isSame) return;
  throw new HoldfastError(
    'invalid',
    `operator ${operator.id}, key ${JSON.stringify(key)}: a second run of the same event gave another result; take time from ctx.now() and chance from ctx.random(), and keep nothing outside of ctx.state`,
  );
}

/** A state that changes by being stored would change with the next crash. */
function checkStates(
  operator: Operator,
  key: string,
  live: readonly unknown[],
  states: Uint8Array | undefined,
): void {
  const read = states === undefined ? emptyStates(operator) : decodeStates(operator, states, key);
  live.forEach((value, slot) => {
    if (isDeepStrictEqual(normalize(value), normalize(read[slot]))) return;
    throw new HoldfastError(
      'invalid',
      `operator ${operator.id}, key ${JSON.stringify(key)}: state ${operator.stateNames[slot]!} does not survive being stored; store plain objects, arrays, numbers, strings, booleans, bigints, dates and bytes, or give the state a codec`,
    );
  });
}

/** An empty list or map is stored as nothing. Buffers and byte arrays are the same to an operator. */
function normalize(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 0) return undefined;
  if (value instanceof Map && value.size === 0) return undefined;
  return value instanceof Uint8Array ? pack(value) : value;
}

function checkRow(operator: Operator, emission: Emission): void {
  if (emission.value === null) return;
  const result = operator.sinks.get(emission.sink)!.row.safeParse(emission.value);
  if (result.success) return;
  throw new HoldfastError(
    'invalid',
    `operator ${operator.id}: a row for sink ${emission.sink} breaks the sink's schema: ${result.error.message}`,
  );
}
