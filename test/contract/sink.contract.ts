import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import { emissionId, type Emission } from '../../shared/core/emission.ts';
import { hashKey } from '../../shared/core/key-group.ts';
import type { Sink, SinkRow, SinkSource } from '../../shared/ports/sink.ts';

/** The columns that sinks under test declare. */
export const sinkColumns = ['name', 'count', 'tags', 'note'] as const;

/** A row as a reader of the sink's table finds it. */
export interface VisibleRow {
  readonly key: string;
  /** The name of an upsert row; empty for append rows. */
  readonly row: string;
  readonly id: string;
  readonly generation: number;
  readonly channel: string;
  readonly position: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface SinkUnderTest {
  readonly sink: Sink;
  /** The rows of some keys that readers see, by key and by the table's own order. */
  readonly readRows: (keys: readonly string[]) => Promise<VisibleRow[]>;
}

const sequence = '49590338271490256608559692538361571095921575989136588898';

export function makeSource(overrides: Partial<SinkSource> = {}): SinkSource {
  return {
    job: 'flights',
    operator: 'delays',
    generation: 1,
    channel: 'delays/events@1735689600000/shardId-000000000000',
    origin: 'events@1735689600000',
    ...overrides,
  };
}

/** An output of `key` at the place `at` of its stream. */
export function makeRow(key: string, at: number, overrides: Partial<Emission> = {}): SinkRow {
  const emission: Emission = {
    position: { sequence: (BigInt(sequence) + BigInt(at)).toString(), sub: 0 },
    index: 0,
    sink: 'totals',
    row: '',
    value: { name: key, count: at },
    ...overrides,
  };
  const id = emissionId('delays', 'events@1735689600000', hashKey(key), emission);
  return { emission, key, id };
}

function freshKey(): string {
  return `key-${randomUUID()}`;
}

export function describeAppendSink(name: string, open: () => Promise<SinkUnderTest>): void {
  describe(`append sink: ${name}`, () => {
    let sink: Sink;
    let readRows: SinkUnderTest['readRows'];

    beforeAll(async () => {
      ({ sink, readRows } = await open());
    });

    it('writes every row with where it comes from', async () => {
      const key = freshKey();
      const row = makeRow(key, 1, { value: { name: 'a', count: 1.5, tags: ['x', 'y'] } });
      expect(await sink.write(makeSource({ generation: 3 }), [row])).toEqual({
        written: 1,
        skipped: 0,
      });
      expect(await readRows([key])).toEqual([
        {
          key,
          row: '',
          id: row.id,
          generation: 3,
          channel: makeSource().channel,
          position: `${row.emission.position.sequence}.0`,
          value: { name: 'a', count: 1.5, tags: ['x', 'y'] },
        },
      ]);
    });

    it('does nothing for no rows', async () => {
      expect(await sink.write(makeSource(), [])).toEqual({ written: 0, skipped: 0 });
    });

    it('lands a row once, however often it is written', async () => {
      const key = freshKey();
      const rows = [makeRow(key, 1), makeRow(key, 2)];
      await sink.write(makeSource(), rows.slice(0, 1));
      expect(await sink.write(makeSource(), rows)).toEqual({ written: 1, skipped: 1 });
      expect(await sink.write(makeSource(), rows)).toEqual({ written: 0, skipped: 2 });
      expect(await readRows([key])).toHaveLength(2);
    });

    it.each([1, 5])('never changes a row within generation %d', async (generation) => {
      const key = freshKey();
      const source = makeSource({ generation });
      await sink.write(source, [makeRow(key, 1)]);
      const other = makeRow(key, 1, { value: { name: 'z' } });
      expect(await sink.write(source, [other])).toEqual({ written: 0, skipped: 1 });
      const [row] = await readRows([key]);
      expect(row).toMatchObject({ generation, value: { name: key, count: 1 } });
    });

    it('replaces the whole row of a lower generation, skips that of the same, and refuses to replace a higher one', async () => {
      const key = freshKey();
      const write = (generation: number, value: object) =>
        sink.write(makeSource({ generation }), [makeRow(key, 1, { value })]);
      await write(1, { name: 'first', note: 'old', tags: ['a'] });
      expect(await write(3, { name: 'third', count: 3 })).toEqual({ written: 1, skipped: 0 });
      expect(await write(3, { name: 'again' })).toEqual({ written: 0, skipped: 1 });
      expect(await write(2, { name: 'second' })).toEqual({ written: 0, skipped: 1 });
      expect(await write(1, { name: 'zombie' })).toEqual({ written: 0, skipped: 1 });
      const rows = await readRows([key]);
      expect(rows).toMatchObject([{ generation: 3 }]);
      expect(rows[0]?.value).toEqual({ name: 'third', count: 3 });
    });

    it('tells rows apart of which some are there, in lower, the same and higher generations', async () => {
      const key = freshKey();
      const rows = Array.from({ length: 120 }, (_, at) => makeRow(key, at));
      await sink.write(makeSource({ generation: 1 }), rows.slice(0, 30));
      await sink.write(makeSource({ generation: 2 }), rows.slice(30, 60));
      await sink.write(makeSource({ generation: 3 }), rows.slice(60, 90));
      expect(await sink.write(makeSource({ generation: 2 }), rows)).toEqual({
        written: 60,
        skipped: 60,
      });
      const generations = (await readRows([key])).map(({ generation }) => generation);
      expect(generations).toEqual(rows.map((_, at) => (at >= 60 && at < 90 ? 3 : 2)));
    });

    it('lands a row once for any number of writers at a time', async () => {
      const key = freshKey();
      const rows = Array.from({ length: 30 }, (_, at) => makeRow(key, at));
      const receipts = await Promise.all(
        Array.from({ length: 5 }, () => sink.write(makeSource(), rows)),
      );
      expect(receipts.reduce((sum, { written }) => sum + written, 0)).toBe(30);
      expect(await readRows([key])).toHaveLength(30);
    });

    it('keeps the outputs of one record, of its parts and of other streams apart', async () => {
      const key = freshKey();
      const first = makeRow(key, 1);
      const { position } = first.emission;
      await sink.write(makeSource(), [
        first,
        makeRow(key, 1, { index: 1 }),
        makeRow(key, 1, { position: { ...position, sub: 1 } }),
      ]);
      await sink.write(makeSource({ origin: 'events@1735689609999' }), [first]);
      expect(await readRows([key])).toHaveLength(4);
    });

    it('orders the rows of a key by the places of their records', async () => {
      const key = freshKey();
      const rows = [makeRow(key, 9), makeRow(key, 10), makeRow(key, 2)];
      rows.push(makeRow(key, 2, { index: 10 }), makeRow(key, 2, { index: 9 }));
      await sink.write(makeSource(), rows);
      const ids = (await readRows([key])).map(({ id }) => id);
      expect(ids).toEqual([rows[2], rows[4], rows[3], rows[0], rows[1]].map((row) => row?.id));
    });

    it('takes more rows than fit into one request', async () => {
      const keys = [freshKey(), freshKey()];
      const rows = Array.from({ length: 240 }, (_, at) => makeRow(keys[at % 2]!, at));
      expect(await sink.write(makeSource(), rows)).toEqual({ written: 240, skipped: 0 });
      expect(await readRows(keys)).toHaveLength(240);
    });
  });
}

export function describeUpsertSink(name: string, open: () => Promise<SinkUnderTest>): void {
  describe(`upsert sink: ${name}`, () => {
    let sink: Sink;
    let readRows: SinkUnderTest['readRows'];

    beforeAll(async () => {
      ({ sink, readRows } = await open());
    });

    const makeUpsert = (key: string, at: number, overrides: Partial<Emission> = {}): SinkRow =>
      makeRow(key, at, { row: '-', ...overrides });

    it('writes every row with where it comes from', async () => {
      const key = freshKey();
      const row = makeUpsert(key, 1, { value: { name: 'a', tags: [] } });
      expect(await sink.write(makeSource(), [row])).toEqual({ written: 1, skipped: 0 });
      expect(await readRows([key])).toEqual([
        {
          key,
          row: '-',
          id: row.id,
          generation: 1,
          channel: makeSource().channel,
          position: `${row.emission.position.sequence}.0`,
          value: { name: 'a', tags: [] },
        },
      ]);
    });

    it('replaces the whole row by a newer output', async () => {
      const key = freshKey();
      await sink.write(makeSource(), [makeUpsert(key, 1, { value: { name: 'a', note: 'old' } })]);
      const newer = makeUpsert(key, 2, { value: { count: 2 } });
      expect(await sink.write(makeSource(), [newer])).toEqual({ written: 1, skipped: 0 });
      const [row] = await readRows([key]);
      expect(row).toMatchObject({ id: newer.id, value: { count: 2 } });
      expect(Object.keys(row!.value)).toEqual(['count']);
    });

    it('skips an output that is older than the row, or the same', async () => {
      const key = freshKey();
      const [older, newer] = [makeUpsert(key, 1), makeUpsert(key, 2)];
      await sink.write(makeSource(), [newer]);
      expect(await sink.write(makeSource(), [older])).toEqual({ written: 0, skipped: 1 });
      expect(await sink.write(makeSource(), [newer])).toEqual({ written: 0, skipped: 1 });
      expect((await readRows([key]))[0]?.id).toBe(newer.id);
    });

    it('orders outputs of one record by sub-sequence and index', async () => {
      const key = freshKey();
      const { position } = makeUpsert(key, 5).emission;
      const steps = [
        makeUpsert(key, 5),
        makeUpsert(key, 5, { index: 2 }),
        makeUpsert(key, 5, { index: 10 }),
        makeUpsert(key, 5, { position: { ...position, sub: 1 } }),
      ];
      for (const step of steps) {
        expect(await sink.write(makeSource(), [step])).toEqual({ written: 1, skipped: 0 });
      }
      for (const step of steps.toReversed()) {
        expect(await sink.write(makeSource(), [step])).toEqual({ written: 0, skipped: 1 });
      }
    });

    it('lets a higher generation win over any position, and never a lower one', async () => {
      const key = freshKey();
      await sink.write(makeSource({ generation: 1 }), [makeUpsert(key, 100)]);
      const replayed = makeUpsert(key, 1);
      expect(await sink.write(makeSource({ generation: 2 }), [replayed])).toEqual({
        written: 1,
        skipped: 0,
      });
      expect(await sink.write(makeSource({ generation: 1 }), [makeUpsert(key, 200)])).toEqual({
        written: 0,
        skipped: 1,
      });
      expect((await readRows([key]))[0]).toMatchObject({ id: replayed.id, generation: 2 });
    });

    it('keeps the newest of several outputs of one row in a call', async () => {
      const key = freshKey();
      const rows = [2, 3, 1].map((at) => makeUpsert(key, at));
      expect(await sink.write(makeSource(), rows)).toEqual({ written: 1, skipped: 2 });
      expect((await readRows([key]))[0]?.value).toEqual({ name: key, count: 3 });
    });

    it('keeps the rows of a key apart, and those of other keys', async () => {
      const [key, other] = [freshKey(), freshKey()];
      await sink.write(makeSource(), [
        makeUpsert(key, 1, { row: 'b' }),
        makeUpsert(key, 2, { row: 'a' }),
        makeUpsert(other, 3, { row: 'a' }),
      ]);
      const rows = await readRows([key]);
      expect(rows.map(({ row, value }) => [row, value['count']])).toEqual([
        ['a', 2],
        ['b', 1],
      ]);
    });

    it('removes a row, and no older output brings it back', async () => {
      const key = freshKey();
      await sink.write(makeSource(), [makeUpsert(key, 1)]);
      const removal = makeUpsert(key, 3, { value: null });
      expect(await sink.write(makeSource(), [removal])).toEqual({ written: 1, skipped: 0 });
      expect(await readRows([key])).toEqual([]);
      expect(await sink.write(makeSource(), [makeUpsert(key, 2)])).toEqual({
        written: 0,
        skipped: 1,
      });
      expect(await readRows([key])).toEqual([]);
    });

    it('remembers the removal of a row that it never had', async () => {
      const key = freshKey();
      await sink.write(makeSource(), [makeUpsert(key, 3, { value: null })]);
      await sink.write(makeSource(), [makeUpsert(key, 2)]);
      expect(await readRows([key])).toEqual([]);
    });

    it('brings a removed row back by a newer output', async () => {
      const key = freshKey();
      await sink.write(makeSource(), [makeUpsert(key, 1, { value: { note: 'old' } })]);
      await sink.write(makeSource(), [makeUpsert(key, 2, { value: null })]);
      await sink.write(makeSource(), [makeUpsert(key, 3)]);
      const rows = await readRows([key]);
      expect(rows.map(({ value }) => value)).toEqual([{ name: key, count: 3 }]);
    });

    it('has the newest output of each row after any number of writers at a time', async () => {
      const keys = Array.from({ length: 30 }, freshKey);
      const receipts = await Promise.all(
        [3, 1, 4, 2].map((at) =>
          sink.write(
            makeSource(),
            keys.map((key) => makeUpsert(key, at)),
          ),
        ),
      );
      for (const { written, skipped } of receipts) expect(written + skipped).toBe(30);
      expect(receipts[2]).toEqual({ written: 30, skipped: 0 });
      const rows = await readRows(keys);
      expect(rows.map(({ value }) => value['count'])).toEqual(keys.map(() => 4));
    });

    it('takes more rows than fit into one request', async () => {
      const keys = Array.from({ length: 120 }, freshKey);
      const write = (at: number) =>
        sink.write(
          makeSource(),
          keys.map((key) => makeUpsert(key, at)),
        );
      expect(await write(1)).toEqual({ written: 120, skipped: 0 });
      expect(await write(2)).toEqual({ written: 120, skipped: 0 });
      expect(await readRows(keys)).toHaveLength(120);
    });
  });
}
