import { describe, expect, it } from 'vitest';
import { abortHold } from '../../../../shared/runtime/restore/hold.ts';
import { restoreJob } from '../../../../shared/runtime/restore/restore-job.ts';
import type { RestorePorts } from '../../../../shared/runtime/restore/restore-order.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { Death, makeMortal } from './mortal-ports.ts';
import { createSleeper, orderOf, sleepIn } from './sleeping-ports.ts';
import { half, put, straight, visible } from './two-halves.ts';

/** The ports of a restore that dies once it has flipped. */
const dyingAtReplay = (ports: RestorePorts): RestorePorts => ({
  ...ports,
  calls: { ...ports.calls, visit: () => Promise.reject(new Death()) },
});

const flippedAndDead = async () => {
  const world = await half((one) => one.checkpoint());
  const { ports, object } = world;
  await expect(restoreJob(dyingAtReplay(ports), orderOf(object))).rejects.toThrow(Death);
  return world;
};

describe('two restores', () => {
  it('at once: the second is told who holds, and the first goes on', async () => {
    const { job, ports, object, deliver } = await half((one) => one.checkpoint());
    const sleeper = createSleeper((call) => call === 'createProgress');
    const first = restoreJob(sleepIn(sleeper, ports), orderOf(object));
    expect(await sleeper.fallsAsleep(first)).toBe(true);
    await expect(restoreJob(ports, orderOf(object, 'r2'))).rejects.toThrow(
      /job demo is held by restore r1 since 20.*; wait for it, or end it first/,
    );
    const held = await job.control.readJob(jobName);
    expect(held).toMatchObject({ generation: 1, hold: { owner: 'r1', isFlipped: false } });
    sleeper.wake();
    expect(await first).toMatchObject({ generation: 2 });
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
  });

  it('one after the other go back to the same place as often as they like', async () => {
    const { job, object, restore, deliver } = await half((one) => one.checkpoint());
    const before = visible(job);
    const { undo } = await restore(object);
    for (let generation = 3; generation <= 5; generation += 1) {
      put(job, 41 + generation, 41 + generation);
      await deliver(firstShard);
      const now = visible(job);
      expect(await restore(undo!)).toMatchObject({ generation });
      expect(visible(job)).toEqual(now);
    }
    expect(visible(job).entries.length).toBeGreaterThan(before.entries.length);
  });

  it('one after the other get back what one between them had brought back, too', async () => {
    const { job, object, restore, checkpoint } = await half((one) => one.checkpoint());
    const before = visible(job);
    const { undo } = await restore(object);
    expect(await restore(undo!)).toMatchObject({ generation: 3 });
    const third = await checkpoint();
    expect(await restore(undo!)).toMatchObject({ generation: 4 });
    expect(await restore(third.object)).toMatchObject({ generation: 5 });
    expect(visible(job)).toEqual(before);
  });

  it('the second takes over what the first has flipped and not brought to its end', async () => {
    const { job, ports, object } = await flippedAndDead();
    const expected = await straight(40);
    expect(await restoreJob(ports, orderOf(object, 'r2'))).toMatchObject({ generation: 3 });
    expect(visible(job)).toEqual(expected);
    await expect(restoreJob(ports, orderOf(object))).rejects.toThrow(
      /restore r1 has made generation 2, and job demo has gone over to generation 3 since/,
    );
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 3, hold: undefined });
    expect(visible(job)).toEqual(expected);
  });

  it('the second, to where the first has flipped to, brings back what that one had to', async () => {
    const { job, ports, object, restore } = await half((one) => one.checkpoint());
    const before = visible(job);
    const { undo } = await restore(object);
    await expect(restoreJob(dyingAtReplay(ports), orderOf(undo!, 'back'))).rejects.toThrow(Death);
    // Takes it over, makes an undo point of where that one has come to, and gives it back.
    const sleeper = createSleeper((call) => call === 'createProgress');
    const late = restoreJob(sleepIn(sleeper, ports), orderOf(object, 'again'));
    expect(await sleeper.fallsAsleep(late)).toBe(true);
    const { hold } = (await job.control.readJob(jobName))!;
    expect(hold).toMatchObject({ owner: 'again', before: { owner: 'back', isFlipped: true } });
    expect(await abortHold(ports, hold!.id)).toBe(true);
    const report = await restoreJob(ports, orderOf(hold!.undo!, 'forth'));
    expect(report.generation).toBeGreaterThan(3);
    sleeper.wake();
    await expect(late).rejects.toThrow(/is over/);
    expect(visible(job)).toEqual(before);
  });

  it('the second gives back what it has taken over, and the first goes on', async () => {
    const { job, ports, object } = await flippedAndDead();
    const sleeper = createSleeper((call) => call === 'createProgress');
    const second = restoreJob(sleepIn(sleeper, ports), orderOf(object, 'r2'));
    expect(await sleeper.fallsAsleep(second)).toBe(true);
    await expect(restoreJob(ports, orderOf(object))).rejects.toThrow(
      /restore r1 is taken over by restore r2/,
    );
    const { hold } = (await job.control.readJob(jobName))!;
    expect(await abortHold(ports, hold!.id)).toBe(true);
    expect(await restoreJob(ports, orderOf(object))).toMatchObject({ generation: 2 });
    sleeper.wake();
    await expect(second).rejects.toThrow(/is over/);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
    expect(visible(job)).toEqual(await straight(40));
  });

  it('a sweep of the first that is late leaves alone what the second has made', async () => {
    const { job, ports, object } = await half((one) => one.checkpoint());
    const sleeper = createSleeper((call) => call === 'remove');
    // A row that the first has to remove.
    const [row] = job.tables.entries.rows().slice(-1);
    await job.tables.entries.write(row!.source, [
      {
        key: 'nobody',
        id: 'void',
        emission: {
          sink: 'entries',
          row: '',
          index: 0,
          position: row!.position,
          value: row!.value,
        },
      },
    ]);
    const first = restoreJob(sleepIn(sleeper, ports), orderOf(object));
    expect(await sleeper.fallsAsleep(first)).toBe(true);
    await restoreJob(ports, orderOf(object, 'r2'));
    const expected = await straight(40);
    expect(visible(job)).toEqual(expected);
    sleeper.wake();
    expect(await first).toMatchObject({ generation: 2 });
    expect(visible(job)).toEqual(expected);
  });
});

describe('a restore that was aborted', () => {
  it('can be made again under its name, from where the job is by then', async () => {
    const { job, ports, object, deliver } = await half((one) => one.checkpoint());
    const sleeper = createSleeper((call) => call === 'createProgress');
    const late = restoreJob(sleepIn(sleeper, ports), orderOf(object));
    expect(await sleeper.fallsAsleep(late)).toBe(true);
    await abortHold(ports, (await job.control.readJob(jobName))!.hold!.id);
    job.stream.split(firstShard);
    put(job, 41, 60);
    for (const { shardId } of job.stream.shards()) await deliver(shardId);
    const expected = visible(job);
    const report = await restoreJob(ports, orderOf(object));
    expect(report).toMatchObject({ generation: 3 });
    expect(visible(job)).toEqual(expected);
    sleeper.wake();
    await expect(late).rejects.toThrow(/is over/);
    const undone = await restoreJob(ports, orderOf(report.undo!, 'undo'));
    expect(undone).toMatchObject({ generation: 4 });
    expect(visible(job)).toEqual(expected);
  });
});

describe('a job whose tables are lost', () => {
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
});
