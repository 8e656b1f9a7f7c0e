import { HoldfastError } from '../core/errors.ts';
import { pack, unpack } from '../core/pack.ts';
import type { Aggregator } from './aggregator.ts';
import type { Operator } from './operator.ts';
import type {
  AggregatingState,
  ListState,
  MapState,
  StateDescriptor,
  ValueState,
} from './state.ts';

/**
 * The decoded states of one key, one slot for each descriptor of the operator; an empty slot is undefined. Handles look
 * through a {@link StateCursor} at the key that is being processed, so that a record needs no objects of its own.
 */
export type LiveStates = unknown[];

export interface StateCursor {
  live: LiveStates;
}

type Stored = Record<string, [version: number, value: unknown]>;

/** The states of a key that has none yet. */
export function emptyStates(operator: Operator): LiveStates {
  return operator.states.map(() => undefined);
}

/** Packs the states of a key; undefined where all are empty: the key is gone. */
export function encodeStates(operator: Operator, live: LiveStates): Uint8Array | undefined {
  const stored: Stored = {};
  let isEmpty = true;
  for (let slot = 0; slot < live.length; slot += 1) {
    const value = encodeSlot(operator.states[slot]!, live[slot]);
    if (value === undefined) continue;
    stored[operator.stateNames[slot]!] = [operator.states[slot]!.version, value];
    isEmpty = false;
  }
  return isEmpty ? undefined : pack(stored);
}

/**
 * Unpacks what {@link encodeStates} wrote.
 *
 * @throws HoldfastError `fenced` for a schema version ahead of the code: other code is already deployed, hand back.
 * @throws HoldfastError `invalid` for a state that this code does not know or cannot migrate.
 */
export function decodeStates(operator: Operator, bytes: Uint8Array, key: string): LiveStates {
  const live = emptyStates(operator);
  for (const [name, [version, value]] of Object.entries(unpack(bytes) as Stored)) {
    const slot = operator.stateNames.indexOf(name);
    const where = `operator ${operator.id}, key ${JSON.stringify(key)}: state ${JSON.stringify(name)}`;
    if (slot < 0) {
      throw new HoldfastError(
        'invalid',
        `${where} is stored but not declared; a state's name is a contract: declare it again, or start a new operator id`,
      );
    }
    live[slot] = decodeSlot(operator.states[slot]!, version, value, where);
  }
  return live;
}

function encodeSlot(descriptor: StateDescriptor, live: unknown): unknown {
  if (live === undefined) return undefined;
  const codec = descriptor.codec;
  switch (descriptor.kind) {
    case 'value':
    case 'aggregating':
      return codec === undefined ? live : codec.encode(live);
    case 'list': {
      const list = live as unknown[];
      if (list.length === 0) return undefined;
      return codec === undefined ? list : list.map((element) => codec.encode(element));
    }
    case 'map': {
      const map = live as Map<string, unknown>;
      if (map.size === 0) return undefined;
      const flat: unknown[] = [];
      for (const [name, value] of map)
        flat.push(name, codec === undefined ? value : codec.encode(value));
      return flat;
    }
  }
}

function decodeSlot(
  descriptor: StateDescriptor,
  version: number,
  stored: unknown,
  where: string,
): unknown {
  if (version > descriptor.version) {
    throw new HoldfastError(
      'fenced',
      `${where} has schema version ${version}, this code reads up to ${descriptor.version}; newer code wrote it, this invocation hands its records back`,
    );
  }
  let value = stored;
  if (version < descriptor.version) {
    if (descriptor.migrate === undefined) {
      throw new HoldfastError(
        'invalid',
        `${where} has schema version ${version}, this code writes ${descriptor.version}; give the state a migrate function that reads version ${version}`,
      );
    }
    value = descriptor.migrate(stored, version);
  }
  const codec = descriptor.codec;
  switch (descriptor.kind) {
    case 'value':
    case 'aggregating':
      return codec === undefined ? value : codec.decode(value);
    case 'list': {
      // keepLast may have been lowered since.
      const { keepLast } = descriptor;
      const all = value as unknown[];
      const list = all.length > keepLast ? all.slice(-keepLast) : all;
      return codec === undefined ? list : list.map((element) => codec.decode(element));
    }
    case 'map': {
      const flat = value as unknown[];
      const map = new Map<string, unknown>();
      for (let at = 0; at < flat.length; at += 2) {
        const element = flat[at + 1];
        map.set(flat[at] as string, codec === undefined ? element : codec.decode(element));
      }
      return map;
    }
  }
}

