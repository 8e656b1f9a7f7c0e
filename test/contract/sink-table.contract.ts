import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import type { PlacedRow, Sink, SinkTable } from '../../shared/ports/sink.ts';
import { makeRow, makeSource } from './sink.contract.ts';

/** What sweeping a sink's table asks of it, in either kind (R10). */
export function describeSinkTable(name: string, open: () => Promise<Sink & SinkTable>): void {
  describe(`sink table: ${name}`, () => {
    let sink: Sink & SinkTable;
    let row: string;

    beforeAll(async () => {
      sink = await open();
      row = sink.kind === 'upsert' ? 'totals' : '';
    });

    const freshKeys = (count: number): string[] =>
      Array.from({ length: count }, () => `key-${randomUUID()}`);
    const write = (generation: number, keys: readonly string[], at = 1) =>
      sink.write(
        makeSource({ generation }),
        keys.map((key) => makeRow(key, at, { row })),
      );
    const scan = async (keys: readonly string[]): Promise<PlacedRow[]> => {
      const rows: PlacedRow[] = [];
      for await (const placed of sink.scan()) if (keys.includes(placed.key)) rows.push(placed);
      return rows.sort((a, b) => keys.indexOf(a.key) - keys.indexOf(b.key));
    };

    it('tells of every row where it comes from', async () => {
      const keys = freshKeys(1);
      await write(3, keys);
      const { emission, id, key } = makeRow(keys[0]!, 1, { row });
      const [placed, ...others] = await scan(keys);
      expect(others).toEqual([]);
      const { channel } = makeSource();
      const expected = { key, row, id, generation: 3, channel, position: emission.position };
      expect(placed).toEqual({ ...expected, place: placed?.place, mark: placed?.mark });
    });

    it('shows every acknowledged row, over any number of pages', async () => {
      const keys = freshKeys(120);
      // Long enough that a page of 1 MB holds a part of them only.
      const value = { note: 'x'.repeat(20_000) };
      await sink.write(
        makeSource(),
        keys.map((key) => makeRow(key, 1, { row, value })),
      );
      expect((await scan(keys)).map(({ key }) => key)).toEqual(keys);
    });

    it('goes on behind any row, over any number of pages, also where that one has gone', async () => {
      const keys = freshKeys(60);
      const value = { note: 'x'.repeat(40_000) };
      await sink.write(
        makeSource(),
        keys.map((key) => makeRow(key, 1, { row, value })),
      );
      const whole: PlacedRow[] = [];
      for await (const placed of sink.scan()) if (keys.includes(placed.key)) whole.push(placed);
      expect(whole).toHaveLength(keys.length);
      for (const at of [0, 17, 58, 59]) {
        const rest: string[] = [];
        for await (const { key } of sink.scan(whole[at]!.mark)) {
          if (keys.includes(key)) rest.push(key);
        }
        expect(rest).toEqual(whole.slice(at + 1).map(({ key }) => key));
      }
      await sink.remove([whole[30]!]);
      const rest: string[] = [];
      for await (const { key } of sink.scan(whole[30]!.mark))
        if (keys.includes(key)) rest.push(key);
      expect(rest).toEqual(whole.slice(31).map(({ key }) => key));
    });

    it('shows rows that say that a row was removed, and the place of a firing', async () => {
      const keys = freshKeys(1);
      const step = { keyHash: 'a'.repeat(32), key: keys[0]!, time: -5, name: 'e:close' };
      const { position } = makeRow(keys[0]!, 1).emission;
      const gone = makeRow(keys[0]!, 1, {
        row,
        position: { ...position, step },
        value: sink.kind === 'upsert' ? null : {},
      });
      await sink.write(makeSource(), [gone]);
      expect(await scan(keys)).toMatchObject([{ id: gone.id, position: { ...position, step } }]);
    });

    it('removes the rows that it is told to, and no others', async () => {
      const keys = freshKeys(60);
      await write(1, keys);
      const rows = await scan(keys);
      expect(await sink.remove(rows.slice(0, 40))).toBe(40);
      expect((await scan(keys)).map(({ key }) => key)).toEqual(keys.slice(40));
      expect(await sink.remove([])).toBe(0);
    });

    it('does not count a row that has gone already', async () => {
      const keys = freshKeys(2);
      await write(1, keys);
      const rows = await scan(keys);
      await sink.remove(rows.slice(1));
      expect(await sink.remove(rows)).toBe(1);
    });

    it('leaves a row alone that a newer generation has replaced', async () => {
      const keys = freshKeys(2);
      await write(1, keys);
      const rows = await scan(keys);
      expect(await write(2, keys.slice(1))).toEqual({ written: 1, skipped: 0 });
      expect(await sink.remove(rows)).toBe(1);
      expect(await scan(keys)).toMatchObject([{ key: keys[1], generation: 2 }]);
    });

    it('leaves a row alone that has another id than the one that was read', async () => {
      const keys = freshKeys(1);
      await write(2, keys);
      const [placed] = await scan(keys);
      expect(await sink.remove([{ ...placed!, id: `${placed!.id}0` }])).toBe(0);
      expect(await scan(keys)).toHaveLength(1);
    });

    it('takes a row again that was removed', async () => {
      const keys = freshKeys(1);
      await write(1, keys);
      await sink.remove(await scan(keys));
      expect(await write(2, keys)).toEqual({ written: 1, skipped: 0 });
      expect(await scan(keys)).toMatchObject([{ generation: 2 }]);
    });
  });
}
