import type { z } from 'zod';
import type { Position } from '../core/position.ts';
import type { TimeDomain } from '../core/timer.ts';
import type { Output, Removal, SinkDescriptor, SinkDescriptors } from './sink.ts';
import type { StateDescriptor, StateDescriptors, StateHandles } from './state.ts';

/**
 * What an operator sees while it processes one event. One object serves all events: do not keep it past the callback.
 */
export interface OperatorContext<States, Sinks> {
  /** The key of the event; all state is this key's. */
  readonly key: string;
  readonly state: StateHandles<States>;
  /** Where the event came from. */
  readonly position: Position;
  /** When the event arrived in the stream, ms since the epoch: the operator's only clock, the same in every replay. */
  now(): number;
  /** A number in [0, 1), the same in every replay: seeded by key and position. */
  random(): number;
  /**
   * The event-time watermark of the key, ms since the epoch: in `process` the one before the event; undefined before the
   * first event of the channel, or where the operator has no event time.
   */
  readonly watermark: number | undefined;
  readonly timers: Timers;
  /** Hands an output to a sink; it becomes visible once the state that belongs to it is committed. */
  emit(output: Output<Sinks> | Removal<Sinks>): void;
}

/** The timers of the key that is being processed. */
export interface Timers {
  /**
   * Calls `onTimer` once the watermark has reached `time` (ms since the epoch, a whole number). A key has one timer of a
   * name and domain: registering it again moves it. A time that has passed fires right after this event; registered in
   * `onTimer`, it fires behind the timer that is firing, at the earliest one millisecond after it.
   */
  register(timer: {
    /** 1 to 120 letters, digits, ":", "_" and "-". */
    readonly name: string;
    readonly time: number;
    /**
     * `event` waits for the event-time watermark, `arrival` for the time at which records arrive in the shard.
     *
     * @default 'event'
     */
    readonly domain?: TimeDomain;
  }): void;
  /** Takes a timer away; does nothing where there is none. */
  cancel(name: string, domain?: TimeDomain): void;
}

/** A timer that fires. */
export interface FiredTimer {
  readonly name: string;
  /** The time it was registered for, ms since the epoch. */
  readonly time: number;
  readonly domain: TimeDomain;
}

/**
 * How an operator tells time from its events. A contract of the job's generation (P11): code with another one hands its
 * records back, until the job is restored into a new generation.
 */
export interface EventTime<Event> {
  /** ms since the epoch. */
  readonly time: (event: Event) => number;
  /** How late an event may come after one with a later time, ms: the watermark follows this far behind. */
  readonly outOfOrdernessMs: number;
  /**
   * How far ahead of its arrival an event's time may lie, ms. What lies beyond goes to the dead letters: one absurd time
   * would push the watermark past everything.
   *
   * @default 24 hours
   */
  readonly maxFutureSkewMs?: number;
  /**
   * Count it up where a change of `time`, or of the decoder or schema before it, gives an event another time. It is part
   * of the contract, as the two numbers above are: bundled code cannot be compared, so this is how a change is noticed.
   *
   * @default 1
   */
  readonly version?: number;
}

/** What `defineOperator` takes. */
export interface OperatorDefinition<
  Schema extends z.ZodType,
  States extends StateDescriptors,
  Sinks extends SinkDescriptors,
> {
  /** Stable id, a contract: lower-case letters, digits and "-", at most 63. */
  readonly id: string;
  /** Checks and types an event. Events that fail it go to the dead letters. */
  readonly schema: Schema;
  /** The event's key. Must be the partition key under which it was put into the stream. */
  readonly key: (event: z.output<Schema>) => string;
  readonly state: States;
  /** @default none */
  readonly sinks?: Sinks;
  /**
   * Turns a record's bytes into what the schema checks.
   *
   * @default JSON in UTF-8
   */
  readonly decode?: (data: Uint8Array) => unknown;
  /**
   * Called for each event of a key, in order. Synchronous and deterministic: time and chance come from the context.
   * What it throws is retried, then the event goes to the dead letters and the key's state stays as it was.
   */
  process(event: z.output<Schema>, ctx: OperatorContext<States, Sinks>): void;
  /** @default no event time: `event` timers are refused */
  readonly eventTime?: EventTime<z.output<Schema>>;
  /** Called for each timer of a key that has become due, by time and name. The same rules as for `process`. */
  onTimer?(timer: FiredTimer, ctx: OperatorContext<States, Sinks>): void;
}

