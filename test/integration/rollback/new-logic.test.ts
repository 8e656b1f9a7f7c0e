import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { beforeSteps } from './before-steps.ts';
import {
  computeHistory,
  firstLogic,
  isWithin,
  type Cut,
  type PutFlight,
} from './flight-history.ts';
import { startFlightsAws, type FlightsAws } from './flights-aws.ts';
import { secondLogic } from './second-operator.ts';
import {
  lookAt,
  placeOf,
  readCut,
  readProgress,
  readSinks,
  viewOf,
  type Look,
  type StoredRows,
} from './sink-view.ts';

const secondHandler = fileURLToPath(new URL('./second-handler.ts', import.meta.url));

let flights: FlightsAws;

beforeAll(async () => {
  flights = await startFlightsAws({ flights: 1_200 });
});

afterAll(async () => {
  await flights?.stop();
});

// On a machine that has much else to do.
vi.setConfig({ testTimeout: 300_000 });

/** Which rows each generation has in the sinks, as `generation-before` and `generation-after` the cut. */
function countOrigins({ airports, alerts, hours }: StoredRows, cut: Cut): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of [...airports, ...alerts, ...hours]) {
    const name = `${row.generation}-${isWithin(placeOf(row), cut) ? 'before' : 'after'}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe('a rollback to before another version of the operator was deployed', () => {
  it('has all that lies behind the savepoint by the new logic, and all before it by the old one', async () => {
    await flights.put(400);
    await flights.whenDone();
    await flights.put(30);
    await flights.ask('savepoint', 'create', 'before');
    const cut = await readCut(flights, 'before');
    const logicOf = (put: PutFlight) => (isWithin(put, cut) ? firstLogic : secondLogic);

    // The abandoned time has rows of both.
    await flights.put(350);
    await flights.whenDone();
    flights.deploy(secondHandler);
    await flights.put(100);
    await flights.whenDone();

    const looks = new Map<string, Look & { readonly stood: Cut }>();
    const end = beforeSteps(flights.aws.functions.get(flights.output('Steps')), async (step) => {
      // Replayed, still held, and not swept; then under way.
      const isLooked = step === 'restore.release' || step === 'restore.sweep';
      if (isLooked && !looks.has(step)) {
        const stood = await readProgress(flights);
        looks.set(step, { ...(await lookAt(flights, cut)), stood });
      }
      await flights.put(15);
    });
    const restored = await flights.ask('restore', 'before', '--yes');
    end();
    for (const step of ['restore.release', 'restore.sweep']) {
      const { abandoned, passed } = looks.get(step)!;
      // Alerts that the new logic gives elsewhere.
      expect(abandoned.length).toBeGreaterThan(0);
      expect(passed).toEqual([]);
    }
    const { view, stood } = looks.get('restore.release')!;
    const processed = flights.puts.filter((put) => isWithin(put, stood));
    expect(view).toEqual(computeHistory(processed, logicOf));
    expect(restored).toMatchObject({ generation: 2, unswept: [] });
    expect(restored['removedRows']).toBeGreaterThan(0);

    await flights.finish();
    const rows = await readSinks(flights);
    expect(viewOf(rows, () => true)).toEqual(computeHistory(flights.puts, logicOf, secondLogic));
    // Rows of before the cut were published by the first generation, and stay as they were.
    expect(countOrigins(rows, cut)).toEqual({
      '1-before': expect.any(Number) as number,
      '2-after': expect.any(Number) as number,
    });
  });
});
