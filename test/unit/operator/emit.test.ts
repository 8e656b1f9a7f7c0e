import { describe, expect, it } from 'vitest';
import { onlyRow } from '../../../shared/operator/sink.ts';
import { createRunner, type Context } from './run-fixture.ts';

/** What the emissions of one event look like, or what it threw. */
const emitted = (process: (ctx: Context) => void) => {
  const runner = createRunner(process);
  runner.run();
  return runner.emissions;
};

describe('an append', () => {
  it('is collected with its position and an index that counts the outputs of its event', () => {
    const runner = createRunner((ctx) => {
      ctx.emit({ sink: 'rows', row: { value: 'a' } });
      ctx.emit({ sink: 'rows', row: { value: 'b' } });
    });
    runner.run();
    runner.run({ sub: 4 });
    expect(runner.emissions.map(({ position, index, value }) => [position, index, value])).toEqual([
      [{ sequence: '1', sub: 0 }, 0, { value: 'a' }],
      [{ sequence: '1', sub: 0 }, 1, { value: 'b' }],
      [{ sequence: '2', sub: 4 }, 0, { value: 'a' }],
      [{ sequence: '2', sub: 4 }, 1, { value: 'b' }],
    ]);
  });

  it('has no row key', () => {
    expect(emitted((ctx) => ctx.emit({ sink: 'rows', row: { value: 1 } }))[0]?.row).toBe('');
  });

  it('cannot be removed', () => {
    const remove = { sink: 'rows', remove: true } as never;
    expect(() => emitted((ctx) => ctx.emit(remove))).toThrow(
      'operator doer removes a row of the append sink rows; only rows of upsert sinks can be removed',
    );
  });
});

describe('a row', () => {
  it('is copied: what the operator does to it later changes nothing', () => {
    const runner = createRunner((ctx) => {
      const row = { value: { list: [1] } };
      ctx.emit({ sink: 'rows', row });
      row.value.list.push(2);
      ctx.emit({ sink: 'view', row });
      row.value.list.push(3);
    });
    runner.run();
    expect(runner.emissions.map((emission) => emission.value)).toEqual([
      { value: { list: [1] } },
      { value: { list: [1, 2] } },
    ]);
  });

  it('is refused where it is not plain data', () => {
    expect(() => emitted((ctx) => ctx.emit({ sink: 'rows', row: { value: new Map() } }))).toThrow(
      'row.value is a Map, expected plain data',
    );
  });
});

describe('an upsert', () => {
  it('replaces an earlier one of the same row, of the same event or an earlier one of the unit', () => {
    const runner = createRunner((ctx) => {
      ctx.emit({ sink: 'view', row: { value: `${ctx.position.sequence}a` } });
      ctx.emit({ sink: 'rows', row: { value: 'kept' } });
      ctx.emit({ sink: 'view', row: { value: `${ctx.position.sequence}b` } });
    });
    runner.run();
    runner.run();
    expect(
      runner.emissions.map(({ sink, position, index }) => [sink, position.sequence, index]),
    ).toEqual([
      ['rows', '1', 1],
      ['rows', '2', 1],
      ['view', '2', 2],
    ]);
  });

  it('leaves other rows and other sinks alone', () => {
    const runner = createRunner((ctx, event) => {
      ctx.emit({ sink: 'by-name', row: { name: String(event), value: ctx.now() } });
      ctx.emit({ sink: 'view', row: { value: ctx.now() } });
    });
    for (const event of ['a', 'b', 'a']) runner.run({ event });
    expect(
      runner.emissions.map(({ sink, row, position }) => [sink, row, position.sequence]),
    ).toEqual([
      ['by-name', 'b', '2'],
      ['by-name', 'a', '3'],
      ['view', onlyRow, '3'],
    ]);
  });

  it('is replaced by a removal, and the removal by an upsert', () => {
    const runner = createRunner((ctx, event) => {
      if (event === 'remove') ctx.emit({ sink: 'view', remove: true });
      else ctx.emit({ sink: 'view', row: { value: event } });
    });
    runner.run({ event: 'first' });
    runner.run({ event: 'remove' });
    expect(runner.emissions).toMatchObject([{ row: onlyRow, value: null, index: 0 }]);
    runner.run({ event: 'second' });
    expect(runner.emissions).toMatchObject([{ row: onlyRow, value: { value: 'second' } }]);
  });

  it('of a named row is removed by its name', () => {
    const emissions = emitted((ctx) => {
      ctx.emit({ sink: 'by-name', row: { name: 'a', value: 1 } });
      ctx.emit({ sink: 'by-name', row: { name: 'b', value: 1 } });
      ctx.emit({ sink: 'by-name', remove: true, rowKey: 'a' });
    });
    expect(emissions.map(({ row, value }) => [row, value === null])).toEqual([
      ['b', false],
      ['a', true],
    ]);
  });

  it.each(['', 'x'.repeat(341), 5])('is refused with %j as a row key', (name) => {
    const row = { name: name as string, value: 1 };
    expect(() => emitted((ctx) => ctx.emit({ sink: 'by-name', row }))).toThrow(
      /sink by-name: row key .+, expected a text of 1 to 340 characters/,
    );
  });

  it('takes a row key at its longest', () => {
    const name = 'x'.repeat(340);
    expect(emitted((ctx) => ctx.emit({ sink: 'by-name', row: { name, value: 1 } }))[0]?.row).toBe(
      name,
    );
  });
});

describe('an output to a sink that is not declared', () => {
  it('is refused with those that are', () => {
    const output = { sink: 'others', row: { value: 1 } } as never;
    expect(() => emitted((ctx) => ctx.emit(output))).toThrow(
      'operator doer emitted to sink "others", declared are rows, view, by-name',
    );
  });
});
