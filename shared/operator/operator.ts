import type { z } from 'zod';
import type { Position } from '../core/position.ts';
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
  /** Hands an output to a sink; it becomes visible once the state that belongs to it is committed. */
  emit(output: Output<Sinks> | Removal<Sinks>): void;
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
}

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
  return {
    id: definition.id,
    stateNames: Object.keys(definition.state),
    states: Object.values(definition.state),
    sinks,
    parse: (data) => schema.parse(decode(data)),
    key,
    process,
  };
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
