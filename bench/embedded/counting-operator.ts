import * as z from 'zod';
import { count, sum } from '../../shared/operator/aggregator.ts';
import { defineOperator, type Operator } from '../../shared/operator/operator.ts';
import { upsertSink } from '../../shared/operator/sink.ts';
import { aggregatingState } from '../../shared/operator/state.ts';

const schema = z.object({
  key: z.string(),
  id: z.number(),
  amount: z.number(),
  note: z.string(),
});

/** An event that is counted, and its amount added up, under its key. */
export type CountedEvent = z.output<typeof schema>;

/** What is kept of a key, whoever keeps it. */
export interface Totals {
  readonly count: number;
  readonly sum: number;
}

const state = { count: aggregatingState(count()), sum: aggregatingState(sum()) };
const key = (event: CountedEvent): string => event.key;

/** Keeps totals, and puts out nothing. */
export const countingOperator: Operator = defineOperator({
  ...{ id: 'counts', schema, key, state },
  sinks: {},
  process(event, ctx) {
    ctx.state.count.add(event);
    ctx.state.sum.add(event.amount);
  },
});

export const totalsSink = 'totals';

/** Keeps totals, and a row for each key that says them. */
export const publishingOperator: Operator = defineOperator({
  ...{ id: 'counts', schema, key, state },
  sinks: { [totalsSink]: upsertSink({ row: z.object({ count: z.number(), sum: z.number() }) }) },
  process(event, ctx) {
    const { count: counted, sum: total } = ctx.state;
    counted.add(event);
    total.add(event.amount);
    ctx.emit({ sink: totalsSink, row: { count: counted.get() ?? 0, sum: total.get() ?? 0 } });
  },
});
