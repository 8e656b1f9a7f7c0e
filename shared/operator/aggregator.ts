/** How to fold inputs into an accumulator and what to make of it, as Flink's AggregateFunction. */
export interface Aggregator<In, Accumulator, Out> {
  create(): Accumulator;
  /** Returns the new accumulator; it may be the old object, changed. */
  add(accumulator: Accumulator, input: In): Accumulator;
  result(accumulator: Accumulator): Out;
}

export function sum(): Aggregator<number, number, number> {
  return {
    create: () => 0,
    add: (accumulator, input) => accumulator + input,
    result: (accumulator) => accumulator,
  };
}

/** Counts inputs, whatever they are. */
export function count(): Aggregator<unknown, number, number> {
  return {
    create: () => 0,
    add: (accumulator) => accumulator + 1,
    result: (accumulator) => accumulator,
  };
}

export function min(): Aggregator<number, number, number> {
  return {
    create: () => Number.POSITIVE_INFINITY,
    add: (accumulator, input) => Math.min(accumulator, input),
    result: (accumulator) => accumulator,
  };
}

export function max(): Aggregator<number, number, number> {
  return {
    create: () => Number.NEGATIVE_INFINITY,
    add: (accumulator, input) => Math.max(accumulator, input),
    result: (accumulator) => accumulator,
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
  };
}
