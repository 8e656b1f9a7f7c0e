import * as z from 'zod';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { valueState } from '../../../shared/operator/state.ts';

/*
 * An operator with a bad mood for some events. What it does with the others shows whether each of them was applied, in
 * order and once.
 */

const moodySchema = z.object({
  account: z.string(),
  id: z.number(),
  kind: z.enum(['add', 'throw', 'loop', 'hoard', 'swell']),
});

export type MoodyEvent = z.output<typeof moodySchema>;

const history = z.object({ history: z.string() });

export const moody = defineOperator({
  id: 'moody',
  schema: moodySchema,
  key: (event) => event.account,
  state: { history: valueState<string>(), ballast: valueState<string>() },
  sinks: { journal: appendSink({ row: history }), balance: upsertSink({ row: history }) },
  process(event, ctx) {
    const row = { history: `${ctx.state.history.get() ?? ''}/${event.id}` };
    ctx.state.history.set(row.history);
    ctx.emit({ sink: 'journal', row });
    ctx.emit({ sink: 'balance', row });
    if (event.kind === 'throw') throw new Error(`event ${event.id} is bad`);
    if (event.kind === 'swell') ctx.state.ballast.set('.'.repeat(500 * 1024));
    if (event.kind === 'hoard') hoardMemory();
    while (event.kind === 'loop');
  },
});

function hoardMemory(): never {
  const hoard: number[][] = [];
  for (;;) hoard.push(new Array<number>(1_000_000).fill(hoard.length + 0.5));
}
