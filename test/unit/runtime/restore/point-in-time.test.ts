import { describe, expect, it } from 'vitest';
import { describeOperator } from '../../../../shared/runtime/describe-operator.ts';
import { cutAtTime } from '../../../../shared/runtime/restore/cut-at-time.ts';
import { firstShard, keyGroups } from '../job-fixture.ts';
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
  return { ...world, at };
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
