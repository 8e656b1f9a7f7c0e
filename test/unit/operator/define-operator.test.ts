import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { count } from '../../../shared/operator/aggregator.ts';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import {
  aggregatingState,
  listState,
  mapState,
  valueState,
  type AggregatingState,
  type ListState,
  type MapState,
  type ValueState,
} from '../../../shared/operator/state.ts';

const event = z.object({ user: z.string(), at: z.coerce.date(), amount: z.number().default(1) });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const parts = {
  schema: event,
  key: (e: z.output<typeof event>) => e.user,
  process: () => undefined,
};

describe('defineOperator', () => {
  it('keeps id, state names in order of declaration, and sinks', () => {
    const operator = defineOperator({
      ...parts,
      id: 'totals',
      state: { zeta: valueState<number>(), alpha: listState<string>() },
      sinks: { rows: appendSink({ row: z.object({ a: z.number() }) }) },
    });
    expect(operator.id).toBe('totals');
    expect(operator.stateNames).toEqual(['zeta', 'alpha']);
    expect(operator.states.map((state) => state.kind)).toEqual(['value', 'list']);
    expect([...operator.sinks.keys()]).toEqual(['rows']);
  });

  it('has no sinks where none are declared', () => {
    expect(defineOperator({ ...parts, id: 'totals', state: {} }).sinks.size).toBe(0);
  });

  it('binds process to its definition', () => {
    const seen: unknown[] = [];
    const definition = {
      ...parts,
      id: 'bound',
      state: {},
      limit: 7,
      process(this: { limit: number }) {
        seen.push(this.limit);
      },
    };
    defineOperator(definition).process({}, {} as never);
    expect(seen).toEqual([7]);
  });

  it.each(['', 'Totals', '1totals', '-totals', 'to_tals', 'to.tals', 'to#tals', 't'.repeat(64)])(
    'refuses %j as an id',
    (id) => {
      expect(() => defineOperator({ ...parts, id, state: {} })).toThrow(
        `operator id is ${JSON.stringify(id)}, expected /^[a-z][a-z0-9-]{0,62}$/; it is a contract`,
      );
    },
  );

  it.each(['', '1st', '_total', 'to-tal', '__proto__x', 's'.repeat(64)])(
    'refuses %j as the name of a state',
    (name) => {
      expect(() =>
        defineOperator({ ...parts, id: 'totals', state: { [name]: valueState<number>() } }),
      ).toThrow(`state name is ${JSON.stringify(name)}`);
    },
  );

  it.each(['', 'Rows', 'ro_ws', '!dead-letters', 'dead letters'])(
    'refuses %j as the name of a sink',
    (name) => {
      const sinks = { [name]: appendSink({ row: z.object({ a: z.number() }) }) };
      expect(() => defineOperator({ ...parts, id: 'totals', state: {}, sinks })).toThrow(
        `sink name is ${JSON.stringify(name)}`,
      );
    },
  );

  it('takes names at their longest', () => {
    const id = `t${'-'.repeat(62)}`;
    const state = { [`S${'_'.repeat(62)}`]: valueState<number>() };
    expect(defineOperator({ ...parts, id, state }).id).toBe(id);
  });
});

describe('parse', () => {
  const operator = defineOperator({ ...parts, id: 'totals', state: {} });

  it('gives what the schema makes of the JSON in the bytes', () => {
    expect(operator.parse(bytes('{"user":"ä","at":"2025-01-01T00:00:00Z","other":1}'))).toEqual({
      user: 'ä',
      at: new Date(Date.UTC(2025, 0, 1)),
      amount: 1,
    });
  });

  it.each<[string, Uint8Array]>([
    ['no JSON', bytes('{')],
    ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
    ['nothing', new Uint8Array()],
    ['a breach of the schema', bytes('{"user":5}')],
  ])('throws for %s', (_, data) => {
    expect(() => operator.parse(data)).toThrow();
  });

  it('reads another format with decode, and checks it with the same schema', () => {
    const csv = defineOperator({
      ...parts,
      id: 'totals',
      state: {},
      decode: (data) => {
        const [user, at, amount] = new TextDecoder().decode(data).split(',');
        return { user, at, amount: Number(amount) };
      },
    });
    expect(csv.parse(bytes('ann,2025-01-01,5'))).toMatchObject({ user: 'ann', amount: 5 });
    expect(() => csv.parse(bytes('ann,never,5'))).toThrow();
  });
});

describe('the types of a definition', () => {
  it('flow from schema, states and sinks into the callbacks', () => {
    defineOperator({
      id: 'typed',
      schema: event,
      key: (e) => {
        expectTypeOf(e).toEqualTypeOf<{ user: string; at: Date; amount: number }>();
        return e.user;
      },
      state: {
        total: valueState<number>(),
        last: listState<Date>(),
        names: mapState<string>(),
        events: aggregatingState(count()),
      },
      sinks: {
        rows: appendSink({ row: z.object({ total: z.number() }) }),
        view: upsertSink({ row: z.object({ name: z.string() }), rowKey: (row) => row.name }),
      },
      process(e, ctx) {
        expectTypeOf(e.at).toEqualTypeOf<Date>();
        expectTypeOf(ctx.state.total).toEqualTypeOf<ValueState<number>>();
        expectTypeOf(ctx.state.last).toEqualTypeOf<ListState<Date>>();
        expectTypeOf(ctx.state.names).toEqualTypeOf<MapState<string>>();
        expectTypeOf(ctx.state.events).toEqualTypeOf<AggregatingState<unknown, number>>();
        ctx.emit({ sink: 'rows', row: { total: 1 } });
        ctx.emit({ sink: 'view', remove: true, rowKey: 'a' });
        // @ts-expect-error a sink that is not declared
        ctx.emit({ sink: 'others', row: { total: 1 } });
        // @ts-expect-error a row of another sink
        ctx.emit({ sink: 'rows', row: { name: 'a' } });
        // @ts-expect-error rows of an append sink cannot be removed
        ctx.emit({ sink: 'rows', remove: true });
        // @ts-expect-error a state that is not declared
        expectTypeOf(ctx.state.missing).toBeAny();
      },
    });
  });
});
