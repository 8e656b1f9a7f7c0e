import { describe, expect, it } from 'vitest';
import { isPast } from '../../../../shared/core/position.ts';
import { abortHold } from '../../../../shared/runtime/restore/hold.ts';
import { restoreJob } from './restore-job.ts';
import { readRowRule } from '../../../../shared/runtime/restore/sweep.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { createRestorableJob } from './restorable-job.ts';
import { createSleeper, orderOf, sleepIn } from './sleeping-ports.ts';
import { half, put, straight, visible } from './two-halves.ts';

const quietly = (process: Promise<unknown>): Promise<unknown> => process.catch(() => undefined);

describe('a restore that sleeps at one of its calls', () => {
  it('changes nothing where it wakes after its twin has done everything, whichever call it is', async () => {
    const expected = await straight(50);
    let calls = 0;
    for (let bedtime = 1; ; bedtime += 1) {
      const { job, ports, object, deliver } = await half((one) => one.checkpoint());
      const sleeper = createSleeper((_, count) => count === bedtime);
      const late = quietly(restoreJob(sleepIn(sleeper, ports), orderOf(object)));
      if (!(await sleeper.fallsAsleep(late))) break;
      calls += 1;
      await restoreJob(ports, orderOf(object));
      put(job, 41, 50);
      await deliver(firstShard);
      expect(visible(job), `asleep before call ${bedtime}`).toEqual(expected);
      const before = await job.control.readJob(jobName);
      sleeper.wake();
      await late;
      expect(await job.control.readJob(jobName), `woken at call ${bedtime}`).toEqual(before);
      expect(before).toMatchObject({ generation: 2, hold: undefined });
      expect(visible(job), `woken at call ${bedtime}`).toEqual(expected);
    }
    expect(calls).toBeGreaterThan(50);
  }, 180_000);

  it('changes nothing where it was aborted meanwhile, and the job has gone on', async () => {
    const expected = await straight(60);
    let aborts = 0;
    for (let bedtime = 1; ; bedtime += 1) {
      const { job, ports, object, deliver } = await half((one) => one.checkpoint());
      const sleeper = createSleeper((_, count) => count === bedtime);
      const late = quietly(restoreJob(sleepIn(sleeper, ports), orderOf(object)));
      if (!(await sleeper.fallsAsleep(late))) break;
      const { hold } = (await job.control.readJob(jobName))!;
      const isAborted = hold !== undefined && (await abortHold(ports, hold.id));
      if (isAborted) aborts += 1;
      put(job, 41, 50);
      await deliver(firstShard);
      sleeper.wake();
      await late;
      put(job, 51, 60);
      await deliver(firstShard);
      expect(visible(job), `asleep before call ${bedtime}`).toEqual(expected);
      const item = (await job.control.readJob(jobName))!;
      expect(item.hold).toBeUndefined();
      if (isAborted) expect(item.generation, `asleep before call ${bedtime}`).toBe(1);
    }
    expect(aborts).toBeGreaterThan(10);
  }, 180_000);
});

describe('an invocation of the old generation', () => {
  it('changes nothing that counts, whichever of its calls lands after the restore', async () => {
    const expected = await straight(40);
    let calls = 0;
    for (let bedtime = 1; ; bedtime += 1) {
      const world = await createRestorableJob();
      const { job, ports, restore, deliver } = world;
      put(job, 1, 10);
      await deliver(firstShard);
      const { object } = await world.checkpoint();
      put(job, 11, 25);
      await deliver(firstShard);
      put(job, 26, 40);
      const sleeper = createSleeper((_, count) => count === bedtime);
      const zombie = job.createEnvironment({
        control: sleeper.wrap(job.control),
        state: sleeper.wrap(job.state),
        objects: sleeper.wrap(job.objects),
        hints: sleeper.wrap(job.hints),
        sinks: new Map([...job.sinks].map(([name, sink]) => [name, sleeper.wrap(sink)])),
      });
      const late = quietly(zombie.deliver(job.records().slice(25)));
      if (!(await sleeper.fallsAsleep(late))) break;
      calls += 1;
      await restore(object);
      sleeper.wake();
      await late;
      const rule = await readRowRule(ports, 2);
      const counting = job.tables.entries
        .rows()
        .filter(({ source, position }) => rule({ ...source, position }));
      const fork = { sequence: job.records()[9]!.sequence, sub: 0 };
      for (const { source, position } of counting) {
        const isOld = !isPast(position, fork);
        expect(source.generation, `asleep before call ${bedtime}`).toBe(isOld ? 1 : 2);
      }
      await deliver(firstShard);
      expect(visible(job), `asleep before call ${bedtime}`).toEqual(expected);
    }
    expect(calls).toBeGreaterThan(10);
  }, 120_000);

  it('finds that a fence which came late delays its channel, and does not block it', async () => {
    const { job, object, restore, deliver, ports } = await half((one) => one.checkpoint());
    const { channel } = job.control.progressRows()[0]!;
    await restore(object);
    await ports.control.fenceProgress(jobName, 1, channel, 'late');
    await ports.control.fenceProgress(jobName, 2, channel, 'late');
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
    const rows = job.control.progressRows().map(({ progress }) => progress);
    expect(rows).toMatchObject([
      { generation: 1, fence: 'late' },
      { generation: 2, fence: undefined },
    ]);
  });
});
