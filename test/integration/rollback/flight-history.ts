import type { Flight } from '../../../cli/demo/flights.ts';
import type { AirportRow, AlertRow, HourRow } from '../../../cli/demo/plain-computation.ts';

/*
 * What the job must have told at any place, computed with nothing of Holdfast: the demonstration's plain computation knows
 * the end alone, and one logic. Shards must not have been split: a flight's shard is that of all flights of its airport.
 */

/** A flight with its place in the stream. */
export interface PutFlight {
  readonly flight: Flight;
  readonly shardId: string;
  readonly sequence: bigint;
}

/** Up to where each shard counts, the record included; a shard that is not in it does not count at all. */
export type Cut = ReadonlyMap<string, bigint>;

export function isWithin({ shardId, sequence }: Omit<PutFlight, 'flight'>, cut: Cut): boolean {
  const end = cut.get(shardId);
  return end !== undefined && sequence <= end;
}

/** How flights are counted and rows are told. */
export interface Logic {
  /** Minutes. */
  readonly delayOf: (flight: Flight) => number;
  readonly tellMean: (mean: number) => number;
}

export const firstLogic: Logic = { delayOf: ({ delay }) => delay, tellMean: (mean) => mean };

/** The columns of what a reader sees, by airport; appended rows in their order. */
export interface FlightTables {
  readonly airports: ReadonlyMap<string, AirportRow>;
  readonly alerts: ReadonlyMap<string, readonly AlertRow[]>;
  readonly hours: ReadonlyMap<string, readonly HourRow[]>;
}

const hourMs = 3600 * 1000;
const outOfOrdernessMs = 6 * hourMs;

interface OpenHour {
  readonly airport: string;
  readonly hour: string;
  readonly startMs: number;
  readonly delays: number[];
}

/**
 * The tables of a job that has processed these flights.
 *
 * @param puts in the order in which they were put
 * @param logicOf which logic processes a flight, and tells the hours that are over with it
 * @param atEnd the logic that tells the hours that the end of the stream closes; undefined where it has not come
 */
export function computeHistory(
  puts: readonly PutFlight[],
  logicOf: (put: PutFlight) => Logic = () => firstLogic,
  atEnd?: Logic,
): FlightTables {
  const airports = new Map<string, AirportRow>();
  const alerts = new Map<string, AlertRow[]>();
  const hours = new Map<string, HourRow[]>();
  const delays = new Map<string, number[]>();
  const streaks = new Map<string, number[]>();
  const shards = new Map<string, { watermark: number; open: OpenHour[] }>();

  const close = (shard: { open: OpenHour[] }, watermark: number, { tellMean }: Logic): void => {
    const [over = [], open = []] = partition(
      shard.open,
      ({ startMs }) => startMs + hourMs <= watermark,
    );
    shard.open = open;
    for (const one of over.sort((a, b) => a.startMs - b.startMs)) {
      append(hours, one.airport, { hour: one.hour, ...summarize(one.delays, tellMean) });
    }
  };

  for (const put of puts) {
    const { flight, shardId } = put;
    const { origin: airport, date, destination } = flight;
    const logic = logicOf(put);
    const delay = logic.delayOf(flight);

    append(delays, airport, delay);
    const own = delays.get(airport)!;
    const to = airports.get(airport)?.destinations ?? {};
    airports.set(airport, {
      ...summarize(own, logic.tellMean),
      lastDelays: own.slice(-5),
      destinations: { ...to, [destination]: (to[destination] ?? 0) + 1 },
    });

    const streak = delay > 60 ? [...(streaks.get(airport) ?? []), delay] : [];
    streaks.set(airport, streak.length === 3 ? [] : streak);
    if (streak.length === 3) append(alerts, airport, { date, destination, delays: streak });

    const shard = shards.get(shardId) ?? { watermark: -Infinity, open: [] };
    shards.set(shardId, shard);
    const hour = `${date.slice(0, 'YYYY/MM/DD HH'.length)}:00`;
    const known = shard.open.find((one) => one.airport === airport && one.hour === hour);
    if (known === undefined) {
      shard.open.push({ airport, hour, startMs: toMs(hour), delays: [delay] });
    } else {
      known.delays.push(delay);
    }
    shard.watermark = Math.max(shard.watermark, toMs(date) - outOfOrdernessMs);
    close(shard, shard.watermark, logic);
  }
  if (atEnd !== undefined) for (const shard of shards.values()) close(shard, Infinity, atEnd);
  return { airports, alerts, hours };
}

function summarize(delays: readonly number[], tellMean: Logic['tellMean']) {
  return {
    flights: delays.length,
    delayed: delays.filter((delay) => delay >= 15).length,
    meanDelay: tellMean(delays.reduce((total, delay) => total + delay) / delays.length),
    worstDelay: Math.max(...delays),
  };
}

/** ms since the epoch if local time were UTC. */
function toMs(date: string): number {
  return Date.parse(`${date.replaceAll('/', '-').replace(' ', 'T')}Z`);
}

function append<Value>(groups: Map<string, Value[]>, key: string, value: Value): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}

function partition<Value>(values: readonly Value[], test: (value: Value) => boolean): Value[][] {
  return [values.filter(test), values.filter((value) => !test(value))];
}
