import type { Flight } from './flights.ts';

/*
 * What the job must give, computed over the file with nothing of Holdfast: the demo compares its tables with
 * this, row by row.
 */

export interface AirportRow {
  flights: number;
  delayed: number;
  meanDelay: number;
  worstDelay: number;
  lastDelays: number[];
  destinations: Record<string, number>;
}

export interface AlertRow {
  readonly date: string;
  readonly destination: string;
  readonly delays: number[];
}

export interface HourRow {
  /** `YYYY/MM/DD HH:MM` of its beginning. */
  readonly hour: string;
  readonly flights: number;
  readonly delayed: number;
  readonly meanDelay: number;
  readonly worstDelay: number;
}

export interface PlainResult {
  readonly airports: ReadonlyMap<string, AirportRow>;
  /** By airport, in order. */
  readonly alerts: ReadonlyMap<string, readonly AlertRow[]>;
  /** By airport, earliest first; hours without a flight are left out. */
  readonly hours: ReadonlyMap<string, readonly HourRow[]>;
}

interface Tally extends AirportRow {
  totalDelay: number;
  lateStreak: number[];
}

/** @param flights in the order in which they are put into the stream */
export function computePlainly(flights: readonly Flight[]): PlainResult {
  const tallies = new Map<string, Tally>();
  const alerts = new Map<string, AlertRow[]>();
  for (const { origin, destination, delay, date } of flights) {
    let tally = tallies.get(origin);
    if (tally === undefined) tallies.set(origin, (tally = emptyTally()));
    tally.flights += 1;
    if (delay >= 15) tally.delayed += 1;
    tally.totalDelay += delay;
    tally.meanDelay = tally.totalDelay / tally.flights;
    tally.worstDelay = Math.max(tally.worstDelay, delay);
    tally.lastDelays = [...tally.lastDelays, delay].slice(-5);
    tally.destinations[destination] = (tally.destinations[destination] ?? 0) + 1;
    tally.lateStreak = delay > 60 ? [...tally.lateStreak, delay] : [];
    if (tally.lateStreak.length === 3) {
      const rows = alerts.get(origin) ?? [];
      rows.push({ date, destination, delays: tally.lateStreak });
      alerts.set(origin, rows);
      tally.lateStreak = [];
    }
  }
  const airports = new Map<string, AirportRow>();
  for (const [airport, { totalDelay: _total, lateStreak: _streak, ...row }] of tallies) {
    airports.set(airport, row);
  }
  return { airports, alerts, hours: computeHours(flights) };
}

/** Sorts the flights into airports and hours first, then looks at each hour as a whole. */
function computeHours(flights: readonly Flight[]): Map<string, HourRow[]> {
  const hours = new Map<string, HourRow[]>();
  for (const [airport, departures] of Map.groupBy(flights, ({ origin }) => origin)) {
    const byHour = Map.groupBy(
      departures,
      ({ date }) => `${date.slice(0, 'YYYY/MM/DD HH'.length)}:00`,
    );
    const rows = [...byHour].map(([hour, inside]): HourRow => {
      const delays = inside.map(({ delay }) => delay);
      return {
        hour,
        flights: inside.length,
        delayed: delays.filter((delay) => delay >= 15).length,
        meanDelay: delays.reduce((total, delay) => total + delay) / inside.length,
        worstDelay: Math.max(...delays),
      };
    });
    hours.set(
      airport,
      rows.sort((a, b) => (a.hour < b.hour ? -1 : 1)),
    );
  }
  return hours;
}

function emptyTally(): Tally {
  return {
    flights: 0,
    delayed: 0,
    meanDelay: 0,
    worstDelay: Number.NEGATIVE_INFINITY,
    lastDelays: [],
    destinations: {},
    totalDelay: 0,
    lateStreak: [],
  };
}
