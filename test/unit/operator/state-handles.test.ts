import { describe, expect, it } from 'vitest';
import { count, mean } from '../../../shared/operator/aggregator.ts';
import { createHandles } from '../../../shared/operator/key-state.ts';
import {
  aggregatingState,
  listState,
  mapState,
  valueState,
  type ValueState,
} from '../../../shared/operator/state.ts';
import { openStates, operatorWith } from './state-fixture.ts';

describe('a value', () => {
  it('is undefined until it is set, and again once it is cleared', () => {
    const { state } = openStates({ total: valueState<number>() });
    expect(state.total.get()).toBeUndefined();
    state.total.set(5);
    expect(state.total.get()).toBe(5);
    state.total.clear();
    expect(state.total.get()).toBeUndefined();
  });

  it.each([0, '', false, null])('tells %j from nothing', (value) => {
    const { state } = openStates({ value: valueState<unknown>() });
    state.value.set(value);
    expect(state.value.get()).toBe(value);
  });
});

describe('a list', () => {
  it('is empty until something is added, and keeps the order of adding', () => {
    const { state } = openStates({ last: listState<number>() });
    expect(state.last.get()).toEqual([]);
    expect(state.last.length).toBe(0);
    for (const element of [3, 1, 2]) state.last.add(element);
    expect(state.last.get()).toEqual([3, 1, 2]);
    expect(state.last.length).toBe(3);
  });

  it('drops the oldest past keepLast', () => {
    const { state } = openStates({ last: listState<number>({ keepLast: 3 }) });
    for (const element of [1, 2, 3, 4, 5]) state.last.add(element);
    expect(state.last.get()).toEqual([3, 4, 5]);
  });

  it('keeps one where keepLast is 1', () => {
    const { state } = openStates({ last: listState<number>({ keepLast: 1 }) });
    for (const element of [1, 2, 3]) state.last.add(element);
    expect(state.last.get()).toEqual([3]);
  });

  it('keeps the last elements of a longer list that is set', () => {
    const { state } = openStates({ last: listState<number>({ keepLast: 2 }) });
    state.last.set([1, 2, 3]);
    expect(state.last.get()).toEqual([2, 3]);
  });

  it('does not share the array that it is set to', () => {
    const { state } = openStates({ all: listState<number>() });
    const mine = [1, 2];
    state.all.set(mine);
    mine.push(3);
    expect(state.all.get()).toEqual([1, 2]);
  });

  it('is empty once it is cleared or set to nothing', () => {
    const { state } = openStates({ a: listState<number>(), b: listState<number>() });
    state.a.add(1);
    state.b.add(1);
    state.a.clear();
    state.b.set([]);
    expect([state.a.length, state.b.length]).toEqual([0, 0]);
  });

  it('does not let one key’s empty list be filled for another', () => {
    const { state } = openStates({ a: listState<number>() });
    expect(() => (state.a.get() as number[]).push(1)).toThrow(TypeError);
    expect(state.a.get()).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %d as keepLast', (keepLast) => {
    expect(() => listState({ keepLast })).toThrow(
      `listState keepLast is ${keepLast}, expected a whole number above 0`,
    );
  });
});

describe('a map', () => {
  it('is empty until something is set', () => {
    const { state } = openStates({ map: mapState<number>() });
    expect([...state.map.entries()]).toEqual([]);
    expect(state.map.size).toBe(0);
    expect(state.map.get('a')).toBeUndefined();
    expect(state.map.has('a')).toBe(false);
    expect(state.map.delete('a')).toBe(false);
  });

  it('keeps entries in the order of first insertion', () => {
    const { state } = openStates({ map: mapState<number>() });
    state.map.set('b', 1);
    state.map.set('a', 2);
    state.map.set('b', 3);
    expect([...state.map.entries()]).toEqual([
      ['b', 3],
      ['a', 2],
    ]);
    expect(state.map.size).toBe(2);
  });

  it('deletes one entry, and clears all', () => {
    const { state } = openStates({ map: mapState<number>() });
    state.map.set('a', 1);
    state.map.set('b', 2);
    expect(state.map.delete('a')).toBe(true);
    expect(state.map.has('a')).toBe(false);
    expect(state.map.get('b')).toBe(2);
    state.map.clear();
    expect(state.map.size).toBe(0);
  });

  it.each(['__proto__', 'constructor', '', 'a b'])('takes %j as a name like any other', (name) => {
    const { state } = openStates({ map: mapState<number>() });
    expect(state.map.get(name)).toBeUndefined();
    state.map.set(name, 1);
    expect(state.map.get(name)).toBe(1);
  });
});

describe('an aggregate', () => {
  it('has no result before the first input, and none once it is cleared', () => {
    const { state } = openStates({ mean: aggregatingState(mean()) });
    expect(state.mean.get()).toBeUndefined();
    state.mean.add(1);
    state.mean.add(2);
    expect(state.mean.get()).toBe(1.5);
    state.mean.clear();
    expect(state.mean.get()).toBeUndefined();
  });

  it('begins with a fresh accumulator after it was cleared', () => {
    const { state } = openStates({ mean: aggregatingState(mean()) });
    state.mean.add(100);
    state.mean.clear();
    state.mean.add(2);
    expect(state.mean.get()).toBe(2);
  });
});

describe('handles', () => {
  it('look at whatever key the cursor points at', () => {
    const operator = operatorWith({ total: valueState<number>(), seen: aggregatingState(count()) });
    const cursor = { live: [] as unknown[] };
    const { total } = createHandles(operator, cursor) as { total: ValueState<number> };
    const [first, second] = [
      [1, undefined],
      [undefined, undefined],
    ];
    cursor.live = first!;
    expect(total.get()).toBe(1);
    cursor.live = second!;
    expect(total.get()).toBeUndefined();
    total.set(2);
    expect([first, second]).toEqual([
      [1, undefined],
      [2, undefined],
    ]);
  });

  it('keep states of one key apart', () => {
    const { state } = openStates({ a: valueState<number>(), b: valueState<number>() });
    state.a.set(1);
    expect(state.b.get()).toBeUndefined();
  });
});

describe('the schema version of a state', () => {
  it.each([0, -1, 1.5, Number.NaN])('is refused where it is %d', (version) => {
    const message = `state version is ${version}, expected a whole number from 1`;
    expect(() => valueState({ version })).toThrow(message);
    expect(() => listState({ version })).toThrow(message);
    expect(() => mapState({ version })).toThrow(message);
    expect(() => aggregatingState(count(), { version })).toThrow(message);
  });
});
