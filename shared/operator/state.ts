import type { Aggregator } from './aggregator.ts';

/*
 * The kinds of keyed state. A descriptor says what is kept; its name is the property under which the operator declares
 * it. Names, kinds and schema versions are contracts: a savepoint refers to them.
 */

/**
 * How a value becomes something that MessagePack can store (null, booleans, numbers, strings, 64-bit bigints, dates,
 * bytes, arrays and plain objects of them), and back. Needed only for values that are none of these.
 */
export interface Codec<T> {
  encode(value: T): unknown;
  /** Must accept whatever `encode` gave. */
  decode(stored: unknown): T;
}

export interface StateOptions<T> {
  /** @default the value is stored as it is */
  readonly codec?: Codec<T>;
  /**
   * Schema version of what the codec writes. Raise it when the stored shape changes, and say in `migrate` how to read
   * the older ones.
   *
   * @default 1
   */
  readonly version?: number;
  /**
   * Turns a stored form of an older version into the stored form of this one. Without it older items are refused.
   */
  readonly migrate?: (stored: unknown, version: number) => unknown;
}

interface StateBase<T> {
  readonly version: number;
  readonly codec: Codec<T> | undefined;
  readonly migrate: ((stored: unknown, version: number) => unknown) | undefined;
}

export interface ValueStateDescriptor<T> extends StateBase<T> {
  readonly kind: 'value';
}

export interface ListStateDescriptor<T> extends StateBase<T> {
  readonly kind: 'list';
  readonly keepLast: number;
}

export interface MapStateDescriptor<T> extends StateBase<T> {
  readonly kind: 'map';
}

export interface AggregatingStateDescriptor<In, Accumulator, Out> extends StateBase<Accumulator> {
  readonly kind: 'aggregating';
  readonly aggregator: Aggregator<In, Accumulator, Out>;
}

/** One value for each key. */
export function valueState<T>(options: StateOptions<T> = {}): ValueStateDescriptor<T> {
  return { kind: 'value', ...withDefaults(options) };
}

export interface ListStateOptions<T> extends StateOptions<T> {
  /**
   * Keeps only the newest so many elements; adding one more drops the oldest.
   *
   * @default all are kept, until the item is too large
   */
  readonly keepLast?: number;
}

/** A list for each key, in the order of adding. The codec is that of an element. */
export function listState<T>(options: ListStateOptions<T> = {}): ListStateDescriptor<T> {
  const keepLast = options.keepLast ?? Number.POSITIVE_INFINITY;
  if (keepLast !== Number.POSITIVE_INFINITY && !(Number.isInteger(keepLast) && keepLast > 0)) {
    throw new RangeError(`listState keepLast is ${keepLast}, expected a whole number above 0`);
  }
  return { kind: 'list', keepLast, ...withDefaults(options) };
}

/** A map with text keys for each key, in the order of first insertion. The codec is that of a value. */
export function mapState<T>(options: StateOptions<T> = {}): MapStateDescriptor<T> {
  return { kind: 'map', ...withDefaults(options) };
}

/** A running aggregate for each key: only the accumulator is kept. The codec is that of the accumulator. */
export function aggregatingState<In, Accumulator, Out>(
  aggregator: Aggregator<In, Accumulator, Out>,
  options: StateOptions<Accumulator> = {},
): AggregatingStateDescriptor<In, Accumulator, Out> {
  return { kind: 'aggregating', aggregator, ...withDefaults(options) };
}

function withDefaults<T>(options: StateOptions<T>): StateBase<T> {
  const version = options.version ?? 1;
  if (!Number.isInteger(version) || version < 1) {
    throw new RangeError(`state version is ${version}, expected a whole number from 1`);
  }
  return { version, codec: options.codec, migrate: options.migrate };
}

/** Any of the kinds, for code that does not care what is inside. */
export type StateDescriptor =
  | ValueStateDescriptor<unknown>
  | ListStateDescriptor<unknown>
  | MapStateDescriptor<unknown>
  | AggregatingStateDescriptor<unknown, unknown, unknown>;

/** What an operator declares: name → descriptor. */
export type StateDescriptors = Readonly<Record<string, StateDescriptor>>;

export interface ValueState<T> {
  /** The value, or undefined where none is set. Changing a returned object in place changes the state. */
  get(): T | undefined;
  set(value: T): void;
  clear(): void;
}

export interface ListState<T> {
  get(): readonly T[];
  add(element: T): void;
  set(elements: readonly T[]): void;
  clear(): void;
  readonly length: number;
}

export interface MapState<T> {
  get(name: string): T | undefined;
  set(name: string, value: T): void;
  has(name: string): boolean;
  delete(name: string): boolean;
  entries(): IterableIterator<[string, T]>;
  clear(): void;
  readonly size: number;
}

export interface AggregatingState<In, Out> {
  add(input: In): void;
  /** The result so far, or undefined before the first input. */
  get(): Out | undefined;
  clear(): void;
}

/** The handle that an operator gets for a descriptor. */
export type StateHandle<D> =
  D extends ValueStateDescriptor<infer T>
    ? ValueState<T>
    : D extends ListStateDescriptor<infer T>
      ? ListState<T>
      : D extends MapStateDescriptor<infer T>
        ? MapState<T>
        : D extends AggregatingStateDescriptor<infer In, infer _Accumulator, infer Out>
          ? AggregatingState<In, Out>
          : never;

export type StateHandles<States> = { readonly [Name in keyof States]: StateHandle<States[Name]> };
