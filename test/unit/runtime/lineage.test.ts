import { describe, expect, it } from 'vitest';
import { createJob, deliverUntilDone, firstShard, type Job } from './job-fixture.ts';

const parent = firstShard;

/** Two records on a parent that was split, two on its children, all of one key. */
const splitJob = async (options: { drainAfterMs: number; parentAmounts?: readonly number[] }) => {
  const job = await createJob({ settings: { drainAfterMs: options.drainAfterMs } });
  for (const amount of options.parentAmounts ?? [1, 2]) job.put('ann', { amount });
  const children = job.stream.split(parent);
  for (const amount of [3, 4]) job.put('ann', { amount });
  const child = children.find((shardId) => job.records(shardId).length > 0)!;
  return { job, child, sibling: children.find((shardId) => shardId !== child)! };
};

const deliverTo = (job: Job, shardId: string) =>
  job.createEnvironment().deliver(job.records(shardId), { shardId });

describe('a child shard', () => {
  it('leaves the trigger time to deliver the rest of the parent', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 10_000 });
    const outcome = await deliverTo(job, child);
    expect(outcome).toMatchObject({
      kind: 'handBack',
      fromSequence: job.records(child)[0]!.sequence,
      reason: `shard ${parent} still has records that come first`,
    });
    expect(job.progress(child)).toBeUndefined();
    expect(job.entriesOf('ann')).toEqual([]);
  });

  it('goes on by itself once the trigger has delivered the parent', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 10_000 });
    await deliverTo(job, child);
    await deliverTo(job, parent);
    expect(await deliverTo(job, child)).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
    expect(job.progress(parent)).toMatchObject({ isFinished: true });
  });

  it('drains a parent that nobody delivers any more', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 10_000 });
    await deliverTo(job, child);
    job.system.advance(10_000);
    expect(await deliverTo(job, child)).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
    expect(job.progress(parent)).toMatchObject({ isFinished: true });
  });

  it('drains what the trigger has left of the parent', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 0 });
    await job.createEnvironment().deliver(job.records(parent).slice(0, 1));
    expect(await deliverTo(job, child)).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
  });

  it('passes an empty parent at once, and leaves it a finished progress', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 10_000, parentAmounts: [] });
    expect(await deliverTo(job, child)).toMatchObject({ kind: 'done' });
    expect(job.progress(parent)).toMatchObject({ isFinished: true, position: undefined });
    expect(job.totals()).toEqual({ ann: 7 });
  });

  it('keeps the parents and the range of its shard in progress', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 0 });
    await deliverTo(job, child);
    expect(job.progress(child)).toMatchObject({
      parentIds: [parent],
      range: job.stream.shard(child).range,
    });
  });

  it('waits for its whole ancestry, oldest first', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 0 });
    job.stream.split(child);
    job.put('ann', { amount: 5 });
    const grandchild = job.stream
      .shards()
      .find(({ parentIds, records }) => parentIds.includes(child) && records.length > 0)!.shardId;
    expect(await deliverTo(job, grandchild)).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10, 15]);
    for (const shardId of [parent, child]) {
      expect(job.progress(shardId), shardId).toMatchObject({ isFinished: true });
    }
  });

  it('hands back where reading the parent runs out of time', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 0 });
    const outcome = await job
      .createEnvironment()
      .deliver(job.records(child), { shardId: child, remainingMs: () => 0 });
    expect(outcome.kind).toBe('handBack');
    expect(job.progress(child)).toBeUndefined();
  });
});

describe('a merged shard', () => {
  it('waits for both parents', async () => {
    const job = await createJob({ shards: 2, settings: { drainAfterMs: 0 } });
    const [low, high] = job.stream.shards().map(({ shardId }) => shardId) as [string, string];
    job.put('ann', { amount: 1 });
    job.put('dan', { amount: 10 });
    const merged = job.stream.merge(low, high);
    job.put('ann', { amount: 2 });
    job.put('dan', { amount: 20 });
    expect(await deliverTo(job, merged)).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.entriesOf('dan')).toEqual([10, 30]);
    for (const shardId of [low, high]) {
      expect(job.progress(shardId), shardId).toMatchObject({ isFinished: true });
    }
  });

  it('does not begin while one of them still has records', async () => {
    const job = await createJob({ shards: 2, settings: { drainAfterMs: 10_000 } });
    const [low, high] = job.stream.shards().map(({ shardId }) => shardId) as [string, string];
    job.put('ann', { amount: 1 });
    job.put('dan', { amount: 10 });
    const merged = job.stream.merge(low, high);
    job.put('ann', { amount: 2 });
    await deliverTo(job, low);
    const outcome = await deliverTo(job, merged);
    expect(outcome).toMatchObject({
      kind: 'handBack',
      reason: `shard ${high} still has records that come first`,
    });
    await deliverTo(job, high);
    expect(
      await deliverUntilDone(job.createEnvironment(), job.records(merged), { shardId: merged }),
    ).toEqual([]);
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });
});

describe('a parent that has left the stream', () => {
  it('counts as finished where it was never begun', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 0 });
    job.stream.trim(parent);
    job.stream.forget(parent);
    expect(await deliverTo(job, child)).toMatchObject({ kind: 'done' });
    expect(job.totals()).toEqual({ ann: 7 });
    expect(job.progress(parent)).toBeUndefined();
  });

  it('stops its children where it was begun and not finished: records are lost', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 0 });
    await job.createEnvironment().deliver(job.records(parent).slice(0, 1));
    const { sequence } = job.records(parent)[0]!;
    job.stream.trim(parent);
    job.stream.forget(parent);
    await expect(deliverTo(job, child)).rejects.toThrow(
      `shard ${parent}, the parent of ${child}, has left the stream, but was read only up to ${sequence}: records after that are past retention`,
    );
    expect(job.progress(child)).toBeUndefined();
  });
});

describe('a finished shard', () => {
  it('acknowledges what is delivered again', async () => {
    const { job, child } = await splitJob({ drainAfterMs: 0 });
    await deliverTo(job, child);
    expect(await deliverTo(job, parent)).toMatchObject({
      kind: 'done',
      counters: { recordsSkipped: 2 },
    });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
  });
});

describe('a lineage without an end', () => {
  it('is refused instead of being followed for ever', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    const { range } = job.stream.shard(parent);
    const shards = [
      { shardId: parent, range, parentIds: ['shardId-000000000007'] },
      { shardId: 'shardId-000000000007', range, parentIds: [parent] },
    ];
    const reader = { ...job.reader, listShards: () => Promise.resolve(shards) };
    await expect(job.createEnvironment({ reader }).deliver()).rejects.toThrow(
      /has more than 100 ancestors/,
    );
  });
});
