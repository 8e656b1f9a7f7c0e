import { describe, expect, it } from 'vitest';

import type { Shard } from '../../shared/core/channel.ts';
import { isHoldfastError } from '../../shared/core/errors.ts';
import {
  shardDataBytesMax,
  shardPartitionKey,
  type ShardWriter,
} from '../../shared/ports/shard-writer.ts';
import type { StreamUnderTest } from './shard-reader.contract.ts';

/** A stream that a test may write by shard, too. */
export interface WritableStreamUnderTest extends StreamUnderTest {
  readonly writer: ShardWriter;
}

const pagesMax = 500;
const data = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The texts in a shard, in order, each with its partition key. */
async function readTexts(stream: StreamUnderTest, shardId: string): Promise<string[]> {
  const texts: string[] = [];
  let pages = 0;
  for await (const page of stream.reader.read(shardId, undefined)) {
    for (const record of page.records) {
      texts.push(`${record.partitionKey}:${new TextDecoder().decode(record.data)}`);
    }
    if (page.isAtTip) return texts;
    pages += 1;
    if (pages > pagesMax) throw new Error(`no tip within ${pagesMax} pages of ${shardId}`);
  }
  return texts;
}

const starts = (shards: readonly Shard[]): string[] => shards.map(({ range }) => range.from);
const ids = (shards: readonly Shard[]): string[] => shards.map(({ shardId }) => shardId).sort();

export function describeShardWriter(
  name: string,
  open: (shards: number) => Promise<WritableStreamUnderTest>,
): void {
  describe(`shard writer: ${name}`, () => {
    it('reaches each shard with one record at the start of its range', async () => {
      const stream = await open(3);
      const shards = await stream.writer.listOpenShards();
      expect(shards).toHaveLength(3);
      expect(shards).toEqual(await stream.reader.listShards());
      await stream.writer.putAt(starts(shards), data('one'));
      await stream.writer.putAt(starts(shards), data('two'));
      for (const { shardId } of shards) {
        const expected = ['one', 'two'].map((text) => `${shardPartitionKey}:${text}`);
        expect(await readTexts(stream, shardId)).toEqual(expected);
      }
    });

    it('reaches a shard at either end of its range', async () => {
      const stream = await open(2);
      const shards = await stream.writer.listOpenShards();
      await stream.writer.putAt(
        shards.map(({ range }) => range.to),
        data('end'),
      );
      for (const { shardId } of shards) {
        expect(await readTexts(stream, shardId)).toEqual([`${shardPartitionKey}:end`]);
      }
    });

    it('puts nothing where no hash is given', async () => {
      const stream = await open(1);
      await stream.writer.putAt([], data('none'));
      const [shard] = await stream.writer.listOpenShards();
      expect(await readTexts(stream, shard!.shardId)).toEqual([]);
    });

    it('puts more records than a request holds', async () => {
      const stream = await open(2);
      const [one, other] = await stream.writer.listOpenShards();
      const hashes = Array.from(
        { length: 502 },
        (_, at) => (at % 2 === 0 ? one! : other!).range.to,
      );
      await stream.writer.putAt(hashes, data('x'));
      expect(await readTexts(stream, one!.shardId)).toHaveLength(251);
      expect(await readTexts(stream, other!.shardId)).toHaveLength(251);
    });

    it('takes data of the greatest size and refuses more', async () => {
      const stream = await open(1);
      const shards = await stream.writer.listOpenShards();
      await stream.writer.putAt(starts(shards), new Uint8Array(shardDataBytesMax));
      const thrown: unknown = await stream.writer
        .putAt(starts(shards), new Uint8Array(shardDataBytesMax + 1))
        .catch((error: unknown) => error);
      expect(isHoldfastError(thrown, 'invalid')).toBe(true);
      expect(await readTexts(stream, shards[0]!.shardId)).toHaveLength(1);
    });

    it('lists the children of a shard that was split, and not the shard', async () => {
      const stream = await open(1);
      const [root] = await stream.writer.listOpenShards();
      await stream.put('a', data('a'));
      await stream.split(root!.shardId);
      const open2 = await stream.writer.listOpenShards();
      expect(open2.map(({ parentIds }) => parentIds)).toEqual([[root!.shardId], [root!.shardId]]);
    });

    it('lists the child of shards that were merged, and not them', async () => {
      const stream = await open(2);
      const [one, other] = await stream.writer.listOpenShards();
      await stream.merge(one!.shardId, other!.shardId);
      const merged = await stream.writer.listOpenShards();
      expect(merged).toHaveLength(1);
      expect([...merged[0]!.parentIds].sort()).toEqual(ids([one!, other!]));
    });

    it('reaches one child of a shard that is split between list and put, and both the next time', async () => {
      const stream = await open(2);
      const before = await stream.writer.listOpenShards();
      await stream.split(before[0]!.shardId);
      await stream.writer.putAt(starts(before), data('first'));
      expect(await readTexts(stream, before[0]!.shardId)).toEqual([]);
      const after = await stream.writer.listOpenShards();
      const reached = await Promise.all(after.map(({ shardId }) => readTexts(stream, shardId)));
      expect(after).toHaveLength(3);
      expect(reached.flat()).toHaveLength(2);
      const child = after.find(({ range }) => range.from === before[0]!.range.from)!;
      expect(await readTexts(stream, child.shardId)).toEqual([`${shardPartitionKey}:first`]);

      await stream.writer.putAt(starts(after), data('second'));
      for (const { shardId } of after) {
        expect((await readTexts(stream, shardId)).at(-1)).toBe(`${shardPartitionKey}:second`);
      }
    });

    it('reaches the child of shards that are merged between list and put', async () => {
      const stream = await open(2);
      const before = await stream.writer.listOpenShards();
      await stream.merge(before[0]!.shardId, before[1]!.shardId);
      await stream.writer.putAt(starts(before), data('both'));
      const [child] = await stream.writer.listOpenShards();
      expect(await readTexts(stream, child!.shardId)).toEqual(
        ['both', 'both'].map((text) => `${shardPartitionKey}:${text}`),
      );
    });
  });
}
