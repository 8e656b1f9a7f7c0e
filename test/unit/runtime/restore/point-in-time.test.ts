import { describe, expect, it } from 'vitest';
import { describeOperator } from '../../../../shared/runtime/describe-operator.ts';
import { cutAtPositions, cutAtTime } from '../../../../shared/runtime/restore/cut-in-the-past.ts';
import { readManifest } from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { firstShard, jobName, keyGroups } from '../job-fixture.ts';
import { tally } from '../tally.ts';
import { createRestorableJob } from './restorable-job.ts';
import { put, straight, visible } from './two-halves.ts';

const secondMs = 1000;

/** A record each second, a checkpoint after the fifth, units of three records. */
const history = async () => {
  const world = await createRestorableJob({ settings: { unitRecordsMax: 3 } });
  const { job } = world;
  const beganMs = job.system.now();
  for (let amount = 1; amount <= 40; amount += 1) {
    job.system.advance(secondMs);
    put(job, amount, amount);
    if (amount !== 5) continue;
    await world.deliver(firstShard);
    await world.checkpoint();
  }
  await world.deliver(firstShard);
  const facts = {
    maxParallelism: keyGroups,
    operators: [describeOperator(job.operator)],
    note: '',
    tags: {},
  };
  const at = (second: number) => cutAtTime(world.ports, beganMs + second * secondMs, facts);
  const sequenceOf = (record: number): string => job.records(firstShard)[record - 1]!.sequence;
  const atPositions = (...sequences: (readonly [shardId: string, sequence: string])[]) =>
    cutAtPositions(world.ports, new Map(sequences), facts);
  return { ...world, at, atPositions, sequenceOf };
};

describe('a restore to a point in time', () => {
  it('begins behind the last unit whose records had arrived by then, and replays the rest', async () => {
    const { job, at, restore, deliver } = await history();
    const before = visible(job);
    const report = await restore(await at(24));
    // Units end at records 5, 8, 11, …, 23.
    expect(report).toMatchObject({ generation: 2, replayed: 40 - 23 });
    expect(visible(job)).toEqual(before);
    put(job, 41, 50);
    await deliver(firstShard);
    // In a straight run the records arrive at other times, under other sequence numbers.
    const expected = await straight(50);
    expect(job.totals()).toEqual(expected.totals);
    expect(visible(job).entries.map(({ key, value }) => ({ key, value }))).toEqual(
      expected.entries.map(({ key, value }) => ({ key, value })),
    );
  });

  it('lets new logic begin there', async () => {
    const { at, restore, deploy } = await history();
    const seen: number[] = [];
    deploy(tally(({ amount }) => void seen.push(amount)));
    await restore(await at(24));
    // What is not JSON is seen by nobody.
    const expected = Array.from({ length: 17 }, (_, n) => n + 24).filter((n) => n % 7 !== 0);
    expect(seen).toEqual(expected);
  });

  it('leaves checkpoints and undo points whole, which do not go by its runs', async () => {
    const { job, at, checkpoint, restore, savepoint, deliver } = await history();
    await savepoint('late');
    job.system.advance(secondMs);
    put(job, 41, 45);
    await deliver(firstShard);
    const before = visible(job);
    const moment = await at(3600);
    const { manifest } = await checkpoint();
    expect(manifest.channels[0]!.segments[0]).toMatchObject({ number: 1 });
    await restore(moment);
    expect(visible(job)).toEqual(before);
  });

  it('reaches back to the oldest manifest, and says so before that', async () => {
    const { at, restore, job } = await history();
    const before = visible(job);
    await expect(at(4)).rejects.toThrow('has no exact manifest of generation 1 from before');
    expect(await restore(await at(5))).toMatchObject({ replayed: 35 });
    expect(visible(job)).toEqual(before);
  });

  it('cuts a split where it was not read yet', async () => {
    const { job, at, restore, deliver } = await history();
    const children = job.stream.split(firstShard);
    job.system.advance(secondMs);
    put(job, 41, 50);
    for (const shardId of children) await deliver(shardId);
    const before = visible(job);
    const report = await restore(await at(30));
    expect(report).toMatchObject({ generation: 2 });
    expect(visible(job)).toEqual(before);
    await expect(at(3600)).rejects.toThrow('no exact manifest of generation 2');
  });
});

