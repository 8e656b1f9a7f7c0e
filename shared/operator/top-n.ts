import type { Aggregator } from './aggregator.ts';

/** Most inputs that one `topN` keeps; they are stored with the key. */
export const topNMax = 1000;

/**
 * The `n` inputs with the highest scores, highest first. Of equal scores the earlier input comes first, so that which of
 * them is kept depends on the order of arrival: score by something that differs where that matters. The inputs are stored
 * as they are: select what is needed of them first, with `over`.
 *
 * @throws RangeError unless `n` is a whole number from 1 to 1000
 */
export function topN(n: number): Aggregator<number, number[], readonly number[]>;
export function topN<In>(
  n: number,
  score: (input: In) => number,
): Aggregator<In, In[], readonly In[]>;
export function topN<In>(
  n: number,
  score: (input: In) => number = Number,
): Aggregator<In, In[], readonly In[]> {
  if (!Number.isInteger(n) || n < 1 || n > topNMax) {
    throw new RangeError(
      `topN keeps ${n}, expected a whole number from 1 to ${topNMax}; they are stored with the key`,
    );
  }
  const add = (kept: In[], input: In): In[] => {
    const points = readScore(score, input);
    let at = kept.length;
    while (at > 0 && score(kept[at - 1]!) < points) at -= 1;
    if (at < n) kept.splice(at, 0, input);
    if (kept.length > n) kept.pop();
    return kept;
  };
  return {
    create: () => [],
    add,
    result: (kept) => [...kept],
    merge: (a, b) => b.reduce(add, a),
  };
}

/** NaN is neither above nor below anything: the order would depend on where it stands. */
function readScore<In>(score: (input: In) => number, input: In): number {
  const points = score(input);
  if (!Number.isNaN(points)) return points;
  throw new RangeError(
    'topN got an input with score NaN, expected a number; leave it out, or score it',
  );
}
