import { describe, expect, it } from 'vitest';
import { isHoldfastError, type HoldfastError } from '../../../shared/core/errors.ts';
import { pack, unpack } from '../../../shared/core/pack.ts';
import { count, mean } from '../../../shared/operator/aggregator.ts';
import { decodeStates, emptyStates, encodeStates } from '../../../shared/operator/key-state.ts';
import {
  aggregatingState,
  listState,
  mapState,
  valueState,
  type StateDescriptors,
} from '../../../shared/operator/state.ts';
import { openStates, operatorWith } from './state-fixture.ts';

const thrownBy = (run: () => unknown): HoldfastError => {
  try {
    run();
  } catch (error) {
    if (isHoldfastError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

/** What another deployment of the operator reads from what this one has stored. */
const readWith = (descriptors: StateDescriptors, bytes: Uint8Array): unknown[] =>
  decodeStates(operatorWith(descriptors), bytes, 'ann');

describe('encodeStates', () => {
  it('gives nothing where every state is empty: the key is gone', () => {
    const { operator, live, state } = openStates({
      value: valueState<number>(),
      list: listState<number>(),
      map: mapState<number>(),
      sum: aggregatingState(count()),
    });
    expect(encodeStates(operator, live)).toBeUndefined();
    state.value.set(1);
    state.list.add(1);
    state.map.set('a', 1);
    state.sum.add(1);
    expect(encodeStates(operator, live)).toBeDefined();
    state.value.clear();
    state.list.clear();
    state.map.delete('a');
    state.sum.clear();
    expect(encodeStates(operator, live)).toBeUndefined();
  });

  it('takes a list that was set to nothing for empty', () => {
    const { operator, live, state } = openStates({ list: listState<number>() });
    state.list.set([]);
    expect(encodeStates(operator, live)).toBeUndefined();
  });

  it('stores each state under its name with its schema version', () => {
    const { operator, live, state } = openStates({
      total: valueState<number>({ version: 4 }),
      names: mapState<number>(),
      unused: listState<number>(),
    });
    state.total.set(5);
    state.names.set('b', 1);
    state.names.set('a', 2);
    expect(unpack(encodeStates(operator, live)!)).toEqual({
      total: [4, 5],
      names: [1, ['b', 1, 'a', 2]],
    });
  });

  it('stores null, zero and the empty text', () => {
    for (const value of [null, 0, '', false]) {
      const { operator, live, state } = openStates({ value: valueState<unknown>() });
      state.value.set(value);
      expect(decodeStates(operator, encodeStates(operator, live)!, 'k')).toEqual([value]);
    }
  });
});

describe('decodeStates', () => {
  it('gives all kinds back, each in its slot, through its codec', () => {
    const date = {
      encode: (d: Date) => d.getTime(),
      decode: (s: unknown) => new Date(s as number),
    };
    const descriptors = {
      day: valueState<Date>({ codec: date }),
      days: listState<Date>({ codec: date }),
      empty: valueState<number>(),
      byName: mapState<Date>({ codec: date }),
      mean: aggregatingState(mean(), {
        codec: { encode: (a) => a.join('/'), decode: (s) => parsePair(s as string) },
      }),
    };
    const { operator, live, state } = openStates(descriptors);
    state.day.set(new Date(1));
    state.days.add(new Date(2));
    state.days.add(new Date(3));
    state.byName.set('a', new Date(4));
    state.mean.add(5);
    const stored = encodeStates(operator, live)!;
    expect(unpack(stored)).toMatchObject({ day: [1, 1], days: [1, [2, 3]], mean: [1, '5/1'] });
    expect(decodeStates(operator, stored, 'k')).toEqual([
      new Date(1),
      [new Date(2), new Date(3)],
      undefined,
      new Map([['a', new Date(4)]]),
      [5, 1],
    ]);
  });

  it('reads by name, whatever the order of declaration', () => {
    const { operator, live, state } = openStates({ a: valueState(), b: valueState() });
    state.a.set('a');
    state.b.set('b');
    const stored = encodeStates(operator, live)!;
    expect(readWith({ b: valueState(), c: valueState(), a: valueState() }, stored)).toEqual([
      'b',
      undefined,
      'a',
    ]);
  });

  it('refuses a state that is stored and not declared, and says what to do', () => {
    const stored = pack({ removed: [1, 5] });
    const error = thrownBy(() => readWith({ total: valueState() }, stored));
    expect(error.kind).toBe('invalid');
    expect(error.message).toBe(
      'operator stateful, key "ann": state "removed" is stored but not declared; a state\'s name is a contract: declare it again, or start a new operator id',
    );
  });

  it('is fenced off from a newer schema version: other code is already at work', () => {
    const error = thrownBy(() => readWith({ total: valueState() }, pack({ total: [2, 5] })));
    expect(error.kind).toBe('fenced');
    expect(error.message).toContain(
      'state "total" has schema version 2, this code reads up to 1; newer code wrote it',
    );
  });

  it('refuses an older schema version where nobody says how to read it', () => {
    const stored = pack({ total: [1, 5] });
    const error = thrownBy(() => readWith({ total: valueState({ version: 3 }) }, stored));
    expect(error.kind).toBe('invalid');
    expect(error.message).toContain(
      'state "total" has schema version 1, this code writes 3; give the state a migrate function that reads version 1',
    );
  });

  it('migrates the stored form before the codec reads it', () => {
    const versions: number[] = [];
    const total = valueState<{ cents: number }>({
      version: 3,
      migrate: (stored, version) => {
        versions.push(version);
        return String((stored as number) * 100);
      },
      codec: { encode: (v) => String(v.cents), decode: (s) => ({ cents: Number(s) }) },
    });
    expect(readWith({ total }, pack({ total: [2, 5] }))).toEqual([{ cents: 500 }]);
    expect(readWith({ total }, pack({ total: [3, '700'] }))).toEqual([{ cents: 700 }]);
    expect(versions).toEqual([2]);
  });

  it('hands the whole stored form of a list or a map to migrate', () => {
    const last = listState<number>({ version: 2, migrate: (s) => (s as number[]).toReversed() });
    const names = mapState<number>({ version: 2, migrate: (s) => ['all', (s as []).length / 2] });
    const stored = pack({ last: [1, [1, 2]], names: [1, ['a', 1, 'b', 2]] });
    expect(readWith({ last, names }, stored)).toEqual([[2, 1], new Map([['all', 2]])]);
  });

  it('writes the present version back after a migration', () => {
    const total = valueState<number>({ version: 2, migrate: (s) => (s as number) + 1 });
    const operator = operatorWith({ total });
    const live = decodeStates(operator, pack({ total: [1, 5] }), 'k');
    expect(unpack(encodeStates(operator, live)!)).toEqual({ total: [2, 6] });
  });
});

describe('emptyStates', () => {
  it('has an empty slot for each state', () => {
    expect(emptyStates(operatorWith({ a: valueState(), b: listState() }))).toEqual([
      undefined,
      undefined,
    ]);
  });
});

function parsePair(text: string): [number, number] {
  const [sum, inputs] = text.split('/').map(Number);
  return [sum!, inputs!];
}