describe('a restore to a position', () => {
  it('begins behind the last unit that ends at or before it, and replays the rest', async () => {
    // Units end at records 5, 8, 11, …, 23.
    for (const [record, end] of [
      [22, 20],
      [23, 23],
      [25, 23],
      [40, 40],
    ] as const) {
      const { job, atPositions, sequenceOf, restore } = await history();
      const before = visible(job);
      const object = await atPositions([firstShard, sequenceOf(record)]);
      expect(await restore(object)).toMatchObject({ generation: 2, replayed: 40 - end });
      expect(visible(job)).toEqual(before);
    }
  });

  it('cuts exactly, into a manifest like any other', async () => {
    const { atPositions, sequenceOf, ports, job } = await history();
    const object = await atPositions([firstShard, sequenceOf(30)]);
    const cut = await readManifest(ports, object);
    expect(cut).toMatchObject({ isExact: true, kind: 'checkpoint' });
    expect(cut.channels.map(({ progress }) => progress.position?.sequence)).toEqual([
      sequenceOf(29),
    ]);
    expect((await job.control.readRegistry(jobName))?.pending).toEqual([]);
  });

  it('leaves out what began behind empty shards, where their parent is cut before its end', async () => {
    const { job, atPositions, sequenceOf, ports, restore, deliver } = await history();
    const [low, high] = job.stream.split(firstShard);
    const merged = job.stream.merge(low, high);
    job.system.advance(secondMs);
    put(job, 41, 60);
    // Again after a while: then the ends of parents are read for their children.
    for (const shardId of [merged, firstShard, low, high, merged]) await deliver(shardId);
    job.system.advance(600_000);
    await deliver(merged);
    const before = visible(job);
    expect(before.totals).toEqual((await straight(60)).totals);
    const early = await atPositions([firstShard, sequenceOf(25)]);
    const { channels } = await readManifest(ports, early);
    expect(channels.map(({ channel }) => channel.shardId)).toEqual([firstShard]);
    await restore(early);
    expect(visible(job)).toEqual(before);
  });

  it('takes shards that are not named at their newest unit, and children only behind the end of their parents', async () => {
    const { job, at, atPositions, sequenceOf, ports, restore, deliver } = await history();
    const children = job.stream.split(firstShard);
    job.system.advance(secondMs);
    put(job, 41, 60);
    for (const shardId of children) await deliver(shardId);
    await deliver(firstShard);
    for (const shardId of children) await deliver(shardId);
    const before = visible(job);
    const child = children.find((shardId) => job.records(shardId).length > 3)!;
    const records = job.records(child);
    const named = await readManifest(ports, await atPositions([child, records[2]!.sequence]));
    const ends = new Map(
      named.channels.map(({ channel, progress }) => [channel.shardId, progress.position?.sequence]),
    );
    expect(named.channels.map(({ channel }) => channel.shardId).sort()).toEqual(
      [firstShard, ...children].sort(),
    );
    expect(ends.get(child)).toBe(records[2]!.sequence);
    const newest = await readManifest(ports, await at(3600));
    for (const { channel, progress } of newest.channels) {
      if (channel.shardId === child) continue;
      expect(ends.get(channel.shardId)).toBe(progress.position?.sequence);
    }
    // The parent before its end: its children have not begun.
    const early = await atPositions([firstShard, sequenceOf(25)]);
    const parent = await readManifest(ports, early);
    expect(parent.channels.map(({ channel }) => channel.shardId)).toEqual([firstShard]);
    await restore(early);
    expect(visible(job)).toEqual(before);
  });

  it('leaves out all that was begun behind a shard that is cut before its end, at whatever remove', async () => {
    const { job, atPositions, sequenceOf, ports, restore, deliver } = await history();
    const [low, high] = job.stream.split(firstShard);
    job.system.advance(secondMs);
    put(job, 41, 60);
    const merged = job.stream.merge(low, high);
    job.system.advance(secondMs);
    put(job, 61, 70);
    for (const shardId of [firstShard, low, high, merged]) await deliver(shardId);
    for (const shardId of [low, high, merged]) await deliver(shardId);
    const before = visible(job);
    const early = await atPositions([firstShard, sequenceOf(25)]);
    const { channels } = await readManifest(ports, early);
    expect(channels.map(({ channel }) => channel.shardId)).toEqual([firstShard]);
    await restore(early);
    expect(visible(job)).toEqual(before);
  });

  it('is refused for a shard that there is not, and before the oldest manifest', async () => {
    const { atPositions, sequenceOf } = await history();
    await expect(atPositions(['shardId-9', '1'])).rejects.toThrow(
      `has not read shardId-9 in generation 1; it has read ${firstShard}`,
    );
    await expect(atPositions([firstShard, sequenceOf(4)])).rejects.toThrow(
      'has no exact manifest of generation 1 from before',
    );
  });
});
