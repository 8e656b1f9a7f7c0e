import { afterAll, describe, expect, it } from 'vitest';
import { unpackEmissions } from '../../shared/core/emission.ts';
import { formatPosition } from '../../shared/core/position.ts';
import type { ManifestReference } from '../../shared/core/registry.ts';
import { decodeSegment } from '../../shared/core/segment.ts';
import { readRegistry } from '../../shared/runtime/checkpoint/change-registry.ts';
import { collectGarbage } from '../../shared/runtime/checkpoint/collect-garbage.ts';
import { parseObjectName, reservationsPrefix } from '../../shared/runtime/object-names.ts';
import { readRowRule } from '../../shared/runtime/restore/sweep.ts';
import { createHistory, type History } from '../unit/runtime/checkpoint/history.ts';
import { chooseEverything, compactNow, keepNewest } from '../unit/runtime/checkpoint/upkeep.ts';

const seeds = Array.from({ length: 25 }, (_, at) => `lost ${at}`);

/** What the histories had in them. */
const seen = { whole: 0, partly: 0, restoredBefore: 0 };

const goOn = async (history: History): Promise<void> => {
  for (let event = 0; event < 4; event += 1) {
    history.put();
    for (let reads = history.upTo(5); reads > 0; reads -= 1) await history.read();
    if (history.chance(0.08) && history.job.stream.shards().length < 6) history.split();
  }
};

const choose = async ({ ports, upTo }: History): Promise<ManifestReference> => {
  const { complete } = await readRegistry(ports);
  return complete[upTo(complete.length)]!;
};

/** @returns how many segments have gone */
const tend = async (history: History): Promise<number> => {
  const { ports, chance, upTo } = history;
  if (chance(0.5)) await compactNow(history, chooseEverything);
  if (chance(0.1)) {
    await history.readAll();
    await history.savepoint(`s${String(history.random()).slice(2)}`);
  }
  if (chance(0.1)) {
    await history.restore((await choose(history)).object);
    seen.restoredBefore += 1;
  }
  if (chance(0.5)) return 0;
  await keepNewest(ports, 1 + upTo(3));
  const { deleted } = await collectGarbage(ports, { graceMs: 0, dryRun: false });
  return deleted['segment: passed by all recovery points'] ?? 0;
};

/** The rows that count, by key and place, of those that segments in the bucket hold from before the present generation. */
const listHeld = async ({ ports }: History): Promise<string[]> => {
  const { generation } = (await ports.control.readJob(ports.job))!;
  const counts = await readRowRule(ports, generation);
  const held: string[] = [];
  for await (const name of ports.objects.list(reservationsPrefix(ports.job))) {
    const identity = parseObjectName(ports.job, name);
    if (identity.kind !== 'segment' || identity.generation >= generation) continue;
    const channel = identity.channelId;
    for (const { key, emissions } of decodeSegment((await ports.objects.read(name))!, name).items) {
      for (const { sink, position } of emissions === undefined ? [] : unpackEmissions(emissions)) {
        if (sink !== 'entries' || !counts({ ...identity, channel, position })) continue;
        held.push(`${key} ${formatPosition(position)}`);
      }
    }
  }
  return held;
};

const entriesOf = ({ job, expected }: History): Map<string, readonly unknown[]> =>
  new Map([...expected().keys()].map((user) => [user, job.entriesOf(user)]));

/** Some of the rows, once and in order. */
const expectPartOf = (rows: readonly unknown[], whole: readonly unknown[]): void => {
  let at = 0;
  for (const row of whole) if (at < rows.length && rows[at] === row) at += 1;
  expect(rows.slice(at), `of ${JSON.stringify(whole)} there is ${JSON.stringify(rows)}`).toEqual(
    [],
  );
};

describe('a job whose tables are lost', () => {
  it.each(seeds)(
    'comes back from any manifest, views whole, rows once and in order as far as they are kept, %s',
    async (seed) => {
      const history = await createHistory(seed);
      const { job } = history;
      let collected = 0;
      for (let round = 0; round < 5; round += 1) {
        await goOn(history);
        await history.checkpoint();
        collected += await tend(history);
      }
      await history.readAll();
      const totals = job.totals();
      expect(entriesOf(history)).toEqual(new Map(history.expected()));

      const before = (await readRegistry(history.ports)).complete;
      const { object } = await choose(history);
      job.loseTables();
      await history.restore(object, { areTablesLost: true });
      await history.readAll();
      expect(job.totals()).toEqual(totals);
      const kept = entriesOf(history);
      for (const [user, whole] of history.expected()) expectPartOf(kept.get(user)!, whole);
      const there = new Set(
        job.tables.entries.rows().map(({ key, position }) => `${key} ${formatPosition(position)}`),
      );
      expect((await listHeld(history)).filter((place) => !there.has(place))).toEqual([]);
      if (collected === 0) {
        expect(kept).toEqual(new Map(history.expected()));
        seen.whole += 1;
      } else {
        seen.partly += 1;
      }

      // What has come back stays, wherever the job goes from there, and whatever is collected.
      await goOn(history);
      await history.checkpoint();
      await collectGarbage(history.ports, { graceMs: 0, dryRun: false });
      const back = history.chance(0.5)
        ? before[history.upTo(before.length)]!
        : await choose(history);
      await history.restore(back.object);
      await history.readAll();
      for (const [user, whole] of history.expected()) {
        const rows = job.entriesOf(user);
        expectPartOf(rows, whole);
        expect(rows.length).toBeGreaterThanOrEqual(kept.get(user)?.length ?? 0);
      }
    },
    60_000,
  );

  afterAll(() => {
    for (const [what, count] of Object.entries(seen)) {
      expect(count, `no history had any ${what}`).toBeGreaterThan(0);
    }
  });
});
