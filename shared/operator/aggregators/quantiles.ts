import { TDigest } from 'tdigest';
import { HoldfastError } from '../../core/errors.ts';
import { seededRandom } from '../../core/random.ts';
import type { Aggregator } from '../aggregator.ts';

/*
 * t-digest (Dunning, Ertl: "Computing extremely accurate quantiles using t-digests", 2019, arXiv:1902.04023) by the npm
 * package of that name. A digest of the package lives for one call only and is always made of the plain accumulator, so that
 * it makes no difference whether that has been stored in between. The package's own compression is off: it shuffles by
 * Math.random. Ours does the same with seeded dice.
 */

/** What `quantiles` keeps. Plain numbers, at most 5 KB. */
export type QuantileAccumulator = [
  /** Means of the centroids, ascending, and how many inputs each stands for. */
  means: number[],
  counts: number[],
  /** Inputs that are in no centroid yet, in their order. */
  recent: number[],
];

/** A centroid at quantile q stands for at most 4 × δ × q × (1 − q) of the inputs: few at the ends. */
const delta = 0.05;
const centroidsMax = 250;
const recentMax = 100;

/** Beyond it sums within the digest could overflow. */
const inputMax = 1e290;

/** Never: the package compresses where a digest has more than K ÷ δ centroids, unless K is 0. */
const noCompression = 0;

/**
 * Quantiles of numbers, by t-digest: `quantiles([0.5, 0.99])` gives the median and the 99th percentile, in this order;
 * NaN before the first input.
 *
 * Up to 100 inputs they are exact (the nearest rank). From there on they are interpolated between inputs, and the true rank
 * of what is given for q is within 0.5 % of q, within 0.1 % where q is at most 1 % or at least 99 %; within 1 % if inputs
 * come in an order that is against it, as rising and falling by turns. 0 and 1 give the smallest and the largest input.
 *
 * @throws RangeError unless there is one, and each is from 0 to 1
 */
export function quantiles<const Asked extends readonly number[]>(
  asked: Asked,
): Aggregator<number, QuantileAccumulator, { readonly [At in keyof Asked]: number }> {
  if (asked.length === 0 || !asked.every((quantile) => quantile >= 0 && quantile <= 1)) {
    throw new RangeError(
      `quantiles: asked for [${asked.join(', ')}], expected at least one number from 0 to 1, as 0.99 for the 99th percentile`,
    );
  }
  return {
    create: () => [[], [], []],
    add,
    result: (accumulator) => {
      const [means, , recent] = accumulator;
      const all = means.length === 0 ? digestExactly(recent) : digest(accumulator);
      return asked.map((quantile) => all.percentile(quantile) ?? Number.NaN) as {
        [At in keyof Asked]: number;
      };
    },
    merge: (a, b) => {
      const [means, counts, recent] = b;
      if (means.length === 0) {
        // As if they had come one by one.
        return recent.reduce(add, a);
      }
      const all = digest(a);
      means.forEach((mean, at) => all.push_centroid({ mean, n: counts[at]! }));
      all.push(recent);
      return store(all);
    },
  };
}

function add(accumulator: QuantileAccumulator, input: number): QuantileAccumulator {
  checkInput(input);
  const [, , recent] = accumulator;
  // One zero: -0 would come back from being stored as 0.
  recent.push(input + 0);
  return recent.length > recentMax ? store(digest(accumulator)) : accumulator;
}

function checkInput(input: number): void {
  if (Math.abs(input) <= inputMax) return;
  throw new HoldfastError(
    'invalid',
    `quantiles: input is ${input}, expected a number within ±${inputMax}; leave out what is none before it is added`,
  );
}

/** Everything, each input by itself. */
function digestExactly(inputs: readonly number[]): TDigest {
  const all = new TDigest(false);
  all.push(inputs);
  return all;
}

function digest([means, counts, recent]: QuantileAccumulator): TDigest {
  const all = new TDigest(delta, noCompression);
  // In ascending order each stays a centroid of its own.
  means.forEach((mean, at) => all.push_centroid({ mean, n: counts[at]! }));
  // Counts how much is below each centroid, which pushing goes by.
  all.percentile(0);
  all.push(recent);
  return all;
}

function store(all: TDigest): QuantileAccumulator {
  const centroids = shrink(all).toArray();
  return [centroids.map(({ mean }) => mean), centroids.map(({ n }) => n), []];
}

/** Digests the centroids again in another order, since those of sorted inputs are small; if that is not enough coarser. */
function shrink(all: TDigest): TDigest {
  let shrunk = all;
  for (let coarser = delta; shrunk.size() > centroidsMax; coarser *= 2) {
    const centroids = shuffle(all.toArray());
    shrunk = new TDigest(coarser, noCompression);
    shrunk.push_centroid(centroids);
  }
  return shrunk;
}

function shuffle<Element>(elements: Element[]): Element[] {
  const random = seededRandom('quantiles');
  for (let last = elements.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [elements[last], elements[other]] = [elements[other]!, elements[last]!];
  }
  return elements;
}
