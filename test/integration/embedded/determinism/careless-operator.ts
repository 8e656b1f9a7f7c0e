import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { count } from '../../../../shared/operator/aggregator.ts';
import { defineOperator } from '../../../../shared/operator/operator.ts';
import { appendSink } from '../../../../shared/operator/sink.ts';
import { aggregatingState } from '../../../../shared/operator/state.ts';

const event = z.object({
  device: z.string(),
  does: z.enum(['nothing', 'date', 'dice', 'file', 'log', 'swallow']),
});

export type CarelessEvent = z.infer<typeof event>;

/** An operator that looks at what it must not look at, as its events tell it. */
export const careless = defineOperator({
  id: 'careless',
  schema: event,
  key: ({ device }) => device,
  state: { events: aggregatingState(count()) },
  sinks: { rows: appendSink({ row: z.object({ does: z.string(), events: z.number() }) }) },
  process({ does }, ctx) {
    look(does);
    ctx.state.events.add(does);
    ctx.emit({ sink: 'rows', row: { does, events: ctx.state.events.get() ?? 0 } });
  },
});

function look(does: CarelessEvent['does']): unknown {
  switch (does) {
    case 'nothing':
      return undefined;
    case 'date':
      return new Date();
    case 'dice':
      return Math.random();
    case 'file':
      return readFileSync(import.meta.filename);
    case 'log':
      return console.log('seen');
    case 'swallow':
      try {
        return Date.now();
      } catch {
        return 0;
      }
  }
}
