import { describe, expect, it } from 'vitest';

import { createMemoryShardReader } from '../../../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryStream } from '../../../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import type { ShardPage } from '../../../../shared/ports/shard-reader.ts';

const bytes = new Uint8Array([1]);

const isLater = (a: string, b: string): boolean => BigInt(a) > BigInt(b);

async function readPages(
  reader: ReturnType<typeof createMemoryShardReader>,
  shardId: string,
  after?: string,
): Promise<ShardPage[]> {
  const pages: ShardPage[] = [];
  for await (const page of reader.read(shardId, after)) {
    pages.push(page);
    if (page.isAtTip) break;
  }
  return pages;
}

describe('memory stream', () => {
  it('gives sequence numbers as AWS does: 56 digits, past each other', () => {
    const system = createMemorySystem();
    const stream = createMemoryStream({ shards: 40, now: system.now });
    const last = new Map<string, string>();
    for (let at = 0; at < 500; at += 1) {
      system.advance(at % 7 === 0 ? 10_000 : 0);
      const { shardId, sequence } = stream.put(`key-${at}`, bytes);
      expect(sequence).toMatch(/^\d{56}$/);
      expect(isLater(sequence, last.get(shardId) ?? '0')).toBe(true);
      last.set(shardId, sequence);
    }
    expect(last.size).toBe(40);
  });

  it('never gives a sequence number twice, in whatever shard', () => {
    const stream = createMemoryStream({ shards: 32 });
    const sequences = Array.from(
      { length: 1_000 },
      (_, at) => stream.put(`key-${at}`, bytes).sequence,
    );
    expect(new Set(sequences).size).toBe(1_000);
  });

  it('puts children past their parents, even where the clock stands still', () => {
    const stream = createMemoryStream();
    let before = stream.put('a', bytes);
    for (let generation = 0; generation < 5; generation += 1) {
      const [low, high] = stream.split(before.shardId);
      const middle = stream.put('a', bytes);
      expect([low, high]).toContain(middle.shardId);
      expect(isLater(middle.sequence, before.sequence)).toBe(true);
      const merged = stream.merge(low, high);
      before = stream.put('a', bytes);
      expect(before.shardId).toBe(merged);
      expect(isLater(before.sequence, middle.sequence)).toBe(true);
    }
  });

  it('stamps arrivals with its clock or as it is told', () => {
    const system = createMemorySystem({ startMs: 5_000 });
    const stream = createMemoryStream({ now: system.now });
    stream.put('a', bytes);
    system.advance(7);
    stream.put('a', bytes);
    stream.put('a', bytes, { arrivalMs: 3 });
    const [shard] = stream.shards();
    expect(shard!.records.map(({ arrivalMs }) => arrivalMs)).toEqual([5_000, 5_007, 3]);
    expect(stream.incarnation.createdAtMs).toBe(5_000);
  });

  it('splits where it is told', () => {
    const stream = createMemoryStream();
    const at = '4'.padEnd(32, '0');
    const [low, high] = stream.split('shardId-000000000000', at);
    expect(stream.shard(low).range).toEqual({ from: '0'.repeat(32), to: `3${'f'.repeat(31)}` });
    expect(stream.shard(high).range).toEqual({ from: at, to: 'f'.repeat(32) });
  });

  it('refuses what Kinesis refuses', () => {
    const stream = createMemoryStream({ shards: 3 });
    const [a, b, c] = stream.shards().map(({ shardId }) => shardId) as [string, string, string];
    const calls = [
      () => stream.merge(a, c),
      () => stream.merge(a, a),
      () => stream.split('shardId-000000000009'),
      () => stream.split(a, '0'.repeat(32)),
      () => stream.split(a, 'f'.repeat(32)),
      () => stream.put('a', bytes, { explicitHashKey: (2n ** 128n).toString() }),
      () => stream.forget(a),
    ];
    for (const call of calls) expect(call).toThrow(/memory stream/);
    stream.merge(a, b);
    for (const closed of [a, b]) expect(() => stream.split(closed)).toThrow(/is closed/);
  });

  it('lets a closed shard leave after its last record', () => {
    const stream = createMemoryStream();
    const { shardId } = stream.put('a', bytes);
    const [low] = stream.split(shardId);
    expect(() => {
      stream.forget(shardId);
    }).toThrow(/has records/);
    stream.trim(shardId);
    stream.forget(shardId);
    expect(stream.shards().map((shard) => shard.shardId)).not.toContain(shardId);
    // The children still tell of it.
    expect(stream.shard(low).parentIds).toEqual([shardId]);
  });

  it('shares no memory with its callers', async () => {
    const stream = createMemoryStream();
    const data = Buffer.from([1, 2]);
    const { shardId } = stream.put('a', data);
    data.fill(0);
    const reader = createMemoryShardReader(stream);
    const [page] = await readPages(reader, shardId);
    page!.records[0]!.data.fill(9);
    const [again] = await readPages(reader, shardId);
    expect([...again!.records[0]!.data]).toEqual([1, 2]);
  });
});

describe('memory shard reader', () => {
  it('gives pages of a bounded size', async () => {
    const stream = createMemoryStream();
    for (let at = 0; at < 10; at += 1) stream.put('a', bytes);
    const reader = createMemoryShardReader(stream, { pageRecordsMax: 4 });
    const pages = await readPages(reader, 'shardId-000000000000');
    expect(pages.map(({ records }) => records.length)).toEqual([4, 4, 2]);
    expect(pages.map(({ isAtTip }) => isAtTip)).toEqual([false, false, true]);
  });

  it('begins with the oldest record that retention has left', async () => {
    const stream = createMemoryStream();
    const first = stream.put('a', bytes);
    const second = stream.put('a', bytes);
    stream.trim(first.shardId, first.sequence);
    const [page] = await readPages(createMemoryShardReader(stream), first.shardId);
    expect(page!.records.map(({ sequence }) => sequence)).toEqual([second.sequence]);
  });

  it('is invalid after a record that retention has taken', async () => {
    const stream = createMemoryStream();
    const first = stream.put('a', bytes);
    stream.put('a', bytes);
    stream.trim(first.shardId, first.sequence);
    const reader = createMemoryShardReader(stream);
    const thrown: unknown = await readPages(reader, first.shardId, first.sequence).catch(
      (error: unknown) => error,
    );
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
  });
});
