import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../../shared/core/pack.ts';

const survives = (value: unknown): unknown => unpack(pack(value));

describe('pack and unpack', () => {
  it.each([
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    Number.MAX_VALUE,
    Number.MIN_VALUE,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
    0.1 + 0.2,
    '',
    'ä€😀',
    'x'.repeat(100_000),
  ])('give %s back', (value) => {
    expect(survives(value)).toBe(value);
  });

  it.each([0n, 5n, -5n, 2n ** 63n - 1n, -(2n ** 63n)])(
    'give the bigint %d back as one',
    (value) => {
      expect(survives(value)).toBe(value);
    },
  );

  it.each([0, 5, Date.UTC(2025, 0, 1, 12, 30, 0, 123), Date.UTC(1, 0, 1), -1])(
    'give the date at %d ms back',
    (ms) => {
      expect(survives(new Date(ms))).toEqual(new Date(ms));
    },
  );

  it('give bytes back as bytes of their own', () => {
    const packed = pack({ data: new Uint8Array([1, 2, 255]) });
    const { data } = unpack(packed) as { data: Uint8Array };
    packed.fill(0);
    expect(data).toEqual(new Uint8Array([1, 2, 255]));
  });

  it('give nested arrays and objects back', () => {
    const value = { list: [1, [2, { deep: [] }], {}], none: null, 'a b': { 1: 'one' } };
    expect(survives(value)).toEqual(value);
  });

  it('give objects of one shape back with their own values', () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}` }));
    expect(survives(rows)).toEqual(rows);
  });

  it('keep the order of properties', () => {
    expect(Object.keys(survives({ b: 1, a: 2, c: 3 }) as object)).toEqual(['b', 'a', 'c']);
  });

  it('write plain MessagePack that any reader understands', () => {
    expect([...pack({ a: 1, b: [true, null] })]).toEqual([
      0xde, 0x00, 0x02, 0xa1, 0x61, 0x01, 0xa1, 0x62, 0x92, 0xc3, 0xc0,
    ]);
  });

  it('write the same bytes each time', () => {
    const value = { a: 1, list: [{ b: 2 }, { b: 3 }] };
    expect(pack(value)).toEqual(pack(structuredClone(value)));
  });

  it('refuse bytes that end too early', () => {
    const bytes = pack({ list: [1, 2, 3] });
    expect(() => unpack(bytes.subarray(0, bytes.length - 1))).toThrow();
  });
});
