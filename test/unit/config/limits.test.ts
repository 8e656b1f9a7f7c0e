import { describe, expect, it } from 'vitest';
import {
  DEFAULTS,
  describeLimit,
  isMaxParallelism,
  isName,
  isWithin,
  LIMITS,
} from '../../../shared/config/limits.ts';

describe('limits', () => {
  it.each(Object.entries(LIMITS))('%s has a unit and a reason, and admits its ends', (_, limit) => {
    expect(limit.unit).not.toBe('');
    expect(limit.reason).not.toBe('');
    expect(isWithin(limit, limit.min)).toBe(true);
    expect(isWithin(limit, limit.max)).toBe(true);
    expect(isWithin(limit, limit.min - 1)).toBe(false);
    expect(isWithin(limit, limit.max + 1)).toBe(false);
  });

  it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', undefined])(
    'takes %s for no whole number',
    (value) => {
      expect(isWithin({ min: 0, max: 1, unit: 'things', reason: 'example' }, value)).toBe(false);
    },
  );

  it('admits every default', () => {
    for (const [name, value] of Object.entries(DEFAULTS)) {
      expect(isWithin(LIMITS[name as keyof typeof DEFAULTS], value), name).toBe(true);
    }
  });

  it('describes a range with its unit and its reason', () => {
    expect(describeLimit(LIMITS.batchSize)).toBe(
      'a whole number of records from 1 to 10000 (Lambda hands over at most 10,000 records (and 6 MB) at once)',
    );
  });
});

describe('isMaxParallelism', () => {
  it('admits the sixteen powers of two up to 32,768 and nothing else', () => {
    const admitted = Array.from({ length: 40_000 }, (_, value) => value).filter(isMaxParallelism);
    expect(admitted).toEqual(Array.from({ length: 16 }, (_, exponent) => 2 ** exponent));
  });
});

describe('isName', () => {
  it.each(['a', 'flight-delays', 'a1', `a${'b'.repeat(62)}`])('admits %s', (name) => {
    expect(isName(name)).toBe(true);
  });

  it.each(['', 'A', '1a', '-a', 'a_b', 'a/b', 'a#b', 'a\n', `a${'b'.repeat(63)}`, 7, undefined])(
    'refuses %j',
    (name) => {
      expect(isName(name)).toBe(false);
    },
  );
});
