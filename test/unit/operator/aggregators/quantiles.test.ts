import { describe, expect, it } from 'vitest';
import { pack } from '../../../../shared/core/pack.ts';
import { seededRandom } from '../../../../shared/core/random.ts';
import {
  quantiles,
  type QuantileAccumulator,
} from '../../../../shared/operator/aggregators/quantiles.ts';

const asked = [0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1] as const;
const aggregator = quantiles(asked);

function fold(inputs: readonly number[]): QuantileAccumulator {
  let accumulator = aggregator.create();
  for (const input of inputs) accumulator = aggregator.add(accumulator, input);
  return accumulator;
}

/** Inputs of a shape, from seeded dice. */
function draw(name: string, inputs: number, next: Shape): number[] {
  const random = seededRandom(name);
  return Array.from({ length: inputs }, (_, n) => next(random(), n));
}

const skewed = {
  exponential: (u: number) => -Math.log(1 - u) * 100,
  pareto: (u: number) => (1 - u) ** (-1 / 1.1),
  'log-uniform': (u: number) => 10 ** (12 * u - 6),
  uniform: (u: number) => u - 0.5,
};

const awkward = {
  rising: (_: number, n: number) => n,
  falling: (_: number, n: number) => -1 - n,
  'ever further out': (_: number, n: number) => (n % 2 === 0 ? n : -n),
  'rising and falling': (_: number, n: number) => (n % 1000 < 500 ? n : 1e6 - n),
  sawtooth: (_: number, n: number) => n % 997,
};

type Shape = (u: number, n: number) => number;

function listShapes(shapes: Readonly<Record<string, Shape>>): [name: string, next: Shape][] {
  return Object.entries(shapes);
}

/** How far the ranks of what is given are from what was asked. */
function rankErrors(inputs: readonly number[], given: readonly number[]): number[] {
  const sorted = inputs.toSorted((a, b) => a - b);
  return asked.map((quantile, at) => {
    const below = sorted.findLastIndex((input) => input < given[at]!) / sorted.length;
    const notAbove = (sorted.findLastIndex((input) => input <= given[at]!) + 2) / sorted.length;
    return Math.max(below - quantile, quantile - notAbove, 0);
  });
}

function expectRanks(inputs: readonly number[], given: readonly number[], inMiddle: number): void {
  rankErrors(inputs, given).forEach((error, at) => {
    const isOutside = Math.abs(asked[at]! - 0.5) >= 0.49;
    expect(error).toBeLessThan((isOutside ? inMiddle / 5 : inMiddle) + 1e-9);
  });
  expect([given[0], given.at(-1)]).toEqual([Math.min(...inputs), Math.max(...inputs)]);
}

describe('quantiles', () => {
  it('are exact up to 100 inputs: the nearest rank', () => {
    const hundred = draw('order', 100, (u) => u)
      .map((u, n) => ({ u, value: (n + 1) ** 3 }))
      .sort((a, b) => a.u - b.u)
      .map(({ value }) => value);
    const [median, p75, p99, highest] = quantiles([0.5, 0.75, 0.99, 1]).result(fold(hundred));
    expect([median, p75, p99, highest]).toEqual([50 ** 3, 75 ** 3, 99 ** 3, 100 ** 3]);
    expect(quantiles([0.5]).result(fold([3]))).toEqual([3]);
    expect(quantiles([0, 0.5, 0.51]).result(fold([2, 1]))).toEqual([1, 1, 2]);
  });

  it('are NaN of nothing', () => {
    expect(quantiles([0.5, 0.9]).result(aggregator.create())).toEqual([Number.NaN, Number.NaN]);
  });

  it.each(listShapes(skewed))(
    'are within half a percent of %s inputs, a tenth at the ends',
    (name, next) => {
      for (const count of [101, 1000, 20_000]) {
        const inputs = draw(`${name} ${count}`, count, next);
        expectRanks(inputs, aggregator.result(fold(inputs)), 0.005);
      }
    },
  );

  it.each(listShapes(awkward))('are within one percent of %s inputs', (name, next) => {
    for (const count of [101, 5000, 20_000]) {
      const inputs = draw(name, count, next);
      expectRanks(inputs, aggregator.result(fold(inputs)), 0.01);
    }
  });

  it.each(listShapes({ ...skewed, ...awkward }))(
    'keep at most 250 centroids and 5 KB of %s inputs',
    (name, next) => {
      let accumulator = aggregator.create();
      for (const [n, input] of draw(name, 20_000, next).entries()) {
        accumulator = aggregator.add(accumulator, input);
        const [means, counts, recent] = accumulator;
        const inCentroids = counts.reduce((total, count) => total + count, 0);
        if (means.length > 250 || inCentroids + recent.length !== n + 1) {
          expect.fail(`after ${n}: ${means.length} centroids, ${inCentroids + recent.length}`);
        }
        if (n % 1000 === 99) expect(pack(accumulator).length).toBeLessThan(5000);
      }
    },
  );

  it('merge as if all had gone into one', () => {
    const { merge } = aggregator as Required<typeof aggregator>;
    const inputs = draw('parts', 20_000, skewed.exponential);
    const parts = Array.from({ length: 50 }, (_, n) => inputs.slice(n * 400, (n + 1) * 400));
    const merged = parts.map(fold).reduce((a, b) => merge(a, b));
    expectRanks(inputs, aggregator.result(merged), 0.01);
    const sorted = inputs.toSorted((a, b) => a - b);
    const sortedParts = Array.from({ length: 50 }, (_, n) => sorted.slice(n * 400, (n + 1) * 400));
    expectRanks(inputs, aggregator.result(sortedParts.map(fold).reduce(merge)), 0.01);
  });

  it('stay exact when few are merged', () => {
    const { merge } = aggregator as Required<typeof aggregator>;
    const merged = merge(fold([5, 1, 9]), fold([3, 7]));
    expect(quantiles([0.2, 0.4, 0.5, 0.8]).result(merged)).toEqual([1, 3, 5, 7]);
    expect(merge(aggregator.create(), fold([5]))).toEqual(fold([5]));
  });

  it('do not change the accumulator by being read', () => {
    const accumulator = fold(draw('read', 950, skewed.pareto));
    const before = pack(accumulator);
    aggregator.result(accumulator);
    expect(pack(accumulator)).toEqual(before);
  });

  it('know one zero, as what is stored does', () => {
    expect(fold([-0])).toEqual([[], [], [0]]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1e291])('refuse %d as an input', (input) => {
    expect(() => fold([1, input])).toThrow(
      `quantiles: input is ${input}, expected a number within ±1e+290; leave out what is none before it is added`,
    );
  });

  it('take the largest inputs that they allow', () => {
    const inputs = draw('large', 2000, (u) => (u < 0.5 ? -1e290 : 1e290) * (1 - u / 10));
    for (const given of aggregator.result(fold(inputs))) {
      expect(Math.abs(given)).toBeLessThanOrEqual(1e290);
    }
  });

  it.each([[[]], [[1.01]], [[-0.1]], [[99]], [[0.5, Number.NaN]]])('refuse %j', (wanted) => {
    expect(() => quantiles(wanted)).toThrow(RangeError);
    expect(() => quantiles(wanted)).toThrow(
      `quantiles: asked for [${wanted.join(', ')}], expected at least one number from 0 to 1, as 0.99 for the 99th percentile`,
    );
  });
});
