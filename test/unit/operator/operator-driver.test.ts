import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { count } from '../../../shared/operator/aggregator.ts';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import {
  aggregatingState,
  listState,
  mapState,
  valueState,
} from '../../../shared/operator/state.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';

const purchase = z.object({ user: z.string(), item: z.string(), cents: z.int() });

const baskets = defineOperator({
  id: 'baskets',
  schema: purchase,
  key: (event) => event.user,
  state: {
    total: valueState<number>(),
    items: mapState<number>(),
    last: listState<string>({ keepLast: 2 }),
    events: aggregatingState(count()),
  },
  sinks: {
    large: appendSink({ row: z.object({ item: z.string(), at: z.int() }) }),
    totals: upsertSink({ row: z.object({ total: z.int() }) }),
    items: upsertSink({
      row: z.object({ item: z.string(), bought: z.int() }),
      rowKey: (row) => row.item,
    }),
  },
  process(event, ctx) {
    const { state } = ctx;
    if (event.item === 'refused') throw new Error('no such item');
    if (event.item === 'checkout') {
      for (const [item] of state.items.entries())
        ctx.emit({ sink: 'items', remove: true, rowKey: item });
      state.total.clear();
      state.items.clear();
      state.last.clear();
      state.events.clear();
      ctx.emit({ sink: 'totals', remove: true });
      return;
    }
    const total = (state.total.get() ?? 0) + event.cents;
    const bought = (state.items.get(event.item) ?? 0) + 1;
    state.total.set(total);
    state.items.set(event.item, bought);
    state.last.add(event.item);
    state.events.add(event);
    if (event.cents > 1000) ctx.emit({ sink: 'large', row: { item: event.item, at: ctx.now() } });
    ctx.emit({ sink: 'totals', row: { total } });
    ctx.emit({ sink: 'items', row: { item: event.item, bought } });
  },
});

const buy = (user: string, item: string, cents = 100) => ({ user, item, cents });

describe('the operator driver', () => {
  it('returns the outputs of an event in order', () => {
    const driver = createOperatorDriver(baskets);
    expect(driver.send(buy('ann', 'tea', 2000), { arrivalMs: 5 })).toEqual([
      { sink: 'large', key: 'ann', rowKey: '', row: { item: 'tea', at: 5 } },
      { sink: 'totals', key: 'ann', rowKey: '-', row: { total: 2000 } },
      { sink: 'items', key: 'ann', rowKey: 'tea', row: { item: 'tea', bought: 1 } },
    ]);
  });

  it('keeps the states of each key, decoded and by name', () => {
    const driver = createOperatorDriver(baskets);
    for (const item of ['tea', 'milk', 'tea']) driver.send(buy('ann', item));
    driver.send(buy('bob', 'tea'));
    expect(driver.stateOf('ann')).toEqual({
      total: 300,
      items: new Map([
        ['tea', 2],
        ['milk', 1],
      ]),
      last: ['milk', 'tea'],
      events: 3,
    });
    expect(driver.stateOf('bob')).toMatchObject({ total: 100 });
    expect(driver.keys()).toEqual(['ann', 'bob']);
  });

  it('has nothing of a key that was never seen or is gone', () => {
    const driver = createOperatorDriver(baskets);
    driver.send(buy('ann', 'tea'));
    driver.send(buy('ann', 'checkout'));
    expect(driver.keys()).toEqual([]);
    for (const key of ['ann', 'nobody']) {
      expect(driver.stateOf(key)).toEqual({
        total: undefined,
        items: undefined,
        last: undefined,
        events: undefined,
      });
    }
  });

  it('shows every output of a sink, and the rows of a view as they stand', () => {
    const driver = createOperatorDriver(baskets);
    for (const item of ['tea', 'milk', 'tea']) driver.send(buy('ann', item));
    driver.send(buy('bob', 'tea'));
    expect(driver.outputs('items')).toHaveLength(4);
    expect(driver.view('items').map(({ key, row }) => [key, row])).toEqual([
      ['ann', { item: 'tea', bought: 2 }],
      ['ann', { item: 'milk', bought: 1 }],
      ['bob', { item: 'tea', bought: 1 }],
    ]);
    driver.send(buy('ann', 'checkout'));
    expect(driver.view('items').map(({ key }) => key)).toEqual(['bob']);
    expect(driver.outputs('items').filter(({ row }) => row === null)).toHaveLength(2);
  });

  it('begins its clock with 2025 and moves it one second with each event', () => {
    const driver = createOperatorDriver(baskets);
    const start = Date.UTC(2025, 0, 1);
    driver.send(buy('ann', 'a', 5000));
    driver.send(buy('ann', 'b', 5000));
    driver.send(buy('ann', 'c', 5000), { arrivalMs: start + 60_000 });
    driver.send(buy('ann', 'd', 5000));
    const times = driver.outputs('large').map(({ row }) => (row as { at: number }).at - start);
    expect(times).toEqual([1000, 2000, 60_000, 61_000]);
  });

  it('throws what the operator throws and leaves state and outputs as they were', () => {
    const driver = createOperatorDriver(baskets);
    driver.send(buy('ann', 'tea'));
    const before = driver.stateOf('ann');
    expect(() => driver.send(buy('ann', 'refused'))).toThrow('no such item');
    expect(driver.stateOf('ann')).toEqual(before);
    expect(driver.outputs('totals')).toHaveLength(1);
    expect(driver.send(buy('ann', 'tea'))).toMatchObject([{ row: { total: 200 } }, {}]);
  });

  it('refuses an event that breaks the schema', () => {
    const driver = createOperatorDriver(baskets);
    expect(() => driver.send({ user: 'ann' })).toThrow(z.ZodError);
    expect(driver.keys()).toEqual([]);
  });
});
