import * as z from 'zod';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { valueState } from '../../../shared/operator/state.ts';

/* Two operators on one stream that do between them all that an operator can do with its tables. */

const accountEvent = z.object({
  account: z.string(),
  id: z.number(),
  kind: z.enum(['add', 'close']),
  /** ms since the epoch. */
  at: z.number(),
});

export type AccountEvent = z.output<typeof accountEvent>;

const historyRow = z.object({ history: z.string() });

/** Each account's rows hold the history of its events since it was closed, in order. */
export const accounts = defineOperator({
  id: 'accounts',
  schema: accountEvent,
  key: ({ account }) => account,
  state: { history: valueState<string>() },
  sinks: {
    journal: appendSink({ row: historyRow }),
    notices: appendSink({ row: historyRow, delivery: 'at-least-once' }),
    balance: upsertSink({ row: historyRow }),
  },
  process({ id, kind }, ctx) {
    const row = { history: `${ctx.state.history.get() ?? ''}/${id}` };
    ctx.emit({ sink: 'journal', row });
    ctx.emit({ sink: 'notices', row });
    if (kind === 'close') {
      ctx.state.history.clear();
      ctx.emit({ sink: 'balance', remove: true });
    } else {
      ctx.state.history.set(row.history);
      ctx.emit({ sink: 'balance', row });
    }
  },
});

/** So long an account is quiet before it is reminded, ms of event time. */
const quietMs = 50;

/** Reminds of an account once nothing has come for some time. */
export const reminders = defineOperator({
  id: 'reminders',
  schema: accountEvent,
  key: ({ account }) => account,
  eventTime: { time: ({ at }) => at, outOfOrdernessMs: 3_600_000 },
  state: { last: valueState<number>() },
  sinks: { reminders: appendSink({ row: z.object({ last: z.number() }) }) },
  process({ id, at }, ctx) {
    ctx.state.last.set(id);
    ctx.timers.register({ name: 'quiet', time: at + quietMs });
  },
  onTimer(_timer, ctx) {
    ctx.emit({ sink: 'reminders', row: { last: ctx.state.last.get() ?? 0 } });
  },
});
