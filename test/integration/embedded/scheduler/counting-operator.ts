import * as z from 'zod';
import { count } from '../../../../shared/operator/aggregator.ts';
import { appendSink } from '../../../../shared/operator/sink.ts';
import { tumbling } from '../../../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../../../shared/operator/windows/windowed-operator.ts';

export const windowMs = 100;

const countedEvent = z.object({ user: z.string(), at: z.number() });

export type CountedEvent = z.infer<typeof countedEvent>;

/** Counts each user's events in windows that events alone would not close for an hour. */
export const counting = defineWindowedOperator({
  id: 'counting',
  schema: countedEvent,
  key: ({ user }) => user,
  eventTime: { time: ({ at }) => at, outOfOrdernessMs: 3_600_000 },
  window: tumbling(windowMs),
  aggregate: (over) => over((event) => event, count()),
  sinks: {
    counts: appendSink({
      row: z.object({ kind: z.string(), start: z.number(), events: z.number() }),
    }),
    late: appendSink({ row: z.object({ at: z.number() }) }),
  },
  onResult({ kind, window, result }, ctx) {
    ctx.emit({ sink: 'counts', row: { kind, start: window.start, events: result ?? 0 } });
  },
  onLate({ event }, ctx) {
    ctx.emit({ sink: 'late', row: { at: event.at } });
  },
});
