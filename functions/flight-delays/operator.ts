import * as z from 'zod';
import { count, max, mean } from '../../shared/operator/aggregator.ts';
import { defineOperator } from '../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../shared/operator/sink.ts';
import { aggregatingState, listState, mapState, valueState } from '../../shared/operator/state.ts';

/** A flight is delayed from this many minutes on, as the US Bureau of Transportation Statistics counts. */
const delayedMinutes = 15;

/** So many departures in a row over `lateMinutes` make an alert. */
const lateInARow = 3;
const lateMinutes = 60;

const flight = z.object({
  /** Local departure, `YYYY/MM/DD HH:MM`. */
  date: z.string(),
  /** Minutes late; negative where early. */
  delay: z.number(),
  /** Miles. */
  distance: z.number(),
  origin: z.string().min(1),
  destination: z.string().min(1),
});

/** For each airport of departure: how many flights, how late, where to; an alert where three in a row are very late. */
export const flightDelays = defineOperator({
  id: 'flight-delays',
  schema: flight,
  key: (event) => event.origin,
  state: {
    flights: aggregatingState(count()),
    delayed: aggregatingState(count()),
    meanDelay: aggregatingState(mean()),
    worstDelay: aggregatingState(max()),
    lastDelays: listState<number>({ keepLast: 5 }),
    destinations: mapState<number>(),
    lateStreak: valueState<number>(),
  },
  sinks: {
    airports: upsertSink({
      row: z.object({
        flights: z.number(),
        delayed: z.number(),
        meanDelay: z.number(),
        worstDelay: z.number(),
        lastDelays: z.array(z.number()),
        destinations: z.record(z.string(), z.number()),
      }),
    }),
    alerts: appendSink({
      row: z.object({ date: z.string(), destination: z.string(), delays: z.array(z.number()) }),
    }),
  },
  process(event, ctx) {
    const { state } = ctx;
    state.flights.add(event);
    if (event.delay >= delayedMinutes) state.delayed.add(event);
    state.meanDelay.add(event.delay);
    state.worstDelay.add(event.delay);
    state.lastDelays.add(event.delay);
    state.destinations.set(event.destination, (state.destinations.get(event.destination) ?? 0) + 1);

    const streak = event.delay > lateMinutes ? (state.lateStreak.get() ?? 0) + 1 : 0;
    state.lateStreak.set(streak % lateInARow);
    if (streak === lateInARow) {
      ctx.emit({
        sink: 'alerts',
        row: {
          date: event.date,
          destination: event.destination,
          delays: state.lastDelays.get().slice(-lateInARow),
        },
      });
    }
    ctx.emit({
      sink: 'airports',
      row: {
        flights: state.flights.get() ?? 0,
        delayed: state.delayed.get() ?? 0,
        meanDelay: state.meanDelay.get() ?? 0,
        worstDelay: state.worstDelay.get() ?? 0,
        lastDelays: [...state.lastDelays.get()],
        destinations: Object.fromEntries(state.destinations.entries()),
      },
    });
  },
});
