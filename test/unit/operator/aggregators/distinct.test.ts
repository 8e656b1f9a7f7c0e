import { describe, expect, it } from 'vitest';
import { distinct, type Countable } from '../../../../shared/operator/aggregators/distinct.ts';

const aggregator = distinct();

function fold(inputs: Iterable<Countable>): Uint8Array {
  let accumulator = aggregator.create();
  for (const input of inputs) accumulator = aggregator.add(accumulator, input);
  return accumulator;
}

function* texts(seed: number, inputs: number): Generator<string> {
  for (let n = 0; n < inputs; n += 1) yield `visitor ${seed}/${n}`;
}

describe('distinct', () => {
  it('counts exactly up to 341 inputs, in 6 bytes each', () => {
    expect(aggregator.result(fold([]))).toBe(0);
    for (const inputs of [1, 7, 341]) {
      const accumulator = fold([...texts(0, inputs), ...texts(0, inputs)]);
      expect(aggregator.result(accumulator)).toBe(inputs);
      expect(accumulator).toHaveLength(6 * inputs);
    }
  });

  it('tells kinds of inputs apart, but not one number from itself', () => {
    expect(aggregator.result(fold([1, '1', 1n, true, 'true', 0, -0, Number.NaN, NaN]))).toBe(7);
  });

  // 1.04 / √2048 = 2.30 %; of 40 estimates the root mean square error is within a third of it.
  it.each([400, 1000, 3000, 5000, 7000, 15_000])(
    'has the standard error of HyperLogLog for %d inputs, and no bias',
    (inputs) => {
      const errors = Array.from({ length: 40 }, (_, seed) => {
        const accumulator = fold(texts(seed, inputs));
        expect(accumulator).toHaveLength(2048);
        return aggregator.result(accumulator) / inputs - 1;
      });
      const meanOf = (all: readonly number[]) => all.reduce((a, b) => a + b, 0) / all.length;
      const standardError = 1.04 / Math.sqrt(2048);
      expect(Math.sqrt(meanOf(errors.map((error) => error ** 2)))).toBeLessThan(
        standardError * 1.33,
      );
      // The mean of 40 varies by a sixth of the standard error: three times that.
      expect(Math.abs(meanOf(errors))).toBeLessThan(standardError / 2);
      expect(Math.max(...errors.map(Math.abs))).toBeLessThan(standardError * 4);
    },
    30_000,
  );

  it('counts what went into either of two when they are merged, large and small', () => {
    const large = [...texts(1, 5000)];
    const small = [...texts(2, 100)];
    const { merge } = aggregator as Required<typeof aggregator>;
    const all = fold([...large, ...small]);
    expect(merge(fold(large), fold(small))).toEqual(all);
    expect(merge(fold(small), fold(large))).toEqual(all);
    expect(merge(fold(large), fold([...small, ...large]))).toEqual(all);
    expect(merge(fold(small), fold(small.slice(50)))).toEqual(fold(small));
    expect(merge(fold(small), fold(texts(3, 300)))).toEqual(fold([...small, ...texts(3, 300)]));
  });

  it('leaves the accumulator as it was where the input is known', () => {
    const accumulator = fold(['a', 'b']);
    expect(aggregator.add(accumulator, 'a')).toBe(accumulator);
  });

  it('gives the same bytes for ever: they are stored', () => {
    expect(Buffer.from(fold(['a', 'b'])).toString('hex')).toBe('7ce4159d4691cec2f53f8662');
    const dense = fold(texts(0, 1000));
    expect([aggregator.result(dense), Buffer.from(dense.subarray(0, 24)).toString('hex')]).toEqual([
      1003,
      '000500040500000300000000000300000000040003020001',
    ]);
  });
});
