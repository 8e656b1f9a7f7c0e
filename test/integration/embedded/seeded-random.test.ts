import { describe, expect, it } from 'vitest';

import { seededRandom } from '../../../localstack/embedded/seeded-random.ts';

function draw(random: { next(): number }, count: number): number[] {
  return Array.from({ length: count }, () => random.next());
}

describe('seeded dice', () => {
  it('are SplitMix64: seed 0 starts with the published words', () => {
    const random = seededRandom(0);
    const words = [0xe220a8397b1dcdafn, 0x6e789e6aa1b965f4n, 0x06c45d188009454fn];
    expect(draw(random, 3)).toEqual(words.map((word) => Number(word >> 11n) / 2 ** 53));
  });

  it('fall the same way for the same seed and another way for another', () => {
    expect(draw(seededRandom(7), 5)).toEqual(draw(seededRandom(7), 5));
    expect(draw(seededRandom(7), 5)).not.toEqual(draw(seededRandom(8), 5));
  });

  it('fork by label, whatever was thrown before', () => {
    const parent = seededRandom(7);
    const before = draw(parent.fork('a'), 3);
    parent.next();
    expect(draw(parent.fork('a'), 3)).toEqual(before);
    expect(draw(parent.fork('b'), 3)).not.toEqual(before);
  });

  it('stay within their bounds', () => {
    const random = seededRandom(3);
    const integers = new Set(Array.from({ length: 200 }, () => random.integerBelow(4)));
    expect(integers).toEqual(new Set([0, 1, 2, 3]));
    expect(random.chance(0)).toBe(false);
    expect(random.chance(1)).toBe(true);
    expect(['a', 'b']).toContain(random.pick(['a', 'b']));
  });

  it('refuse to pick from nothing', () => {
    expect(() => seededRandom(1).pick([])).toThrow('the list is empty');
  });
});
