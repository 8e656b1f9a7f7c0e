import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperator } from '../../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../../shared/operator/sink.ts';
import { valueState } from '../../../../shared/operator/state.ts';
import { channelId } from '../../../../shared/core/channel.ts';
import { readRegistry } from '../../../../shared/runtime/checkpoint/change-registry.ts';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { retireCheckpoints } from '../../../../shared/runtime/checkpoint/take-checkpoint.ts';
import { readManifest } from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { noDeadline } from '../../../../shared/runtime/deadline.ts';
import { copyTag } from '../../../../shared/runtime/restore/copy-manifest.ts';
import { jobPrefix } from '../../../../shared/runtime/object-names.ts';
import { restoreJob } from './restore-job.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { tally } from '../tally.ts';
import { cloneOrder, deployClone, halfway, tellRowsAfter } from './clone-world.ts';
import { createRestorableJob, type RestorableJob } from './restorable-job.ts';
import { createSleeper } from './sleeping-ports.ts';
import { put, straight, userOf, visible } from './two-halves.ts';

/** Other code under the same id: counts ten times as much, and has no notes. */
const tenfold = defineOperator({
  id: 'tally',
  schema: z.object({ user: z.string(), amount: z.number() }),
  key: ({ user }) => user,
  state: { total: valueState<number>() },
  sinks: {
    entries: appendSink({ row: z.object({ total: z.number(), note: z.string() }) }),
    totals: upsertSink({ row: z.object({ total: z.number() }) }),
  },
  process({ amount }, { state: { total }, emit }) {
    total.set((total.get() ?? 0) + 10 * amount);
    emit({ sink: 'totals', row: { total: total.get()! } });
  },
});

const atCheckpoint = () => halfway((one) => one.checkpoint());

