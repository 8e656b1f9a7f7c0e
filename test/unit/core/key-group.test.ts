import { describe, expect, it } from 'vitest';
import {
  assertMaxParallelism,
  hashFromDecimal,
  hashKey,
  isOwnedBy,
  keyGroupOf,
  type HashRange,
} from '../../../shared/core/key-group.ts';

const hashOf = (value: bigint): string => value.toString(16).padStart(32, '0');
const hashSpace = 1n << 128n;

describe('hashKey', () => {
  // The test suite of RFC 1321, appendix A.5.
  it.each([
    ['', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['a', '0cc175b9c0f1b6a831c399e269772661'],
    ['abc', '900150983cd24fb0d6963f7d28e17f72'],
    ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
    ['abcdefghijklmnopqrstuvwxyz', 'c3fcd3d76192e4007dfb496cca67e13b'],
  ])('gives the MD5 of %j', (key, hash) => {
    expect(hashKey(key)).toBe(hash);
  });

  it('hashes the UTF-8 bytes of a key', () => {
    expect(hashKey('ä')).toBe('8419b71c87a225a2c70b50486fbee545');
  });
});

describe('hashFromDecimal', () => {
  it('spells the ends of the hash space', () => {
    expect(hashFromDecimal('0')).toBe('0'.repeat(32));
    expect(hashFromDecimal('340282366920938463463374607431768211455')).toBe('f'.repeat(32));
  });

  it('spells the middle of the hash space, where a stream of two shards is cut', () => {
    expect(hashFromDecimal('170141183460469231731687303715884105727')).toBe(`7${'f'.repeat(31)}`);
    expect(hashFromDecimal('170141183460469231731687303715884105728')).toBe(`8${'0'.repeat(31)}`);
  });
});

describe('isOwnedBy', () => {
  const range: HashRange = { from: `4${'0'.repeat(31)}`, to: `7${'f'.repeat(31)}` };

  it('takes both ends of a range', () => {
    expect(isOwnedBy(range, range.from)).toBe(true);
    expect(isOwnedBy(range, range.to)).toBe(true);
  });

  it('leaves out the neighbours of both ends', () => {
    expect(isOwnedBy(range, `3${'f'.repeat(31)}`)).toBe(false);
    expect(isOwnedBy(range, `8${'0'.repeat(31)}`)).toBe(false);
  });

  it('gives every hash to exactly one of two halves that a split inside a key group makes', () => {
    const middle = BigInt(`0x${range.from}`) + 12_345n;
    const low = { from: range.from, to: hashOf(middle - 1n) };
    const high = { from: hashOf(middle), to: range.to };
    expect(keyGroupOf(low.to, 128)).toBe(keyGroupOf(high.from, 128));
    for (const hash of [range.from, low.to, high.from, range.to]) {
      expect(isOwnedBy(low, hash) !== isOwnedBy(high, hash), hash).toBe(true);
    }
  });
});

describe('keyGroupOf', () => {
  it.each([1, 2, 128, 32_768])('cuts the hash space into %i equal ranges', (maxParallelism) => {
    const width = hashSpace / BigInt(maxParallelism);
    const groups = Array.from({ length: maxParallelism }, (_, group) => group);
    const groupsAt = (offset: bigint): number[] =>
      groups.map((group) => keyGroupOf(hashOf(BigInt(group) * width + offset), maxParallelism));
    expect(groupsAt(0n)).toEqual(groups);
    expect(groupsAt(width - 1n)).toEqual(groups);
  });

  it('fills all 128 groups evenly from a few thousand keys', () => {
    const sizes = new Array<number>(128).fill(0);
    for (let id = 0; id < 12_800; id += 1) {
      const group = keyGroupOf(hashKey(`key-${id}`), 128);
      sizes[group] = sizes[group]! + 1;
    }
    expect(Math.min(...sizes)).toBeGreaterThan(50);
    expect(Math.max(...sizes)).toBeLessThan(200);
  });
});

describe('assertMaxParallelism', () => {
  it.each([1, 2, 128, 32_768])('takes %i', (value) => {
    expect(() => assertMaxParallelism(value)).not.toThrow();
  });

  it.each([0, -2, 3, 100, 65_536, 2 ** 32, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses %d',
    (value) => {
      expect(() => assertMaxParallelism(value)).toThrow(
        `maxParallelism is ${value}, expected a power of two from 1 to 32768`,
      );
    },
  );
});
