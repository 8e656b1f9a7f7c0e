import { describe, expect, it } from 'vitest';
import { clonePinAgeMaxMs } from '../../../../shared/core/registry.ts';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { pinManifest } from '../../../../shared/runtime/checkpoint/pin-manifest.ts';
import { beginCopy } from '../../../../shared/runtime/restore/copy-manifest.ts';
import { restoreJob } from './restore-job.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { cloneOrder, deployClone, halfway, tellRowsAfter } from './clone-world.ts';
import { createSleeper, sleepIn } from './sleeping-ports.ts';
import { put, straight, visible } from './two-halves.ts';

const begin = () => halfway((one) => one.checkpoint());

describe('two twins of a clone', () => {
  it.each([
    ['an odd', 1],
    ['an even', 2],
  ])(
    'make one generation, where the first sleeps before %s call, until the second is done',
    async (_, from) => {
      const expected = await tellRowsAfter(20, 50);
      for (let bedtime = from; ; bedtime += 2) {
        const { source, twin, object } = await begin();
        const place = `asleep before call ${bedtime}`;
        const sleeper = createSleeper((_call, count) => count === bedtime);
        const first = restoreJob(sleepIn(sleeper, twin.ports), cloneOrder(object)).catch(
          (thrown: unknown) => thrown,
        );
        if (!(await sleeper.fallsAsleep(first))) {
          expect(bedtime).toBeGreaterThan(80);
          break;
        }
        await twin.clone(object);
        put(source.job, 41, 50);
        await twin.deliver(firstShard);
        sleeper.wake();
        await first;
        await twin.deliver(firstShard);
        expect(visible(twin.job), place).toEqual(expected);
        expect(await twin.job.control.readJob('twin'), place).toMatchObject({
          ...{ generation: 2, hold: undefined },
          timeline: [{ generation: 2 }],
        });
        const registry = await source.job.control.readRegistry(jobName);
        expect(registry, place).toMatchObject({ pins: [], pending: [] });
        expect(visible(source.job)).toEqual(await straight(40));
      }
    },
  );
});

describe('two clones of one job', () => {
  it('into one: the second is told who is at work', async () => {
    const { twin, object } = await begin();
    const sleeper = createSleeper((call) => call === 'createProgress');
    const first = restoreJob(sleepIn(sleeper, twin.ports), cloneOrder(object));
    expect(await sleeper.fallsAsleep(first)).toBe(true);
    await expect(twin.clone(object, { restore: 'c2' })).rejects.toThrow(
      /job twin is about to begin by restore c1 since 20.*; wait for it/,
    );
    sleeper.wake();
    expect(await first).toMatchObject({ generation: 2 });
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });

  it('into one, both before the hold: one begins it, and the other is refused', async () => {
    const { twin, object } = await begin();
    const sleeper = createSleeper((call) => call === 'replaceJob');
    const first = restoreJob(sleepIn(sleeper, twin.ports), cloneOrder(object));
    expect(await sleeper.fallsAsleep(first)).toBe(true);
    expect(await twin.clone(object, { restore: 'c2' })).toMatchObject({ generation: 2 });
    sleeper.wake();
    await expect(first).rejects.toThrow();
    expect(await twin.job.control.readJob('twin')).toMatchObject({
      ...{ generation: 2, hold: undefined },
    });
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });

  it('under one name into two jobs do not get in the way of each other', async () => {
    const { source, twin, object } = await begin();
    const other = await deployClone(source, { name: 'other' });
    const sleeper = createSleeper((call) => call === 'createProgress');
    const first = restoreJob(sleepIn(sleeper, twin.ports), cloneOrder(object));
    expect(await sleeper.fallsAsleep(first)).toBe(true);
    expect(await other.clone(object)).toMatchObject({ generation: 2 });
    sleeper.wake();
    expect(await first).toMatchObject({ generation: 2 });
    for (const { job } of [twin, other]) {
      expect(visible(job)).toEqual(await tellRowsAfter(20, 40));
    }
  });

  it('of one name are of one manifest', async () => {
    const { source, twin, object } = await begin();
    const later = await source.checkpoint();
    const sleeper = createSleeper((call) => call === 'replaceJob');
    const first = restoreJob(sleepIn(sleeper, twin.ports), cloneOrder(object));
    expect(await sleeper.fallsAsleep(first)).toBe(true);
    await expect(twin.clone(later.object)).rejects.toThrow(
      /clone c1 has been one from another manifest; give the one from .* another name/,
    );
    sleeper.wake();
    expect(await first).toMatchObject({ generation: 2, replayed: 20 });
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });
});

