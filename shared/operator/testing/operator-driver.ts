import { isDeepStrictEqual } from 'node:util';
import type { Emission } from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import { pack } from '../../core/pack.ts';
import { identifyKey } from '../../core/channel.ts';
import { compareTexts, type Position } from '../../core/position.ts';
import { timerStepName, type Timer } from '../../core/timer.ts';
import {
  advanceWatermarks,
  isDue,
  noWatermarks,
  watermarkBehind,
  type Watermarks,
} from '../../core/watermark.ts';
import { createDeterminismGuard, guardOperator } from '../determinism-guard.ts';
import { guardConnections, guardPlatform } from '../guard-platform.ts';
import { createOperatorInstance, type KeyTime } from '../operator-instance.ts';
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

export interface OperatorDriverOptions {
  /**
   * What becomes of a callback that uses the clock, dice, timers, files, network or environment of the machine: `strict`
   * throws NonDeterministicOperatorError, `off` leaves it to the second run to show.
   *
   * @default 'strict'
   */
  readonly determinism?: 'strict' | 'off';
}

/**
 * Runs an operator in this process, with no AWS, for unit tests. It does what the runtime does and checks what the
 * runtime relies on: events pass the schema, states survive being stored, rows pass their sink's schema, callbacks use
 * nothing that differs from run to run, and a second run of the same event gives the same result.
 */
export interface OperatorDriver {
  /**
   * Processes one event, given as the object that a producer would send (or, for an operator with a decode of its own, as
   * the bytes), and fires the timers that it makes due, of whatever key. Returns all outputs in order.
   *
   * @throws whatever the operator throws; its state is then as it was before the event
   * @throws NonDeterministicOperatorError where it looks at the machine's clock, dice, files and the like
   * @throws HoldfastError `invalid` where one of the checks fails
   */
  send(event: unknown, options?: SendOptions): readonly DrivenOutput[];
  /**
   * Brings event time to a moment, ms since the epoch, as a heartbeat does; returns the outputs of the timers that fire.
   */
  advanceWatermark(time: number): readonly DrivenOutput[];
  /** The event-time watermark, ms since the epoch. */
  watermark(): number | undefined;
  /** The pending timers of a key, in the order in which they fire. */
  timersOf(key: string): readonly Timer[];
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

export function createOperatorDriver(
  tested: Operator,
  { determinism = 'strict' }: OperatorDriverOptions = {},
): OperatorDriver {
  const guard =
    determinism === 'off' ? undefined : createDeterminismGuard(tested.id, { mode: 'strict' });
  const operator = guard === undefined ? tested : guardOperator(tested, guard);
  const instance = createOperatorInstance(operator, guard);
  const encoder = new TextEncoder();
  const stored = new Map<string, Uint8Array>();
  const outputs: DrivenOutput[] = [];
  let sent = 0;
  let clockMs = firstArrivalMs;

  const pending = new Map<string, readonly Timer[]>();
  let watermarks: Watermarks = noWatermarks;

  const load = (key: string): unknown[] => {
    const bytes = stored.get(key);
    return bytes === undefined ? emptyStates(operator) : decodeStates(operator, bytes, key);
  };

  /** Each time: the test may have put fake timers or spies in the place of what was guarded. */
  const watch = () => {
    if (guard === undefined) return;
    guardPlatform();
    guardConnections();
  };

  /** Runs a callback twice, from the same state, checks what it did and keeps it. */
  const drive = (
    key: string,
    callback: (live: unknown[], emissions: Emission[], time: KeyTime) => void,
  ): DrivenOutput[] => {
    watch();
    const run = () => {
      const live = load(key);
      const emissions: Emission[] = [];
      const timers = [...(pending.get(key) ?? [])];
      callback(live, emissions, { timers, watermark: watermarks.event });
      return { live, emissions, timers, states: encodeStates(operator, live) };
    };
    const result = run();
    checkReplay(operator, key, result, run());
    checkStates(operator, key, result.live, result.states);
    for (const emission of result.emissions) checkRow(operator, emission);
    if (result.states === undefined) stored.delete(key);
    else stored.set(key, result.states);
    pending.set(key, result.timers);
    const made = result.emissions.map((emission) => toOutput(key, emission));
    outputs.push(...made);
    return made;
  };

  /** Fires what has become due, keys by hash, until nothing is. */
  const fireDue = (position: Position): DrivenOutput[] => {
    const made: DrivenOutput[] = [];
    const isFiring = ([, timers]: [string, readonly Timer[]]) =>
      timers.some((timer) => isDue(timer, watermarks));
    const keys = [...pending].filter(isFiring).map(([key]) => identifyKey(key));
    keys.sort((a, b) => compareTexts(a.hash, b.hash) || compareTexts(a.key, b.key));
    for (const { key, hash } of keys) {
      for (;;) {
        const due = pending.get(key)?.find((timer) => isDue(timer, watermarks));
        if (due === undefined) break;
        const step = { keyHash: hash, key, time: due.time, name: timerStepName(due) };
        const input = {
          key,
          position: { ...position, step },
          arrivalMs: watermarks.arrival ?? clockMs,
        };
        made.push(
          ...drive(key, (live, emissions, time) => {
            time.timers.splice(
              time.timers.findIndex((timer) => isDeepStrictEqual(timer, due)),
              1,
            );
            instance.fireTimer(input, due, live, emissions, time);
          }),
        );
      }
    }
    return made;
  };

  return {
    send(event, options = {}) {
      watch();
      const data = event instanceof Uint8Array ? event : encoder.encode(JSON.stringify(event));
      const parsed = operator.parse(data);
      const key = operator.key(parsed);
      clockMs = options.arrivalMs ?? clockMs + 1000;
      const position: Position = { sequence: String(sent + 1), sub: 0 };
      const made = drive(key, (live, emissions, time) => {
        // Parsed again, as a replay would: an operator that changes its event must not see the change.
        const again = operator.parse(data);
        const input = { key, position, arrivalMs: clockMs, event: again };
        instance.processEvent(input, live, emissions, time);
      });
      sent += 1;
      const { eventTime } = operator;
      const eventWatermark =
        eventTime === undefined ? undefined : watermarkBehind(eventTime.time(parsed), eventTime);
      watermarks = advanceWatermarks(watermarks, { eventWatermark, arrivalMs: clockMs });
      return [...made, ...fireDue(position)];
    },
    advanceWatermark(time) {
      const arrivalMs = watermarks.arrival ?? clockMs;
      watermarks = advanceWatermarks(watermarks, { eventWatermark: time, arrivalMs });
      sent += 1;
      return fireDue({ sequence: String(sent), sub: 0 });
    },
    watermark: () => watermarks.event,
    timersOf: (key) => [...(pending.get(key) ?? [])],
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
  readonly timers: readonly Timer[];
}

function toOutput(key: string, { sink, row, value }: Emission): DrivenOutput {
  return { sink, key, rowKey: row, row: value };
}

function checkReplay(operator: Operator, key: string, first: DrivenRun, second: DrivenRun): void {
  const isSame =
    isDeepStrictEqual(first.emissions, second.emissions) &&
    isDeepStrictEqual(first.states, second.states) &&
    isDeepStrictEqual(first.timers, second.timers);
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
