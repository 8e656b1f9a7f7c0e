import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { collectGarbage } from '../../../shared/runtime/checkpoint/collect-garbage.ts';
import { chooseEverything, compactNow, keepNewest } from '../../unit/runtime/checkpoint/upkeep.ts';
import { beforeSteps } from './before-steps.ts';
import { computeHistory, firstLogic } from './flight-history.ts';
import { startFlightsAws, type FlightsAws } from './flights-aws.ts';
import { createTables, deleteTables } from './lose-tables.ts';
import { placeOf, portsOf, readSinks, viewOf, type StoredRow } from './sink-view.ts';

let flights: FlightsAws;

beforeAll(async () => {
  flights = await startFlightsAws({ flights: 1_250 });
});

afterAll(async () => {
  await flights?.stop();
});

// On a machine that has much else to do.
vi.setConfig({ testTimeout: 300_000 });

const process = async (count: number): Promise<void> => {
  await flights.put(count);
  await flights.whenDone();
};

const everyRow = (): boolean => true;

/** Restores the job from its bucket, while flights are put before each step; returns how many records it has replayed. */
const restore = async (generation: number): Promise<number> => {
  const tables = await deleteTables(flights);
  // State, control, dead letters, and four sinks.
  expect(tables).toHaveLength(7);
  await flights.put(30);
  await createTables(flights, tables);
  await flights.put(30);
  const steps = flights.aws.functions.get(flights.output('Steps'));
  const end = beforeSteps(steps, () => flights.put(10));
  const restored = await flights.ask('restore', 'latest', '--tables-lost', '--yes');
  end();
  expect(restored).toMatchObject({ generation, undo: '', unswept: [] });
  return Number(restored['replayed']);
};

/* One job; the second test goes on where the first one has left it. */
describe('a job whose tables are all gone', () => {
  it('is made again whole from the bucket and the stream, while records arrive', async () => {
    await process(250);
    await flights.ask('savepoint', 'create', 'early');
    await process(200);
    const [schedule] = flights.aws.schedules.list();
    const { result } = await flights.aws.schedules.fire(schedule!.name);
    expect(result, flights.printed.slice(-20).join('\n')).toMatchObject({ kind: 'success' });
    await process(150);

    const replayed = await restore(2);
    await flights.whenDone();
    // From the checkpoint on, not from the beginning.
    expect(replayed).toBeGreaterThan(150);
    expect(replayed).toBeLessThan(450);
    const rows = await readSinks(flights);
    expect(viewOf(rows, everyRow)).toEqual(computeHistory(flights.puts));
    const all = [...rows.airports, ...rows.alerts, ...rows.hours];
    expect(new Set(all.map(({ generation }) => generation))).toEqual(new Set([2]));
  });

  it('has its views whole, and its appended rows as far as segments are kept', async () => {
    const ports = portsOf(flights);
    for (const count of [100, 100]) {
      await process(count);
      await flights.ask('checkpoint', 'trigger');
      await compactNow({ ports }, chooseEverything);
    }
    await flights.ask('checkpoint', 'trigger');
    await flights.ask('savepoint', 'delete', 'early', '--yes');
    await keepNewest(ports, 1);
    const { deleted } = await collectGarbage(ports, { graceMs: 0, dryRun: false });
    expect(deleted['segment: passed by all recovery points']).toBeGreaterThan(0);
    const before = await readSinks(flights);

    await restore(3);
    await flights.finish();
    const after = await readSinks(flights);
    const found = viewOf(after, everyRow);
    const whole = computeHistory(flights.puts, () => firstLogic, firstLogic);
    expect(found.airports).toEqual(whole.airports);
    for (const sink of ['alerts', 'hours'] as const) {
      for (const [airport, rows] of found[sink]) {
        expect(rows).toEqual(whole[sink].get(airport)!.slice(-rows.length));
      }
    }
    // In each shard all rows from one place on.
    const kept = new Set([...after.alerts, ...after.hours].map(nameOf));
    const isLost = (row: StoredRow): boolean => !kept.has(nameOf(row));
    const published = [...before.alerts, ...before.hours];
    for (const rows of Map.groupBy(published, (row) => placeOf(row).shardId).values()) {
      const lost = rows.filter(isLost).map((row) => placeOf(row).sequence);
      const ends = rows.filter((row) => !isLost(row)).map((row) => placeOf(row).sequence);
      expect(lost.length).toBeGreaterThan(0);
      expect(ends.every((sequence) => lost.every((gone) => gone < sequence))).toBe(true);
    }
    // What came behind the checkpoint was never collected.
    const count = (rows: typeof found.hours): number => [...rows.values()].flat().length;
    expect(count(found.hours)).toBeGreaterThan(count(whole.hours) - published.length);
  });
});

function nameOf({ airport, sort }: StoredRow): string {
  return JSON.stringify([airport, sort]);
}
