import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readFlights, type Flight } from '../../cli/demo/flights.ts';
import { seededRandom } from '../../shared/core/random.ts';
import { count, max, mean, min, sum } from '../../shared/operator/aggregator.ts';
import { distinct } from '../../shared/operator/aggregators/distinct.ts';
import { quantiles } from '../../shared/operator/aggregators/quantiles.ts';
import { appendSink } from '../../shared/operator/sink.ts';
import { createOperatorDriver } from '../../shared/operator/testing/operator-driver.ts';
import {
  sliding,
  tumbling,
  type WindowAssigner,
} from '../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../shared/operator/windows/windowed-operator.ts';
import { endOfStreamMs } from '../../shared/operator/windows/windowing.ts';

/*
 * What the windows say of 20,000 flights is what SQLite says of them: every window of every airport, each once, none late,
 * whatever their order within the bound.
 */

const hourMs = 3_600_000;
const outOfOrdernessMs = 3 * hourMs;

const flight = z.object({
  date: z.string(),
  delay: z.number(),
  origin: z.string(),
  destination: z.string(),
});

/** A window of an airport, in the order of the columns of the query. */
const columns = {
  start: z.number(),
  flights: z.number(),
  total: z.number(),
  mean: z.number(),
  least: z.number(),
  most: z.number(),
  destinations: z.number(),
  median: z.number(),
};

function timeOf({ date }: Pick<Flight, 'date'>): number {
  return Date.parse(`${date.replaceAll('/', '-').replace(' ', 'T')}:00Z`);
}

function airportWindows(window: WindowAssigner) {
  return defineWindowedOperator({
    id: 'airports',
    schema: flight,
    key: (event) => event.origin,
    eventTime: { time: timeOf, outOfOrdernessMs },
    window,
    aggregate: (over) => ({
      flights: count(),
      total: over((one) => one.delay, sum()),
      mean: over((one) => one.delay, mean()),
      least: over((one) => one.delay, min()),
      most: over((one) => one.delay, max()),
      destinations: over((one) => one.destination, distinct()),
      median: over((one) => one.delay, quantiles([0.5])),
    }),
    sinks: { windows: appendSink({ row: z.object(columns) }) },
    onResult({ window: { start }, result: { median, ...rest } }, ctx) {
      ctx.emit({ sink: 'windows', row: { start, ...rest, median: median[0] } });
    },
    onLate: ({ event }) => expect.fail(`late: ${JSON.stringify(event)}`),
  });
}

/** Who departs at t is sent by t + delay, and meets nobody who departed after that. */
function disorder(flights: readonly Flight[], seed: string): Flight[] {
  const random = seededRandom(seed);
  return flights
    .map((one) => ({ one, sentAt: timeOf(one) + Math.floor(random() * outOfOrdernessMs) }))
    .sort((a, b) => a.sentAt - b.sentAt)
    .map(({ one }) => one);
}

function openDatabase(flights: readonly Flight[]): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE flights (origin TEXT, destination TEXT, delay INTEGER, ts INTEGER)');
  const insert = database.prepare(
    `INSERT INTO flights VALUES (?, ?, ?, unixepoch(replace(?, '/', '-')) * 1000)`,
  );
  database.exec('BEGIN');
  for (const { origin, destination, delay, date } of flights) {
    insert.run(origin, destination, delay, date);
  }
  database.exec('COMMIT; CREATE INDEX by_ts ON flights (ts)');
  return database;
}

/** Every window is tried for every flight; nothing of it is computed from the flight's time. */
const query = `
  WITH RECURSIVE
    starts(start) AS (
      SELECT -:size
      UNION ALL SELECT start + :slide FROM starts WHERE start <= (SELECT max(ts) FROM flights)
    ),
    placed AS (
      SELECT origin, start, delay, destination,
        row_number() OVER (PARTITION BY origin, start ORDER BY delay) AS nth,
        count(*) OVER (PARTITION BY origin, start) AS size
      FROM starts JOIN flights ON ts >= start AND ts < start + :size
    )
  SELECT origin, start, count(*) AS flights, sum(delay) AS total, avg(delay) AS mean, min(delay) AS least,
    max(delay) AS most, count(DISTINCT destination) AS destinations,
    max(CASE WHEN nth = (size + 1) / 2 THEN delay END) AS median
  FROM placed GROUP BY origin, start ORDER BY origin, start`;

describe('windows over 20,000 flights out of order', () => {
  const flights = readFlights();
  const database = openDatabase(flights);

  it.each([
    ['tumbling windows of an hour', tumbling(hourMs), hourMs, hourMs],
    ['tumbling windows of a day', tumbling(24 * hourMs), 24 * hourMs, 24 * hourMs],
    ['sliding windows of 6 hours by 2', sliding(6 * hourMs, 2 * hourMs), 6 * hourMs, 2 * hourMs],
  ])(
    'give for %s what SQLite does',
    (name, window, size, slide) => {
      const driver = createOperatorDriver(airportWindows(window));
      for (const one of disorder(flights, name)) driver.send(one);
      driver.advanceWatermark(endOfStreamMs);

      const expected = database.prepare(query).all({ size, slide });
      const given = driver
        .outputs('windows')
        .map(({ key, row }) => ({ origin: key, ...(row as { start: number }) }))
        .sort((a, b) => (a.origin === b.origin ? a.start - b.start : a.origin < b.origin ? -1 : 1));
      expect(given).toHaveLength(expected.length);
      expect(given).toEqual(expected);
      expect(driver.keys()).toEqual([]);
    },
    60_000,
  );
});
