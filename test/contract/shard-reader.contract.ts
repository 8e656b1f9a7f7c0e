import { beforeAll, describe, expect, it } from 'vitest';

import { identifyKey } from '../../shared/core/channel.ts';
import { isHoldfastError } from '../../shared/core/errors.ts';
import { isOwnedBy } from '../../shared/core/key-group.ts';
import { comparePositions } from '../../shared/core/position.ts';
import type { ShardReader, StreamRecord } from '../../shared/ports/shard-reader.ts';

/** A stream that a test may write and reshard. */
export interface StreamUnderTest {
  readonly name: string;
  readonly reader: ShardReader;
  put(
    partitionKey: string,
    data: Uint8Array,
    explicitHashKey?: string,
  ): Promise<{ readonly shardId: string; readonly sequence: string }>;
  split(shardId: string): Promise<void>;
  merge(shardId: string, adjacentShardId: string): Promise<void>;
}

const pagesMax = 50;

interface ReadResult {
  readonly records: StreamRecord[];
  readonly isEndOfShard: boolean;
}

/** Reads until the tip or the end of a shard. */
async function readAll(
  reader: ShardReader,
  shardId: string,
  afterSequence?: string,
): Promise<ReadResult> {
  const records: StreamRecord[] = [];
  let pages = 0;
  for await (const page of reader.read(shardId, afterSequence)) {
    records.push(...page.records);
    if (page.isEndOfShard) return { records, isEndOfShard: true };
    if (page.isAtTip) return { records, isEndOfShard: false };
    pages += 1;
    if (pages > pagesMax) throw new Error(`no tip within ${pagesMax} pages of ${shardId}`);
  }
  throw new Error(`shard ${shardId} ended without saying so`);
}

