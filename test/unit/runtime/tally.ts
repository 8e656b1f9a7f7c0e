import * as z from 'zod';
import { defineOperator, type Operator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { listState, valueState } from '../../../shared/operator/state.ts';

const eventSchema = z.object({
  user: z.string(),
  amount: z.number(),
  /** `close` takes away everything that there is of the user. */
  kind: z.enum(['add', 'close']).default('add'),
  /** Adds so many characters to the state. */
  stateCharacters: z.number().default(0),
  /** Adds so many characters to the entry that is emitted. */
  outputCharacters: z.number().default(0),
});

export type TallyEvent = z.output<typeof eventSchema>;
export type TallyInput = Omit<z.input<typeof eventSchema>, 'user'>;

/** A running total for each user: the plainest operator with every kind of output. `onEvent` may throw. */
export function tally(onEvent: (event: TallyEvent) => void = () => undefined): Operator {
  return defineOperator({
    id: 'tally',
    schema: eventSchema,
    key: (event) => event.user,
    state: { total: valueState<number>(), notes: listState<string>() },
    sinks: {
      entries: appendSink({ row: z.object({ total: z.number(), note: z.string() }) }),
      totals: upsertSink({ row: z.object({ total: z.number() }) }),
    },
    process(event, ctx) {
      onEvent(event);
      const { total, notes } = ctx.state;
      const next = (total.get() ?? 0) + event.amount;
      ctx.emit({
        sink: 'entries',
        row: { total: next, note: 'n'.repeat(event.outputCharacters) },
      });
      if (event.kind === 'close') {
        total.clear();
        notes.clear();
        ctx.emit({ sink: 'totals', remove: true });
        return;
      }
      total.set(next);
      if (event.stateCharacters > 0) notes.add('s'.repeat(event.stateCharacters));
      ctx.emit({ sink: 'totals', row: { total: next } });
    },
  });
}
