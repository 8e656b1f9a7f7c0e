import { describe, expect, it } from 'vitest';
import type { PlacedRow, SinkTable, SweptSink } from '../../../../shared/ports/sink.ts';
import { readReservation } from '../../../../shared/runtime/restore/reservation.ts';
import {
  readBeginning,
  sweepSink,
  type SweepPlace,
} from '../../../../shared/runtime/restore/sweep.ts';
import { half, visible } from './two-halves.ts';

/** A restored job, and a zombie that writes rows of the time that was abandoned. */
const restored = async () => {
  const world = await half((one) => one.checkpoint());
  const { job, ports, object, restore } = world;
  await restore(object);
  const clean = visible(job);
  const { sink, table, ...names } = ports.sinks.find(({ name }) => name === 'entries')!;
  const rows: PlacedRow[] = [];
  for await (const row of table.scan()) rows.push(row);
  const { channel } = rows[0]!;
  const origin = channel.split('/')[1]!;
  const last = rows
    .map(({ position }) => position.sequence)
    .sort((a, b) => (a < b ? -1 : 1))
    .at(-1)!;
  const addVoid = async (key: string, at: number): Promise<void> => {
    const position = { sequence: String(BigInt(last) + BigInt(at)), sub: 0, step: undefined };
    const emission = { sink: 'entries', row: '', position, index: 0, value: {} };
    const source = { job: ports.job, operator: names.operator, generation: 1, channel, origin };
    const row = { emission: emission as never, key, id: `zombie-${at}` };
    expect(await sink.write(source, [row])).toEqual({ written: 1, skipped: 0 });
  };
  let seen = 0;
  const counting: SinkTable = {
    ...table,
    scan: async function* (after) {
      for await (const row of table.scan(after)) {
        seen += 1;
        yield row;
      }
    },
  };
  const swept: SweptSink = { ...names, sink, table: counting };
  const beginning = await readBeginning(ports, (await readReservation(ports, 2))!);
  const sweep = (from?: SweepPlace, rowsMax = Infinity) => {
    let looks = 0;
    const deadline = { remainingMs: () => ((looks += 1) >= rowsMax ? 0 : 60_000) };
    return sweepSink(ports, swept, beginning, deadline, from);
  };
  return { job, clean, addVoid, sweep, rows, seen: () => seen };
};

describe('a sweep with little time in each call', () => {
  it('goes on behind the row at which the last call ended, and sees each row once in a pass', async () => {
    const { job, clean, addVoid, sweep, rows, seen } = await restored();
    for (let at = 1; at <= 9; at += 1) await addVoid(['ann', 'bob', 'cid'][at % 3]!, at);
    let place: SweepPlace | undefined;
    let removed = 0;
    let calls = 0;
    for (let isClean = false; !isClean; calls += 1) {
      const report = await sweep(place, 2);
      removed += report.removed;
      ({ isClean, next: place } = report);
    }
    expect(removed).toBe(9);
    // A pass over all rows, and one over those that are left, with at most a row more for each call.
    expect(seen()).toBeLessThanOrEqual(2 * rows.length + 9 + 2);
    expect(calls).toBeGreaterThan(rows.length / 2);
    expect(visible(job)).toEqual(clean);
  });

  it('is clean only where no call of a whole pass has found a void row', async () => {
    const { addVoid, sweep } = await restored();
    await addVoid('aaa', 1);
    const first = await sweep(undefined, 2);
    expect(first).toMatchObject({ isClean: false, passes: 0, removed: 1, next: { voids: 1 } });
    // The rest of that pass finds none, and one more pass it takes.
    expect(await sweep(first.next)).toMatchObject({ isClean: true, passes: 2, removed: 0 });
  });

  it('finds in its next pass what a zombie writes before the row at which it is', async () => {
    const { job, clean, addVoid, sweep } = await restored();
    await addVoid('cid', 1);
    await addVoid('bob', 2);
    const first = await sweep(undefined, 12);
    expect(first.isClean).toBe(false);
    await addVoid('ann', 3);
    const second = await sweep(first.next);
    expect(second).toMatchObject({ isClean: true });
    expect(first.removed + second.removed).toBe(3);
    expect(visible(job)).toEqual(clean);
  });

  it('deals with what it has found before it marks how far it is', async () => {
    const { addVoid, sweep } = await restored();
    for (let at = 1; at <= 5; at += 1) await addVoid('aaa', at);
    const first = await sweep(undefined, 3);
    expect(first).toMatchObject({ removed: 3, next: { voids: 3 } });
  });
});
