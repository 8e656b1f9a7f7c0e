/** How to fold inputs into an accumulator and what to make of it, as Flink's AggregateFunction. */
export interface Aggregator<In, Accumulator, Out> {
  create(): Accumulator;
  /** Returns the new accumulator; it may be the old object, changed. The input stays as it is. */
  add(accumulator: Accumulator, input: In): Accumulator;
  result(accumulator: Accumulator): Out;
  /**
   * The accumulator of all that went into either, `a` before `b`; it may be `a`, changed. Session windows need it.
   *
   * @default cannot be merged
   */
  merge?(a: Accumulator, b: Accumulator): Accumulator;
}

/** Sums of fractions depend on the order of adding in their last digits, as always with floating point. */
export function sum(): Aggregator<number, number, number> {
  return {
    create: () => 0,
    add: (accumulator, input) => accumulator + input,
    result: (accumulator) => accumulator,
    merge: (a, b) => a + b,
  };
}

/** Counts inputs, whatever they are. */
export function count(): Aggregator<unknown, number, number> {
  return {
    create: () => 0,
    add: (accumulator) => accumulator + 1,
    result: (accumulator) => accumulator,
    merge: (a, b) => a + b,
  };
}

export function min(): Aggregator<number, number, number> {
  return {
    create: () => Number.POSITIVE_INFINITY,
    add: (accumulator, input) => Math.min(accumulator, input),
    result: (accumulator) => accumulator,
    merge: (a, b) => Math.min(a, b),
  };
}

export function max(): Aggregator<number, number, number> {
  return {
    create: () => Number.NEGATIVE_INFINITY,
    add: (accumulator, input) => Math.max(accumulator, input),
    result: (accumulator) => accumulator,
    merge: (a, b) => Math.max(a, b),
  };
}

/** The arithmetic mean; keeps sum and count, so that it is exact as long as the sum is. */
export function mean(): Aggregator<number, [sum: number, count: number], number> {
  return {
    create: () => [0, 0],
    add: (accumulator, input) => {
      accumulator[0] += input;
      accumulator[1] += 1;
      return accumulator;
    },
    result: ([total, inputs]) => total / inputs,
    merge: (a, b) => [a[0] + b[0], a[1] + b[1]],
  };
}

/**
 * Folds inputs into one of their own kind; the result is undefined before the first. `combine` changes neither of its
 * arguments. Merging rests on its being associative.
 */
export function reduce<T>(
  combine: (soFar: T, input: T) => T,
): Aggregator<T, [] | [T], T | undefined> {
  const append = (accumulator: [] | [T], input: T): [T] =>
    accumulator.length === 0 ? [input] : [combine(accumulator[0], input)];
  return {
    create: () => [],
    add: append,
    result: ([value]) => value,
    merge: (a, b) => (b.length === 0 ? a : append(a, b[0])),
  };
}

/** An aggregate of something that is read from each input: `over((flight) => flight.delay, mean())`. */
export function over<In, Value, Accumulator, Out>(
  select: (input: In) => Value,
  aggregator: Aggregator<Value, Accumulator, Out>,
): Aggregator<In, Accumulator, Out> {
  // Not spread: an aggregator may be an object of a class.
  const selecting: Aggregator<In, Accumulator, Out> = {
    create: () => aggregator.create(),
    add: (accumulator, input) => aggregator.add(accumulator, select(input)),
    result: (accumulator) => aggregator.result(accumulator),
  };
  if (aggregator.merge === undefined) return selecting;
  return { ...selecting, merge: aggregator.merge.bind(aggregator) };
}