describe('a clone', () => {
  it.each<[string, (one: RestorableJob) => Promise<{ readonly object: string }>]>([
    ['checkpoint', (one) => one.checkpoint()],
    ['savepoint', (one) => one.savepoint('half')],
  ])('begins with a %s of a running job, which it does not disturb', async (_, make) => {
    const { source, twin, object } = await halfway(make);
    const before = await source.job.control.readJob(jobName);
    // The trigger knocks before it has begun.
    expect(await twin.deliver(firstShard)).toMatchObject({ kind: 'handBack' });
    expect(visible(twin.job)).toEqual({ entries: [], totals: {}, deadLetters: [] });
    const report = await twin.clone(object);
    expect(report).toMatchObject({ generation: 2, undo: undefined, keys: 3, replayed: 20 });
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
    expect(await twin.job.control.readJob('twin')).toMatchObject({
      ...{ generation: 2, hold: undefined },
      timeline: [{ generation: 2, parent: 1 }],
    });
    expect(await source.job.control.readJob(jobName)).toEqual(before);
    expect(await source.job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
    expect(await twin.job.control.readRegistry('twin')).toMatchObject({ pins: [], pending: [] });
    put(source.job, 41, 60);
    await source.deliver(firstShard);
    await twin.deliver(firstShard);
    expect(visible(source.job)).toEqual(await straight(60));
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 60));
  });

  it('needs nothing of the other job any more once it runs', async () => {
    const { source, twin, object } = await atCheckpoint();
    await twin.clone(object);
    const { object: copy } = (await readRegistry(twin.ports)).complete[0]!;
    for (const { segments, progress } of (await readManifest(twin.ports, copy)).channels) {
      expect([...segments, progress.head]).toEqual([undefined]);
    }
    for (const [name, bytes] of twin.job.objects.objects()) {
      expect(name.startsWith(jobPrefix('twin')), name).toBe(true);
      // The plan of a merge that is over, and the tag that says where the copy is from.
      if (name.endsWith('/plan.json')) continue;
      const text = new TextDecoder().decode(bytes).replace(`"${copyTag}":"${object}"`, '');
      expect(text, name).not.toContain(jobPrefix(jobName));
    }
    for (const name of source.job.objects.objects().keys()) source.job.objects.lose(name);
    put(twin.job, 41, 50);
    await twin.deliver(firstShard);
    const { object: own } = await twin.checkpoint();
    put(twin.job, 51, 60);
    await twin.deliver(firstShard);
    expect(await twin.restore(own)).toMatchObject({ generation: 3, replayed: 10 });
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 60));
    const options = { graceMs: 0, dryRun: false, deadline: noDeadline };
    expect(await collectGarbage(twin.ports, options)).toMatchObject({ isDone: true });
    twin.job.loseTables();
    const again = await twin.restore(own, { areTablesLost: true, restore: 'lost' });
    expect(again).toMatchObject({ generation: 4 });
    expect(twin.job.totals()).toEqual((await straight(60)).totals);
  });

  it('of a job that has been restored before goes on with what it makes itself', async () => {
    const source = await createRestorableJob();
    put(source.job, 1, 20);
    await source.deliver(firstShard);
    const first = await source.checkpoint();
    for (const restore of ['a', 'b', 'c']) await source.restore(first.object, { restore });
    expect(await source.job.control.readJob(jobName)).toMatchObject({ generation: 4 });
    put(source.job, 21, 30);
    await source.deliver(firstShard);
    const { object } = await source.checkpoint();
    const twin = await deployClone(source);
    expect(await twin.clone(object)).toMatchObject({ generation: 2 });
    put(source.job, 31, 40);
    await twin.deliver(firstShard);
    // Merges the copied files with its own, twice: what is newer has to win.
    const own = await twin.savepoint('own');
    put(source.job, 41, 60);
    await twin.deliver(firstShard);
    await twin.restore(own.object);
    expect(visible(twin.job)).toEqual(await tellRowsAfter(30, 60));
    const late = await twin.checkpoint();
    await twin.restore(late.object);
    expect(visible(twin.job)).toEqual(await tellRowsAfter(30, 60));
  });

  it('can be begun again from where it began, with other code', async () => {
    const { twin, object } = await atCheckpoint();
    await twin.clone(object);
    const before = visible(twin.job);
    const { object: copy } = (await readRegistry(twin.ports)).complete[0]!;
    twin.deploy(
      tally((event) => {
        if (event.user === 'bob') throw new Error('not any more');
      }),
    );
    const { undo } = await twin.restore(copy, { restore: 'b' });
    expect(visible(twin.job).entries.length).toBeLessThan(before.entries.length);
    twin.deploy(twin.job.operator);
    await twin.restore(undo!, { restore: 'back' });
    expect(visible(twin.job)).toEqual(before);
  });

  it('keeps what it copies from the garbage collection of the other job', async () => {
    const { source, twin, object } = await atCheckpoint();
    let hasPinned = false;
    const sleeper = createSleeper((call) => {
      hasPinned ||= call === 'writeRegistry';
      return hasPinned && call === 'readStart';
    });
    const { job, control, objects } = twin.ports.cloned!;
    const cloned = { job, control: sleeper.wrap(control), objects: sleeper.wrap(objects) };
    const late = restoreJob({ ...twin.ports, cloned }, cloneOrder(object));
    expect(await sleeper.fallsAsleep(late)).toBe(true);
    const { complete, pins } = await readRegistry(source.ports);
    expect(pins).toMatchObject([{ object, owner: 'clone c1 of job twin' }]);
    await source.checkpoint();
    await retireCheckpoints(source.ports, complete);
    const options = { graceMs: 0, dryRun: false, deadline: noDeadline };
    await collectGarbage(source.ports, options);
    sleeper.wake();
    expect(await late).toMatchObject({ generation: 2 });
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });

  it('follows a stream that splits while it begins', async () => {
    const { source, twin, object } = await atCheckpoint();
    source.job.stream.split(firstShard);
    put(source.job, 41, 60);
    expect(await twin.clone(object)).toMatchObject({ generation: 2, replayed: 40 });
    for (const { shardId } of source.job.stream.shards()) await source.deliver(shardId);
    const sums = (one: RestorableJob) => one.job.totals();
    expect(sums(twin)).toEqual(sums(source));
    const channels = await twin.job.control.listChannels('twin', 2);
    expect(channels.map(channelId).length).toBe(3);
  });

  it('goes on with other code, and leaves state behind where that is allowed', async () => {
    const { source, object } = await atCheckpoint();
    const twin = await deployClone(source, { operator: tenfold });
    await expect(twin.clone(object)).rejects.toThrow('state "notes" of operator tally is gone');
    await twin.clone(object, { allowNonRestoredState: true });
    const expected = { ...(await straight(20)).totals };
    for (let amount = 21; amount <= 40; amount += 1) {
      const user = userOf(amount);
      if (amount % 7 !== 0) expected[user] = (expected[user] ?? 0) + 10 * amount;
    }
    expect(twin.job.totals()).toEqual(expected);
    expect(visible(source.job)).toEqual(await straight(40));
  });
});
