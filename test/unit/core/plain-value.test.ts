import { describe, expect, it } from 'vitest';
import { copyPlain } from '../../../shared/core/plain-value.ts';

class Money {
  readonly cents = 5;
}

describe('copyPlain', () => {
  it.each([null, undefined, true, 1, Number.NaN, 'text', 5n])('gives %s as it is', (value) => {
    expect(copyPlain(value)).toBe(value);
  });

  it('gives equal objects and arrays that share nothing with the original', () => {
    const original = { list: [{ a: 1 }], nested: { deep: { b: [2] } }, none: undefined };
    const copy = copyPlain(original) as typeof original;
    expect(copy).toStrictEqual(original);
    original.list[0]!.a = 99;
    original.nested.deep.b.push(99);
    expect(copy).toStrictEqual({ list: [{ a: 1 }], nested: { deep: { b: [2] } }, none: undefined });
  });

  it('copies bytes and dates', () => {
    const data = new Uint8Array([1, 2]);
    const at = new Date(5);
    const copy = copyPlain({ data, at });
    data[0] = 9;
    at.setTime(9);
    expect(copy).toEqual({ data: new Uint8Array([1, 2]), at: new Date(5) });
  });

  it('copies a Buffer into bytes of its own', () => {
    const buffer = Buffer.from([1, 2, 3]);
    const copy = copyPlain(buffer) as Uint8Array;
    buffer.fill(0);
    expect([...copy]).toEqual([1, 2, 3]);
  });

  it('takes objects without a prototype', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(copyPlain(bare)).toEqual({ a: 1 });
  });

  it.each<[string, unknown, string]>([
    ['a function', { total: () => 1 }, 'row.total is a function'],
    ['a symbol', [Symbol('s')], 'row[0] is a symbol'],
    ['a map', { list: [0, new Map()] }, 'row.list[1] is a Map'],
    ['a set', new Set(), 'row is a Set'],
    ['an instance', { price: new Money() }, 'row.price is a Money'],
    ['a promise', { later: Promise.resolve() }, 'row.later is a Promise'],
  ])('refuses %s and says where it is', (_, value, message) => {
    expect(() => copyPlain(value)).toThrow(message);
    expect(() => copyPlain(value)).toThrow(TypeError);
  });

  it('names the path from where the caller begins', () => {
    expect(() => copyPlain({ a: new Map() }, 'state')).toThrow('state.a is a Map');
  });
});
