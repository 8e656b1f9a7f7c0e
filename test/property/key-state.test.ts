import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { decodeStates, encodeStates, type LiveStates } from '../../shared/operator/key-state.ts';
import { defineOperator, type Operator } from '../../shared/operator/operator.ts';
import {
  aggregatingState,
  listState,
  mapState,
  valueState,
  type Codec,
  type StateDescriptors,
} from '../../shared/operator/state.ts';
import { mean } from '../../shared/operator/aggregator.ts';

const operatorWith = (state: StateDescriptors): Operator =>
  defineOperator({
    id: 'stateful',
    schema: z.unknown(),
    key: () => 'k',
    state,
    process: () => undefined,
  });

/** Minus zero is stored as zero. */
const number = fc.double().filter((n) => !Object.is(n, -0));

/** What the documentation says survives being stored. */
const plain = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(
    fc.constant(null),
    fc.boolean(),
    number,
    fc.integer(),
    fc.string({ unit: 'grapheme' }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 20 }),
  ),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 8 }), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value;

const slots = (element: fc.Arbitrary<unknown>): fc.Arbitrary<LiveStates> =>
  fc.tuple(
    fc.option(element, { nil: undefined }),
    fc.option(fc.array(element, { maxLength: 5 }), { nil: undefined }),
    fc.option(
      fc.array(fc.tuple(fc.string(), element), { maxLength: 5 }).map((pairs) => new Map(pairs)),
      { nil: undefined },
    ),
    fc.option(fc.tuple(number, fc.nat()), { nil: undefined }),
  );

/** An empty list or map is stored as nothing. */
const withoutEmpty = (live: LiveStates): LiveStates =>
  live.map((state, slot) => {
    if (slot === 1 && (state as unknown[] | undefined)?.length === 0) return undefined;
    if (slot === 2 && (state as Map<string, unknown> | undefined)?.size === 0) return undefined;
    return state;
  });

const roundTrip = (writer: Operator, reader: Operator, live: LiveStates): LiveStates => {
  const bytes = encodeStates(writer, live);
  return bytes === undefined ? [] : decodeStates(reader, bytes, 'k');
};

const plainStates = (version: number, migrate?: (stored: unknown) => unknown): StateDescriptors => {
  const options = { version, ...(migrate === undefined ? {} : { migrate }) };
  return {
    value: valueState(options),
    list: listState(options),
    map: mapState(options),
    mean: aggregatingState(mean(), options),
  };
};

describe('the stored states of a key', () => {
  it('are what they were, for values of every kind that can be stored', () => {
    const operator = operatorWith(plainStates(1));
    fc.assert(
      fc.property(slots(plain), (live) => {
        const expected = withoutEmpty(live);
        const isGone = expected.every((slot) => slot === undefined);
        expect(roundTrip(operator, operator, live)).toEqual(isGone ? [] : expected);
      }),
      { numRuns: 500 },
    );
  });

  it('keep the order of lists and of maps', () => {
    const operator = operatorWith(plainStates(1));
    const filled = fc.tuple(
      fc.constant(undefined),
      fc.array(fc.nat(), { minLength: 1 }),
      fc.array(fc.tuple(fc.string(), fc.nat()), { minLength: 1 }).map((pairs) => new Map(pairs)),
      fc.constant(undefined),
    );
    fc.assert(
      fc.property(filled, (live) => {
        const [, list, map] = roundTrip(operator, operator, [...live]);
        expect(list).toEqual(live[1]);
        expect([...(map as Map<string, number>)]).toEqual([...live[2]]);
      }),
    );
  });

  it('go through the codec in both directions', () => {
    const codec: Codec<Set<string>> = {
      encode: (set) => [...set],
      decode: (stored) => new Set(stored as string[]),
    };
    const operator = operatorWith({
      value: valueState({ codec }),
      list: listState({ codec }),
      map: mapState({ codec }),
      mean: aggregatingState(mean(), {
        codec: { encode: (a) => a.map(String), decode: (s) => readPair(s as string[]) },
      }),
    });
    const set = fc.array(fc.string()).map((texts) => new Set(texts));
    fc.assert(
      fc.property(slots(set), (live) => {
        const expected = withoutEmpty(live);
        const isGone = expected.every((slot) => slot === undefined);
        expect(roundTrip(operator, operator, live)).toEqual(isGone ? [] : expected);
      }),
    );
  });

  it('are migrated from any older version, in their stored form, and then read alike', () => {
    const wrap = (stored: unknown): unknown => ({ wrapped: stored });
    fc.assert(
      fc.property(
        slots(plain),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        (live, older, steps) => {
          const writer = operatorWith(plainStates(older));
          const seen: unknown[] = [];
          const reader = operatorWith({
            ...plainStates(older + steps, (stored) => stored),
            value: valueState({
              version: older + steps,
              migrate: (stored, version) => {
                seen.push(version);
                return wrap(stored);
              },
            }),
          });
          const expected = withoutEmpty(live);
          fc.pre(expected.some((slot) => slot !== undefined));
          const [value, ...others] = roundTrip(writer, reader, live);
          expect(others).toEqual(expected.slice(1));
          expect(value).toEqual(expected[0] === undefined ? undefined : wrap(expected[0]));
          expect(seen).toEqual(expected[0] === undefined ? [] : [older]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of a newer version are fenced off, whatever is in them', () => {
    fc.assert(
      fc.property(slots(plain), (live) => {
        fc.pre(withoutEmpty(live).some((slot) => slot !== undefined));
        const [writer, reader] = [operatorWith(plainStates(2)), operatorWith(plainStates(1))];
        expect(() => roundTrip(writer, reader, live)).toThrow(
          /schema version 2, this code reads up to 1/,
        );
      }),
    );
  });
});

function readPair([total, inputs]: string[]): [number, number] {
  return [Number(total), Number(inputs)];
}