/** The handles of an operator's states, which read and write whatever the cursor points at. */
export function createHandles(operator: Operator, cursor: StateCursor): Record<string, unknown> {
  const handles: Record<string, unknown> = {};
  operator.states.forEach((descriptor, slot) => {
    handles[operator.stateNames[slot]!] = createHandle(descriptor, slot, cursor);
  });
  return handles;
}

function createHandle(descriptor: StateDescriptor, slot: number, cursor: StateCursor): unknown {
  switch (descriptor.kind) {
    case 'value':
      return valueHandle(slot, cursor);
    case 'list':
      return listHandle(slot, cursor, descriptor.keepLast);
    case 'map':
      return mapHandle(slot, cursor);
    case 'aggregating':
      return aggregatingHandle(slot, cursor, descriptor.aggregator);
  }
}

function valueHandle(slot: number, cursor: StateCursor): ValueState<unknown> {
  return {
    get: () => cursor.live[slot],
    set: (value) => {
      cursor.live[slot] = value;
    },
    clear: () => {
      cursor.live[slot] = undefined;
    },
  };
}

const noElements: readonly unknown[] = Object.freeze([]);

function listHandle(slot: number, cursor: StateCursor, keepLast: number): ListState<unknown> {
  const current = (): unknown[] | undefined => cursor.live[slot] as unknown[] | undefined;
  return {
    get: () => current() ?? noElements,
    add: (element) => {
      const list = current();
      if (list === undefined) {
        cursor.live[slot] = [element];
        return;
      }
      list.push(element);
      if (list.length > keepLast) list.shift();
    },
    set: (elements) => {
      const kept = keepLast === Number.POSITIVE_INFINITY ? elements : elements.slice(-keepLast);
      cursor.live[slot] = [...kept];
    },
    clear: () => {
      cursor.live[slot] = undefined;
    },
    get length() {
      return current()?.length ?? 0;
    },
  };
}

function mapHandle(slot: number, cursor: StateCursor): MapState<unknown> {
  const current = (): Map<string, unknown> | undefined =>
    cursor.live[slot] as Map<string, unknown> | undefined;
  return {
    get: (name) => current()?.get(name),
    set: (name, value) => {
      const map = current();
      if (map === undefined) cursor.live[slot] = new Map([[name, value]]);
      else map.set(name, value);
    },
    has: (name) => current()?.has(name) ?? false,
    delete: (name) => current()?.delete(name) ?? false,
    entries: () => (current() ?? new Map<string, unknown>()).entries(),
    clear: () => {
      cursor.live[slot] = undefined;
    },
    get size() {
      return current()?.size ?? 0;
    },
  };
}

function aggregatingHandle(
  slot: number,
  cursor: StateCursor,
  aggregator: Aggregator<unknown, unknown, unknown>,
): AggregatingState<unknown, unknown> {
  return {
    add: (input) => {
      const accumulator = cursor.live[slot] ?? aggregator.create();
      cursor.live[slot] = aggregator.add(accumulator, input);
    },
    get: () => {
      const accumulator = cursor.live[slot];
      return accumulator === undefined ? undefined : aggregator.result(accumulator);
    },
    clear: () => {
      cursor.live[slot] = undefined;
    },
  };
}
