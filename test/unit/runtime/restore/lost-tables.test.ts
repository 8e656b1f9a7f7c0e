import { describe, expect, it } from 'vitest';
import { restoreJob } from './restore-job.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { Death, makeMortal } from './mortal-ports.ts';
import { orderOf } from './sleeping-ports.ts';
import { half, put, straight, visible } from './two-halves.ts';

describe('a job whose tables are lost', () => {
  it('is made again from S3 and the stream alone', async () => {
    const world = await half((one) => one.checkpoint());
    const { job, deliver, object } = world;
    job.loseTables();
    put(job, 41, 50);
    expect(await deliver(firstShard)).toMatchObject({ kind: 'handBack' });
    await expect(world.restore(object)).rejects.toThrow('if its tables were lost');
    const report = await world.restore(object, { areTablesLost: true });
    expect(report).toMatchObject({ generation: 2, undo: undefined, replayed: 30 });
    expect(visible(job)).toEqual(await straight(50));
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
    put(job, 51, 60);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(60));
  });

  it('stays closed where its restore dies, after whichever call, and goes on with the next one', async () => {
    const expected = await straight(40);
    let deaths = 0;
    for (let diesAt = 1; ; diesAt += 1) {
      const { job, ports, object, deliver } = await half((one) => one.checkpoint());
      const order = { ...orderOf(object), areTablesLost: true };
      job.loseTables();
      const mortal = makeMortal(ports, diesAt, 'after');
      const first = await restoreJob(mortal.ports, order).catch((thrown: unknown) => thrown);
      if (!(first instanceof Death)) break;
      deaths += 1;
      const item = await job.control.readJob(jobName);
      const isClosed = item === undefined || item.hold !== undefined;
      const outcome = await deliver(firstShard);
      if (isClosed) expect(outcome, `died at call ${diesAt}`).toMatchObject({ kind: 'handBack' });
      const report = await restoreJob(ports, order);
      expect(report, `died at call ${diesAt}`).toMatchObject({ generation: 2 });
      await deliver(firstShard);
      expect(visible(job), `died at call ${diesAt}`).toEqual(expected);
      const after = await job.control.readJob(jobName);
      expect(after).toMatchObject({ generation: 2, hold: undefined });
    }
    expect(deaths).toBeGreaterThan(50);
  }, 180_000);
  it('is made again where the oldest segments have been collected, as far back as there are any', async () => {
    const world = await half((one) => one.savepoint('keep'));
    const { job, object } = world;
    const [oldest] = [...job.objects.objects().keys()].filter((name) => name.endsWith('.seg'));
    job.objects.lose(oldest!);
    job.loseTables();
    expect(await world.restore(object, { areTablesLost: true })).toMatchObject({ generation: 2 });
    const expected = await straight(40);
    expect(job.totals()).toEqual(expected.totals);
    // The outputs of its records are in no other place.
    expect(visible(job).entries.length).toBeLessThan(expected.entries.length);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
  });
});