describe('a clone that has died behind its pin', () => {
  const pinnedIn = async ({ source }: Awaited<ReturnType<typeof begin>>): Promise<string[]> => {
    const { pins } = (await source.job.control.readRegistry(jobName))!;
    return pins.map(({ id }) => id);
  };

  it('takes it away once it is told that another one has let the job begin', async () => {
    const world = await begin();
    const { twin, object } = world;
    await beginCopy(twin.ports, cloneOrder(object));
    await twin.clone(object, { restore: 'c2' });
    expect(await pinnedIn(world)).toEqual(['clone:twin:c1']);
    await expect(twin.clone(object)).rejects.toThrow('job twin has begun');
    expect(await pinnedIn(world)).toEqual([]);
  });

  it('keeps it while another one may yet be given up', async () => {
    const world = await begin();
    const { twin, object } = world;
    await beginCopy(twin.ports, cloneOrder(object));
    const sleeper = createSleeper((call) => call === 'createProgress');
    const second = restoreJob(sleepIn(sleeper, twin.ports), cloneOrder(object, { restore: 'c2' }));
    expect(await sleeper.fallsAsleep(second)).toBe(true);
    await expect(twin.clone(object)).rejects.toThrow('is about to begin by restore c2');
    expect(await pinnedIn(world)).toEqual(['clone:twin:c1']);
    sleeper.wake();
    await second;
  });

  it('loses it to the collection of garbage after a day, and a restore of that job does not', async () => {
    const world = await begin();
    const { source, twin, object } = world;
    const sinceMs = source.job.system.now();
    await pinManifest(source.ports, { id: 'r1', owner: 'restore r1', object, sinceMs });
    await beginCopy(twin.ports, cloneOrder(object));
    const collect = (dryRun: boolean) => collectGarbage(source.ports, { graceMs: 1000, dryRun });
    source.job.system.advance(clonePinAgeMaxMs);
    await collect(false);
    expect(await pinnedIn(world)).toEqual(['r1', 'clone:twin:c1']);
    source.job.system.advance(1000);
    await collect(true);
    expect(await pinnedIn(world)).toEqual(['r1', 'clone:twin:c1']);
    await collect(false);
    expect(await pinnedIn(world)).toEqual(['r1']);
    expect(await twin.clone(object)).toMatchObject({ generation: 2 });
    expect(await pinnedIn(world)).toEqual(['r1']);
  });

  it('sets it anew where it goes on half a day later', async () => {
    const world = await begin();
    const { source, twin, object } = world;
    await beginCopy(twin.ports, cloneOrder(object));
    const setAt = async (): Promise<number[]> =>
      (await source.job.control.readRegistry(jobName))!.pins.map(({ sinceMs }) => sinceMs);
    const first = await setAt();
    twin.job.system.advance(clonePinAgeMaxMs / 2 - 1);
    await beginCopy(twin.ports, cloneOrder(object));
    expect(await setAt()).toEqual(first);
    twin.job.system.advance(1);
    await beginCopy(twin.ports, cloneOrder(object));
    expect(await setAt()).toEqual([first[0]! + clonePinAgeMaxMs / 2]);
  });
});
