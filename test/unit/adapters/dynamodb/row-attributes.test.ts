import fc from 'fast-check';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';

import type { TableAccess } from '../../../../shared/adapters/dynamodb/conditional-write.ts';
import { encodeColumns } from '../../../../shared/adapters/dynamodb/row-attributes.ts';
import { fitWriteMode } from '../../../../shared/adapters/dynamodb/sink-row.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { fakeDynamodb } from '../fake-client.ts';

const encode = (value: unknown): unknown => encodeColumns({ column: value }, ['column'])['column'];

describe('row attributes', () => {
  it.each([
    ['text', { S: 'text' }],
    ['', { S: '' }],
    [12.5, { N: '12.5' }],
    [0, { N: '0' }],
    [1e21, { N: '1e+21' }],
    [9_007_199_254_740_993n, { N: '9007199254740993' }],
    [true, { BOOL: true }],
    [null, { NULL: true }],
    [new Uint8Array([1]), { B: new Uint8Array([1]) }],
    [new Date(0), { S: '1970-01-01T00:00:00.000Z' }],
    [[1, 'a', undefined], { L: [{ N: '1' }, { S: 'a' }, { NULL: true }] }],
    [new Set(['a']), { L: [{ S: 'a' }] }],
    [{ a: 1, b: undefined }, { M: { a: { N: '1' } } }],
    [new Map([['a', 1]]), { M: { a: { N: '1' } } }],
    [{}, { M: {} }],
    [undefined, undefined],
  ])('write %o as an attribute', (value, attribute) => {
    expect(encode(value)).toEqual(attribute);
  });

  it.each([
    [Number.NaN, { S: 'NaN' }],
    [Number.POSITIVE_INFINITY, { S: 'Infinity' }],
    [1e126, { S: '1e+126' }],
    [-1e300, { S: '-1e+300' }],
    [1e-131, { S: '1e-131' }],
    [new Date(Number.NaN), { S: 'Invalid Date' }],
    ['half \ud83d', { S: 'half \ufffd' }],
  ])('write %o, for which DynamoDB has nothing, as text', (value, attribute) => {
    expect(encode(value)).toEqual(attribute);
  });

  it('write what is nested too deep as text', () => {
    let value: unknown = { big: 1n };
    for (let depth = 0; depth < 40; depth += 1) value = [value];
    const depthOf = (attribute: unknown): number => {
      const { L: [element] = [] } = attribute as { L?: unknown[] };
      return element === undefined ? 1 : 1 + depthOf(element);
    };
    expect(depthOf(encode(value))).toBe(31);
    expect(JSON.stringify(encode(value))).toContain('{\\"big\\":\\"1\\"}');
  });

  it('come back as they were, for everything that JSON can say', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (json) => {
        const value: unknown = JSON.parse(JSON.stringify(json));
        const isFine =
          JSON.stringify(value).isWellFormed() && !/e[+-]\d{3}/.test(JSON.stringify(value));
        fc.pre(isFine && !/\\ud[89a-f]/i.test(JSON.stringify(value)));
        const { column } = unmarshall(encodeColumns({ column: value }, ['column']), {
          wrapNumbers: (text) => Number(text),
        });
        expect(column).toEqual(value);
      }),
    );
  });

  it('are the declared columns that the row has, and no others', () => {
    const row = { a: 1, c: 3, undeclared: 4, 'x"; DROP': 5 };
    expect(encodeColumns(row, ['a', 'b', 'c'])).toEqual({ a: { N: '1' }, c: { N: '3' } });
    expect(encodeColumns('no row', ['a'])).toEqual({});
  });
});

describe('write mode of a sink', () => {
  const access: TableAccess = {
    client: fakeDynamodb(() => ({})),
    table: 't',
    system: createMemorySystem(),
  };

  it('is what was asked for while a statement can name all columns', () => {
    const columns = Array.from({ length: 100 }, (_, at) => `a_column_with_a_long_name_${at}`);
    expect(fitWriteMode(access, columns)).toBe(access);
  });

  it('is conditional-put where a statement would be too long', () => {
    const columns = Array.from({ length: 300 }, (_, at) => `a_column_with_a_long_name_${at}`);
    expect(fitWriteMode(access, columns).writeMode).toBe('conditional-put');
  });
});
