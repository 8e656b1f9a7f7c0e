import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperator, type OperatorContext } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { listState, mapState, valueState } from '../../../shared/operator/state.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';

const state = {
  value: valueState<unknown>(),
  list: listState<unknown>(),
  map: mapState<unknown>(),
};
const sinks = {
  rows: appendSink({ row: z.object({ value: z.number() }) }),
  view: upsertSink({ row: z.object({ value: z.number() }) }),
};
type Context = OperatorContext<typeof state, typeof sinks>;

const drive = (process: (ctx: Context, event: { list: number[] }) => void) =>
  createOperatorDriver(
    defineOperator({
      id: 'checked',
      schema: z.object({ list: z.array(z.number()) }),
      key: () => 'k',
      state,
      sinks,
      process: (event, ctx) => process(ctx, event),
    }),
  );

const event = { list: [1, 2] };

describe('the driver finds an operator that is not deterministic', () => {
  const message =
    'operator checked, key "k": a second run of the same event gave another result; take time from ctx.now() and chance from ctx.random(), and keep nothing outside of ctx.state';

  it('because it keeps something outside of its state', () => {
    let calls = 0;
    const driver = drive((ctx) => ctx.state.value.set((calls += 1)));
    expect(() => driver.send(event)).toThrow(message);
    expect(driver.stateOf('k')).toMatchObject({ value: undefined });
  });

  it('because its outputs differ and its state does not', () => {
    let calls = 0;
    const driver = drive((ctx) => ctx.emit({ sink: 'rows', row: { value: (calls += 1) } }));
    expect(() => driver.send(event)).toThrow(message);
    expect(driver.outputs('rows')).toEqual([]);
  });

  it('because it emits one output more the second time', () => {
    let calls = 0;
    const driver = drive((ctx) => {
      for (let at = 0; at <= calls; at += 1) ctx.emit({ sink: 'rows', row: { value: 1 } });
      calls += 1;
    });
    expect(() => driver.send(event)).toThrow(message);
  });

  it('but takes ctx.now() and ctx.random() for what they are', () => {
    const driver = drive((ctx) => {
      ctx.state.value.set([ctx.now(), ctx.random()]);
      ctx.emit({ sink: 'rows', row: { value: ctx.random() } });
    });
    expect(() => driver.send(event)).not.toThrow();
  });

  it('but gives each run an event of its own, so that a changed one is not seen again', () => {
    const driver = drive((ctx, mine) => {
      mine.list.push(3);
      ctx.state.value.set(mine.list);
    });
    driver.send(event);
    expect(driver.stateOf('k')).toMatchObject({ value: [1, 2, 3] });
    expect(event.list).toEqual([1, 2]);
  });
});

class Money {
  readonly cents = 5;
}

describe('the driver finds a state that does not survive being stored', () => {
  it.each<[string, unknown]>([
    ['an instance of a class', new Money()],
    ['a map inside of a value', { byName: new Map([['a', 1]]) }],
    ['a function', { total: () => 1 }],
    ['text that is no Unicode', '\ud800'],
  ])('%s', (_, value) => {
    const message = (name: string): string =>
      `operator checked, key "k": state ${name} does not survive being stored; store plain objects`;
    expect(() => drive((ctx) => ctx.state.value.set(value)).send(event)).toThrow(message('value'));
    expect(() => drive((ctx) => ctx.state.list.add(value)).send(event)).toThrow(message('list'));
    expect(() => drive((ctx) => ctx.state.map.set('a', value)).send(event)).toThrow(message('map'));
  });

  it.each<[string, unknown]>([
    ['an object', { a: [1, null, { b: 'x' }] }],
    ['a bigint', 5n],
    ['a date', { at: new Date(5) }],
    ['bytes', new Uint8Array([1, 2])],
    ['bytes inside of an object', { data: new Uint8Array([1, 2]) }],
    ['a number that is none', Number.NaN],
  ])('but takes %s', (_, value) => {
    const driver = drive((ctx) => {
      ctx.state.value.set(value);
      ctx.state.list.add(value);
      ctx.state.map.set('a', value);
    });
    driver.send(event);
    expect(driver.stateOf('k')).toEqual({ value, list: [value], map: new Map([['a', value]]) });
  });

  it('but takes a list or a map that was emptied for one that is not there', () => {
    const driver = drive((ctx) => {
      ctx.state.list.set([]);
      ctx.state.map.set('a', 1);
      ctx.state.map.delete('a');
    });
    driver.send(event);
    expect(driver.keys()).toEqual([]);
  });
});

describe('the driver finds a row that breaks the schema of its sink', () => {
  it.each(['rows', 'view'] as const)('of %s', (sink) => {
    const row = { value: 'text' };
    const driver = drive((ctx) => ctx.emit({ sink, row } as never));
    expect(() => driver.send(event)).toThrow(
      `operator checked: a row for sink ${sink} breaks the sink's schema`,
    );
    expect(driver.outputs(sink)).toEqual([]);
  });

  it('but takes a removal, which has no row', () => {
    const driver = drive((ctx) => ctx.emit({ sink: 'view', remove: true }));
    expect(driver.send(event)).toEqual([{ sink: 'view', key: 'k', rowKey: '-', row: null }]);
  });
});
