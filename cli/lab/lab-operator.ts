import * as z from 'zod';
import { sum } from '../../shared/operator/aggregator.ts';
import { appendSink } from '../../shared/operator/sink.ts';
import { tumbling } from '../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../shared/operator/windows/windowed-operator.ts';

const event = z.object({
  /** Event time, ms. */
  ts: z.number(),
  value: z.number(),
  /** Ends the stream, and with it all windows. */
  isLast: z.boolean(),
});

export type LabEvent = z.output<typeof event>;

const result = z.object({
  /** The end of the window, which names it, ms. */
  end: z.number(),
  sum: z.number(),
  watermark: z.number(),
  kind: z.string(),
});

export type LabResult = z.output<typeof result>;

/** All events have one key, so that the lab is about one item. */
export const labKey = 'lab';

export const resultsSink = 'results';

/** The size of all windows, ms. */
export const windowMs = 10;

/** Sums of tumbling windows, with a watermark 5 ms behind and more lateness than the events need. */
export const labOperator = defineWindowedOperator({
  id: 'crash-lab',
  schema: event,
  key: () => labKey,
  eventTime: { time: ({ ts }) => ts, outOfOrdernessMs: 5 },
  window: tumbling(windowMs),
  allowedLatenessMs: 1000,
  aggregate: (over) => over(({ value }) => value, sum()),
  isEndOfStream: ({ isLast }) => isLast,
  sinks: { [resultsSink]: appendSink({ row: result }) },
  onResult({ kind, window, watermark, result: total }, ctx) {
    ctx.emit({ sink: resultsSink, row: { end: window.end, sum: total, watermark, kind } });
  },
  onLate: () => undefined,
});
