import { describe, expect, it } from 'vitest';
import {
  count,
  max,
  mean,
  min,
  sum,
  type Aggregator,
} from '../../../shared/operator/aggregator.ts';

function fold<In, Accumulator, Out>(
  aggregator: Aggregator<In, Accumulator, Out>,
  inputs: readonly In[],
): Out {
  let accumulator = aggregator.create();
  for (const input of inputs) accumulator = aggregator.add(accumulator, input);
  return aggregator.result(accumulator);
}

describe('aggregators', () => {
  it('sum adds up', () => {
    expect(fold(sum(), [1, 2.5, -4])).toBe(-0.5);
    expect(fold(sum(), [])).toBe(0);
  });

  it('count counts inputs of any kind', () => {
    expect(fold(count(), ['a', undefined, { b: 1 }])).toBe(3);
  });

  it('min and max find the ends, of negative numbers too', () => {
    expect(fold(min(), [3, -7, 5])).toBe(-7);
    expect(fold(max(), [-3, -7, -5])).toBe(-3);
  });

  it('mean is exact as long as the sum is', () => {
    expect(fold(mean(), [1, 2, 4, 5])).toBe(3);
    expect(
      fold(
        mean(),
        Array.from({ length: 1000 }, () => 0.25),
      ),
    ).toBe(0.25);
  });

  it('mean gives each fold an accumulator of its own', () => {
    const aggregator = mean();
    expect([fold(aggregator, [2]), fold(aggregator, [4])]).toEqual([2, 4]);
  });
});
