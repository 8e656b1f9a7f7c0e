import * as z from 'zod';
import { defineOperator, type Operator } from '../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../shared/operator/sink.ts';
import { listState, mapState, valueState } from '../../shared/operator/state.ts';

const eventSchema = z.object({
  writer: z.string(),
  id: z.number(),
  /** `burn` takes away everything that the writer has. */
  kind: z.enum(['add', 'burn']),
});

export type DiaryEvent = z.output<typeof eventSchema>;

/** An operator in which every event leaves a trace, in order: in its state, in each appended row, and in several view rows. */
export function diary(): Operator {
  return defineOperator({
    id: 'diary',
    schema: eventSchema,
    key: (event) => event.writer,
    state: {
      history: valueState<string>(),
      last: listState<number>({ keepLast: 2 }),
      pages: mapState<number>(),
    },
    sinks: {
      journal: appendSink({
        row: z.object({ history: z.string(), last: z.array(z.number()), dice: z.number() }),
      }),
      pages: upsertSink({
        row: z.object({ page: z.string(), entries: z.number(), history: z.string() }),
        rowKey: (row) => row.page,
      }),
    },
    process({ id, kind }, { state, emit, random }) {
      const history = `${state.history.get() ?? ''}/${id}`;
      state.history.set(history);
      state.last.add(id);
      emit({
        sink: 'journal',
        row: { history, last: [...state.last.get()], dice: random() },
      });
      if (kind === 'burn') {
        for (const [page] of state.pages.entries()) {
          emit({ sink: 'pages', remove: true, rowKey: page });
        }
        state.history.clear();
        state.last.clear();
        state.pages.clear();
        emit({ sink: 'journal', row: { history: 'burnt', last: [], dice: random() } });
        return;
      }
      const page = `page-${id % 3}`;
      const entries = (state.pages.get(page) ?? 0) + 1;
      state.pages.set(page, entries);
      emit({ sink: 'pages', row: { page, entries, history } });
    },
  });
}
