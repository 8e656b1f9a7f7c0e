import * as z from 'zod';
import { count, max, mean, sum } from '../../shared/operator/aggregator.ts';
import { defineOperator, type Timers } from '../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../shared/operator/sink.ts';
import {
  aggregatingState,
  listState,
  mapState,
  valueState,
  type MapState,
} from '../../shared/operator/state.ts';
import { heldWindows, type HeldWindow } from '../../shared/operator/windows/held-window.ts';
import type { WindowScope } from '../../shared/operator/windows/hold-window.ts';
import { tumbling } from '../../shared/operator/windows/window-assigner.ts';
import type { WindowResult } from '../../shared/operator/windows/window-result.ts';
import type { OverEvents } from '../../shared/operator/windows/window-rules.ts';
import { createWindowing } from '../../shared/operator/windows/windowing.ts';

/** A flight is delayed from this many minutes on, as the US Bureau of Transportation Statistics counts. */
const delayedMinutes = 15;

/** So many departures in a row over `lateMinutes` make an alert. */
const lateInARow = 3;
const lateMinutes = 60;

const hourMs = 3600 * 1000;

/** A departure counts in its hour as long as none more than this much later has been reported in its shard. */
const outOfOrdernessMs = 6 * hourMs;

const flight = z.object({
  /** Local departure, `YYYY/MM/DD HH:MM`. */
  date: z.string().regex(/^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}$/),
  /** Minutes late; negative where early. */
  delay: z.number(),
  /** Miles. */
  distance: z.number(),
  origin: z.string().min(1),
  destination: z.string().min(1),
});

type Flight = z.output<typeof flight>;

const hourRow = z.object({
  /** When it began, `YYYY/MM/DD HH:MM`. */
  hour: z.string(),
  flights: z.number(),
  delayed: z.number(),
  meanDelay: z.number(),
  worstDelay: z.number(),
});

/** Each hour of an airport, told once it is over. */
const hourly = createWindowing('operator flight-delays', {
  window: tumbling(hourMs),
  aggregate: (over: OverEvents<Flight>) => ({
    flights: count(),
    delayed: over(({ delay }) => (delay >= delayedMinutes ? 1 : 0), sum()),
    meanDelay: over(({ delay }) => delay, mean()),
    worstDelay: over(({ delay }) => delay, max()),
  }),
});

/**
 * For each airport of departure: how many flights, how late, where to, so far and in each hour; an alert where three
 * reported in a row are very late.
 */
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
    openHours: heldWindows(),
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
    hours: appendSink({ row: hourRow }),
    late: appendSink({ row: flight }),
  },
  eventTime: { time: timeOf, outOfOrdernessMs },
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

    const time = timeOf(event);
    const said = time - outOfOrdernessMs;
    const scope = scopeOf(ctx, Math.max(ctx.watermark ?? said, said));
    const missed = hourly.add(event, time, scope, tellHour(ctx));
    if (missed.length > 0) ctx.emit({ sink: 'late', row: event });
  },
  onTimer(timer, ctx) {
    hourly.fire(timer, scopeOf(ctx, ctx.watermark ?? timer.time), tellHour(ctx));
  },
});

/** Local times are compared as if all airports were in one time zone. */
function timeOf({ date }: Flight): number {
  const [year, month, day, hour, minute] = date.split(/[/ :]/).map(Number);
  return Date.UTC(year!, month! - 1, day, hour, minute);
}

interface HourContext {
  readonly key: string;
  readonly state: { readonly openHours: MapState<HeldWindow> };
  readonly timers: Timers;
  readonly watermark: number | undefined;
  emit(output: { readonly sink: 'hours'; readonly row: z.output<typeof hourRow> }): void;
}

/** @param watermark with the event that is being processed, ms since the epoch */
function scopeOf(ctx: HourContext, watermark: number): WindowScope {
  const { key, state, timers, watermark: firedWatermark } = ctx;
  return { key, windows: state.openHours, timers, watermark, firedWatermark };
}

function tellHour(ctx: HourContext) {
  return ({ window, result }: WindowResult<Omit<z.output<typeof hourRow>, 'hour'>>): void => {
    const [day, time] = new Date(window.start).toISOString().split('T');
    const hour = `${day!.replaceAll('-', '/')} ${time!.slice(0, 5)}`;
    ctx.emit({ sink: 'hours', row: { hour, ...result } });
  };
}
