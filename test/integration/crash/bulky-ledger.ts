import * as z from 'zod';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { listState, valueState } from '../../../shared/operator/state.ts';

/*
 * An operator for which order and number of its events are everything: its state is their order, some events delete
 * it, each one appends what the state was and replaces a view row. Bulky events emit more than fits into an item.
 */

const entrySchema = z.object({
  account: z.string(),
  id: z.number(),
  kind: z.enum(['add', 'delete', 'throw', 'bulky']),
});

export type Entry = z.output<typeof entrySchema>;

/** Two such rows are more than the 64 KB of emissions that an item holds itself. */
const ballast = '.'.repeat(40 * 1024);

export const bulkyLedger = defineOperator({
  id: 'bulky-ledger',
  schema: entrySchema,
  key: (entry) => entry.account,
  state: { history: valueState<string>(), last: listState<number>({ keepLast: 2 }) },
  sinks: {
    journal: appendSink({
      row: z.object({ history: z.string(), dice: z.number(), ballast: z.string() }),
    }),
    balance: upsertSink({ row: z.object({ history: z.string() }) }),
  },
  process(entry, ctx) {
    if (entry.kind === 'throw') throw new Error(`entry ${entry.id} is bad`);
    const history = `${ctx.state.history.get() ?? ''}/${entry.id}`;
    ctx.state.history.set(history);
    ctx.state.last.add(entry.id);
    const isBulky = entry.kind === 'bulky';
    for (const suffix of isBulky ? ['.first', '.second'] : ['']) {
      ctx.emit({
        sink: 'journal',
        row: { history: history + suffix, dice: ctx.random(), ballast: isBulky ? ballast : '' },
      });
    }
    if (entry.kind === 'delete') {
      ctx.state.history.clear();
      ctx.state.last.clear();
      ctx.emit({ sink: 'balance', remove: true });
    } else {
      ctx.emit({ sink: 'balance', row: { history } });
    }
  },
});