export function describeShardReader(
  name: string,
  open: (shards: number) => Promise<StreamUnderTest>,
): void {
  describe(`shard reader: ${name}`, () => {
    describe('a stream with two shards', () => {
      let stream: StreamUnderTest;
      const put: { key: string; shardId: string; sequence: string }[] = [];

      beforeAll(async () => {
        stream = await open(2);
        for (let at = 0; at < 30; at += 1) {
          const key = `key-${at}`;
          put.push({ key, ...(await stream.put(key, new Uint8Array([at]))) });
        }
      });

      it('describes the incarnation of the stream and its retention', async () => {
        const { incarnation, retentionHours } = await stream.reader.describe();
        expect(incarnation.name).toBe(stream.name);
        expect(incarnation.createdAtMs).toBeGreaterThan(1_600_000_000_000);
        expect(retentionHours).toBe(24);
        expect(await stream.reader.describe()).toEqual({ incarnation, retentionHours });
      });

      it('lists shards whose ranges cover the hash space without a gap', async () => {
        const shards = await stream.reader.listShards();
        const ranges = shards.map(({ range }) => range).sort((a, b) => (a.from < b.from ? -1 : 1));
        expect(ranges).toHaveLength(2);
        expect(ranges[0]!.from).toBe('0'.repeat(32));
        expect(BigInt(`0x${ranges[1]!.from}`)).toBe(BigInt(`0x${ranges[0]!.to}`) + 1n);
        expect(ranges[1]!.to).toBe('f'.repeat(32));
        expect(ranges[1]!.from).toHaveLength(32);
        expect(shards.map(({ parentIds }) => parentIds)).toEqual([[], []]);
      });

      it('has each record in the shard that owns the hash of its key', async () => {
        for (const { shardId, range } of await stream.reader.listShards()) {
          const { records } = await readAll(stream.reader, shardId);
          expect(records.length).toBeGreaterThan(0);
          for (const { partitionKey } of records) {
            expect(isOwnedBy(range, identifyKey(partitionKey).hash)).toBe(true);
          }
        }
      });

      it('reads all records of a shard in order, as they were put', async () => {
        for (const { shardId } of await stream.reader.listShards()) {
          const { records, isEndOfShard } = await readAll(stream.reader, shardId);
          const expected = put.filter((record) => record.shardId === shardId);
          expect(records.map(({ partitionKey }) => partitionKey)).toEqual(
            expected.map(({ key }) => key),
          );
          expect(records.map(({ sequence }) => sequence)).toEqual(
            expected.map(({ sequence }) => sequence),
          );
          expect(records.map(({ data }) => data[0])).toEqual(
            expected.map(({ key }) => Number(key.slice(4))),
          );
          expect(isEndOfShard).toBe(false);
          for (let at = 1; at < records.length; at += 1) {
            const [a, b] = [records[at - 1]!, records[at]!];
            expect(
              comparePositions({ sequence: a.sequence, sub: 0 }, { sequence: b.sequence, sub: 0 }),
            ).toBeLessThan(0);
          }
        }
      });

      it('tells when a record arrived, in ms', async () => {
        const { records } = await readAll(stream.reader, put[0]!.shardId);
        expect(Number.isInteger(records[0]!.arrivalMs)).toBe(true);
        expect(records[0]!.arrivalMs).toBeGreaterThan(1_600_000_000_000);
      });

      it('begins after a record', async () => {
        const mine = put.filter(({ shardId }) => shardId === put[0]!.shardId);
        for (const at of [0, 3, mine.length - 1]) {
          const { records } = await readAll(stream.reader, mine[0]!.shardId, mine[at]!.sequence);
          expect(records.map(({ sequence }) => sequence)).toEqual(
            mine.slice(at + 1).map(({ sequence }) => sequence),
          );
        }
      });

      it('refuses to begin after a record that the shard does not have', async () => {
        const [first, other] = [put[0]!, put.find(({ shardId }) => shardId !== put[0]!.shardId)!];
        const unknown = (BigInt(first.sequence) - 16n).toString();
        for (const sequence of [unknown, other.sequence]) {
          const thrown: unknown = await readAll(stream.reader, first.shardId, sequence).catch(
            (error: unknown) => error,
          );
          expect(isHoldfastError(thrown, 'invalid')).toBe(true);
        }
      });

      it('goes on at the tip: an empty page is not the end', async () => {
        const { shardId } = put[0]!;
        const key = put[0]!.key;
        const seen: StreamRecord[] = [];
        let empty = 0;
        for await (const page of stream.reader.read(shardId, put[0]!.sequence)) {
          expect(page.isEndOfShard).toBe(false);
          seen.push(...page.records);
          if (page.records.some(({ data }) => data[0] === 200)) break;
          if (page.records.length > 0 || !page.isAtTip) continue;
          empty += 1;
          if (empty === 1) await stream.put(key, new Uint8Array([200]));
          if (empty > pagesMax) throw new Error('the record never came');
        }
        expect(seen.at(-1)?.data[0]).toBe(200);
        expect(empty).toBeGreaterThan(0);
      });
    });

    describe('a stream that is resharded', () => {
      it('keeps closed shards in its list, with children that name their parents', async () => {
        const stream = await open(1);
        const [root] = await stream.reader.listShards();
        const rootId = root!.shardId;
        await stream.put('a', new Uint8Array([1]));
        await stream.put('b', new Uint8Array([2]));
        await stream.split(rootId);

        const afterSplit = await stream.reader.listShards();
        const children = afterSplit.filter(({ parentIds }) => parentIds.includes(rootId));
        expect(afterSplit).toHaveLength(3);
        expect(children).toHaveLength(2);
        expect(children.map(({ parentIds }) => parentIds)).toEqual([[rootId], [rootId]]);
        expect(children.map(({ range }) => range.from).sort()[0]).toBe(root!.range.from);
        expect(children.map(({ range }) => range.to).sort()[1]).toBe(root!.range.to);

        const [a, b] = [children[0]!, children[1]!];
        await stream.put('a', new Uint8Array([3]));
        await stream.merge(a.shardId, b.shardId);
        const merged = (await stream.reader.listShards()).filter(
          ({ parentIds }) => parentIds.length === 2,
        );
        expect(merged).toHaveLength(1);
        expect([...merged[0]!.parentIds].sort()).toEqual([a.shardId, b.shardId].sort());
        expect(merged[0]!.range).toEqual(root!.range);
      });

      it('tells the end of a closed shard after its last record, and ends there', async () => {
        const stream = await open(1);
        const [root] = await stream.reader.listShards();
        const first = await stream.put('a', new Uint8Array([1]));
        const second = await stream.put('b', new Uint8Array([2]));
        await stream.split(root!.shardId);

        for (const [after, expected] of [
          [undefined, [first.sequence, second.sequence]],
          [first.sequence, [second.sequence]],
          [second.sequence, []],
        ] as const) {
          const sequences: string[] = [];
          let ends = 0;
          for await (const page of stream.reader.read(root!.shardId, after)) {
            expect(ends).toBe(0);
            sequences.push(...page.records.map(({ sequence }) => sequence));
            if (page.isEndOfShard) {
              ends += 1;
              expect(page.isAtTip).toBe(true);
            }
          }
          expect(ends).toBe(1);
          expect(sequences).toEqual(expected);
        }
      });

      it('tells the end of a closed shard that never had a record', async () => {
        const stream = await open(1);
        const [root] = await stream.reader.listShards();
        await stream.split(root!.shardId);
        expect(await readAll(stream.reader, root!.shardId)).toEqual({
          records: [],
          isEndOfShard: true,
        });
      });

      it('has child records past all records of their parents', async () => {
        const stream = await open(1);
        const [root] = await stream.reader.listShards();
        const before = await stream.put('a', new Uint8Array([1]));
        await stream.split(root!.shardId);
        const after = await stream.put('a', new Uint8Array([2]));
        expect(after.shardId).not.toBe(before.shardId);
        expect(
          comparePositions(
            { sequence: before.sequence, sub: 0 },
            { sequence: after.sequence, sub: 0 },
          ),
        ).toBeLessThan(0);
      });
    });

    it('gives a record with an explicit hash key to the shard that owns that key', async () => {
      const stream = await open(2);
      const [low, high] = (await stream.reader.listShards()).sort((a, b) =>
        a.range.from < b.range.from ? -1 : 1,
      );
      const top = (2n ** 128n - 1n).toString();
      expect((await stream.put('same', new Uint8Array([1]), '0')).shardId).toBe(low!.shardId);
      expect((await stream.put('same', new Uint8Array([2]), top)).shardId).toBe(high!.shardId);
      const { records } = await readAll(stream.reader, high!.shardId);
      expect(records.map(({ data }) => [...data])).toEqual([[2]]);
    });
  });
}
