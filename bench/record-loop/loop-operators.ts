import * as z from 'zod';
import { count, sum } from '../../shared/operator/aggregator.ts';
import { defineOperator, type Operator } from '../../shared/operator/operator.ts';
import { appendSink } from '../../shared/operator/sink.ts';
import { aggregatingState, listState, mapState, valueState } from '../../shared/operator/state.ts';
import { defineWindowedOperator } from '../../shared/operator/windows/windowed-operator.ts';
import { tumbling } from '../../shared/operator/windows/window-assigner.ts';

const schema = z.object({
  key: z.string(),
  at: z.number(),
  amount: z.number(),
  item: z.string(),
  note: z.string(),
});

const common = { schema, key: (event: z.output<typeof schema>) => event.key };

/** One operator for each kind of state, which does little with it: what is measured is the way there and back. */
export const loopOperators = {
  aggregating: defineOperator({
    ...common,
    id: 'aggregating',
    state: { sum: aggregatingState(sum()), count: aggregatingState(count()) },
    process(event, { state }) {
      state.sum.add(event.amount);
      state.count.add(event);
    },
  }),
  value: defineOperator({
    ...common,
    id: 'value',
    state: { last: valueState<{ readonly amount: number; readonly item: string }>() },
    process({ amount, item }, { state }) {
      state.last.set({ amount: (state.last.get()?.amount ?? 0) + amount, item });
    },
  }),
  list: defineOperator({
    ...common,
    id: 'list',
    state: { recent: listState<number>({ keepLast: 10 }) },
    process(event, { state }) {
      state.recent.add(event.amount);
    },
  }),
  map: defineOperator({
    ...common,
    id: 'map',
    state: { amounts: mapState<number>() },
    process({ amount, item }, { state }) {
      const kind = item.slice(0, 1);
      state.amounts.set(kind, (state.amounts.get(kind) ?? 0) + amount);
    },
  }),
  windows: defineWindowedOperator({
    ...common,
    id: 'windows',
    eventTime: { time: (event) => event.at, outOfOrdernessMs: 1_000 },
    window: tumbling(60_000),
    aggregate: (over) => over((event) => event.amount, sum()),
    sinks: { sums: appendSink({ row: z.object({ start: z.number(), sum: z.number() }) }) },
    onResult({ window, result }, ctx) {
      ctx.emit({ sink: 'sums', row: { start: window.start, sum: result } });
    },
    onLate() {
      throw new Error('no event of this bench is late');
    },
  }),
} satisfies Readonly<Record<string, Operator>>;

export type LoopOperator = keyof typeof loopOperators;
