import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { computePlainly } from '../../../cli/demo/plain-computation.ts';
import { beforeSteps } from './before-steps.ts';
import { computeHistory, isWithin, type Cut, type FlightTables } from './flight-history.ts';
import { startFlightsAws, type FlightsAws } from './flights-aws.ts';
import {
  compareWith,
  listAbandoned,
  lookAt,
  readCut,
  readProgress,
  readSinks,
  type Look,
} from './sink-view.ts';

let flights: FlightsAws;

beforeAll(async () => {
  flights = await startFlightsAws({ flights: 1_100 });
});

afterAll(async () => {
  await flights?.stop();
});

// On a machine that has much else to do.
vi.setConfig({ testTimeout: 300_000 });

/** What a job that stands there has told. */
const expectedAt = (stood: Cut): FlightTables =>
  computeHistory(flights.puts.filter((put) => isWithin(put, stood)));

describe('a rollback on the embedded AWS', () => {
  it('leaves the tables as if it had never been, while records arrive at every step of it', async () => {
    await flights.put(400);
    const stepFunction = flights.aws.functions.get(flights.output('Steps'));
    const steps: string[] = [];
    const feed = (step: string): Promise<void> => {
      steps.push(step);
      return flights.put(15);
    };
    const endFeed = beforeSteps(stepFunction, feed);
    await flights.ask('savepoint', 'create', 'before');
    endFeed();
    const cut = await readCut(flights, 'before');
    await flights.put(300);
    await flights.whenDone();

    const looks = new Map<string, Look & { readonly stood: Cut }>();
    const end = beforeSteps(stepFunction, async (step) => {
      const isLooked = ['restore.plan-replay', 'restore.release', 'restore.sweep'].includes(step);
      if (isLooked && !looks.has(step)) {
        // Under the hold nothing moves but the replay: what a reader sees is known exactly.
        const stood = await readProgress(flights);
        looks.set(step, { ...(await lookAt(flights, cut)), stood });
      }
      await feed(step);
    });
    const restored = await flights.ask('restore', 'before', '--yes');
    end();

    expect(restored).toMatchObject({ generation: 2, unswept: [] });
    expect(restored['replayed']).toBeGreaterThan(200);
    const fed = ['restore.take-hold', 'restore.flip', 'restore.replay', 'restore.sweep'];
    expect(steps).toEqual(expect.arrayContaining(['savepoint.cut', ...fed]));
    for (const { passed } of looks.values()) expect(passed).toEqual([]);
    const flipped = looks.get('restore.plan-replay')!;
    expect(flipped.abandoned.length).toBeGreaterThan(200);
    const { airports, ...appended } = expectedAt(flipped.stood);
    expect(flipped.view).toMatchObject(appended);
    // A row of a view has one place: that of the abandoned time stands where the older one was.
    expect(flipped.view.airports.size).toBeLessThan(airports.size);
    for (const [airport, row] of flipped.view.airports) expect(row).toEqual(airports.get(airport));
    const replayed = looks.get('restore.release')!;
    expect(replayed.view).toEqual(expectedAt(replayed.stood));
    expect(looks.has('restore.sweep')).toBe(true);
    expect(listAbandoned(await readSinks(flights), cut)).toEqual([]);

    await flights.finish();
    const all = flights.puts.map(({ flight }) => flight);
    expect(all).toHaveLength(1_100);
    const plain = computePlainly(all);
    expect((await compareWith(flights, plain)).differences).toEqual([]);
    expect(plain.alerts.size).toBeGreaterThan(5);
    expect(listAbandoned(await readSinks(flights), cut)).toEqual([]);
  });
});
