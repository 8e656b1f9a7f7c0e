import { describe, expect, it } from 'vitest';

import {
  itemBytes,
  readUnits,
  writeUnits,
} from '../../../localstack/embedded/emulators/capacity.ts';
import type { AttributeValue } from '../../../localstack/embedded/emulators/dynalite-internals.ts';

describe('the size of an item', () => {
  it.each([
    [{ S: 'abc' }, 3],
    [{ S: 'é€' }, 5],
    [{ S: '' }, 0],
    [{ B: Buffer.from('abcde').toString('base64') }, 5],
    [{ N: '0' }, 1],
    [{ N: '7' }, 2],
    [{ N: '12' }, 2],
    [{ N: '123' }, 3],
    [{ N: '-12' }, 3],
    [{ N: '0.0012' }, 2],
    [{ N: '1200' }, 2],
    [{ BOOL: true }, 1],
    [{ NULL: true }, 1],
    [{ SS: ['a', 'bc'] }, 3],
    [{ NS: ['1', '23'] }, 4],
    [{ L: [{ S: 'ab' }, { S: 'c' }] }, 3 + 2 + 3],
    [{ M: { ab: { S: 'c' } } }, 3 + 1 + 3],
  ] as [AttributeValue, number][])('counts %j as %i bytes', (value, bytes) => {
    expect(itemBytes({ x: value })).toBe('x'.length + bytes);
  });

  it('counts names in UTF-8', () => {
    expect(itemBytes({ é: { S: 'a' } })).toBe(3);
  });
});

describe('units', () => {
  it('of a write are whole kilobytes, one at least', () => {
    expect([0, 1, 1_024, 1_025, 409_600].map(writeUnits)).toEqual([1, 1, 1, 2, 400]);
  });

  it('of a read are whole 4 KB, half of that if eventually consistent', () => {
    expect([0, 4_096, 4_097].map((bytes) => readUnits(bytes, true))).toEqual([1, 1, 2]);
    expect([0, 4_096, 4_097].map((bytes) => readUnits(bytes, false))).toEqual([0.5, 0.5, 1]);
  });
});