/** An operator as the runtime runs it; its event and context types are inside. */
export interface Operator {
  readonly id: string;
  readonly stateNames: readonly string[];
  readonly states: readonly StateDescriptor[];
  readonly sinks: ReadonlyMap<string, SinkDescriptor>;
  /** The event in a record's bytes; throws where there is none. */
  parse(data: Uint8Array): unknown;
  key(event: unknown): string;
  process(event: unknown, ctx: OperatorContext<unknown, unknown>): void;
  readonly eventTime: Required<EventTime<unknown>> | undefined;
  /** All that decides the watermark after a record, as one text (P11). */
  readonly timeRules: string;
  readonly onTimer:
    ((timer: FiredTimer, ctx: OperatorContext<unknown, unknown>) => void) | undefined;
}

const dayMs = 24 * 3600 * 1000;

const namePattern = /^[a-z][a-z0-9-]{0,62}$/;
const statePattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Declares an operator. Throws RangeError where a name breaks its rule. */
export function defineOperator<
  Schema extends z.ZodType,
  States extends StateDescriptors,
  Sinks extends SinkDescriptors = Record<never, never>,
>(definition: OperatorDefinition<Schema, States, Sinks>): Operator {
  assertName('operator id', definition.id, namePattern);
  for (const name of Object.keys(definition.state)) assertName('state name', name, statePattern);
  const sinks = new Map<string, SinkDescriptor>(Object.entries(definition.sinks ?? {}));
  for (const name of sinks.keys()) {
    assertName('sink name', name, namePattern);
  }

  const decode = definition.decode ?? parseJson;
  const { schema } = definition;
  // The one place where the types of a definition are let go: the runtime gives each callback only what parse() made.
  const process = ((event, ctx) => {
    // Returned, so that a promise is noticed.
    return definition.process(event as z.output<Schema>, ctx as OperatorContext<States, Sinks>);
  }) satisfies Operator['process'];
  const key = definition.key;
  const eventTime = readEventTime(definition.id, definition.eventTime);
  return {
    id: definition.id,
    stateNames: Object.keys(definition.state),
    states: Object.values(definition.state),
    sinks,
    parse: (data) => schema.parse(decode(data)),
    key,
    process,
    eventTime,
    timeRules: describeTimeRules(eventTime),
    onTimer:
      definition.onTimer === undefined
        ? undefined
        : (timer, ctx) => {
            definition.onTimer?.(timer, ctx as OperatorContext<States, Sinks>);
          },
  };
}

function readEventTime<Event>(
  id: string,
  eventTime: EventTime<Event> | undefined,
): Required<EventTime<unknown>> | undefined {
  if (eventTime === undefined) return undefined;
  const { time, outOfOrdernessMs, maxFutureSkewMs = dayMs, version = 1 } = eventTime;
  if (!Number.isInteger(version) || version < 1) {
    throw new RangeError(
      `operator ${id}: eventTime.version is ${version}, expected a whole number from 1`,
    );
  }
  for (const [name, value] of Object.entries({ outOfOrdernessMs, maxFutureSkewMs })) {
    if (Number.isInteger(value) && value >= 0) continue;
    throw new RangeError(
      `operator ${id}: ${name} is ${value}, expected a whole number of milliseconds from 0`,
    );
  }
  return { time: time as (event: unknown) => number, outOfOrdernessMs, maxFutureSkewMs, version };
}

function describeTimeRules(eventTime: Required<EventTime<unknown>> | undefined): string {
  if (eventTime === undefined) return 'arrival time only';
  const { version, outOfOrdernessMs, maxFutureSkewMs } = eventTime;
  return `event time ${version}, ${outOfOrdernessMs} ms out of order, ${maxFutureSkewMs} ms ahead`;
}

function parseJson(data: Uint8Array): unknown {
  return JSON.parse(utf8.decode(data));
}

function assertName(what: string, name: string, pattern: RegExp): void {
  if (pattern.test(name)) return;
  throw new RangeError(
    `${what} is ${JSON.stringify(name)}, expected ${String(pattern)}; it is a contract and cannot be changed later`,
  );
}
