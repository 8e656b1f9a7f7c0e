import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { appendSink, onlyRow, upsertSink } from '../../../shared/operator/sink.ts';

const row = z.object({ name: z.string(), total: z.number() });

describe('appendSink', () => {
  it('knows its columns and is exactly once unless it is told otherwise', () => {
    expect(appendSink({ row })).toMatchObject({
      kind: 'append',
      columns: ['name', 'total'],
      delivery: 'exactly-once',
    });
    expect(appendSink({ row, delivery: 'at-least-once' }).delivery).toBe('at-least-once');
  });
});

describe('upsertSink', () => {
  it('has one row for each operator key unless there is a row key', () => {
    const only = upsertSink({ row });
    expect(only).toMatchObject({ kind: 'upsert', columns: ['name', 'total'] });
    expect(only.rowKey({ name: 'a', total: 1 })).toBe(onlyRow);
    const several = upsertSink({ row, rowKey: ({ name }) => name });
    expect(several.rowKey({ name: 'a', total: 1 })).toBe('a');
  });
});

describe('the columns of a sink', () => {
  it.each(['pk', 'sk', '_generation', '1st', '', 'to-tal', 'a.b', 'ä'])('refuse %j', (column) => {
    const broken = z.object({ [column]: z.number() });
    const message = `sink column ${JSON.stringify(column)}: expected letters, digits and "_"`;
    expect(() => appendSink({ row: broken })).toThrow(message);
    expect(() => upsertSink({ row: broken })).toThrow(message);
  });

  it.each(['pkey', 'SK', 'a_1'])('take %j', (column) => {
    expect(appendSink({ row: z.object({ [column]: z.number() }) }).columns).toEqual([column]);
  });
});
