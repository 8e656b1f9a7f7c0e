import { describe, expect, it } from 'vitest';
import type { Hold } from '../../../../shared/ports/control-store.ts';
import { endStaleHold } from '../../../../shared/runtime/restore/end-stale-hold.ts';
import { fenceChannels, takeHold } from '../../../../shared/runtime/restore/hold.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { createRestorableJob } from './restorable-job.ts';
import { put, straight, visible } from './two-halves.ts';

const hourMs = 3_600_000;

const held = async (change: Partial<Hold> = {}) => {
  const world = await createRestorableJob();
  const { job, ports } = world;
  put(job, 1, 20);
  await world.deliver(firstShard);
  const { version: jobVersion } = (await job.control.readJob(jobName))!;
  const wanted = { id: 'h', kind: 'restore', owner: 'r', takesOver: false, jobVersion } as const;
  const item = await takeHold(ports, wanted);
  await fenceChannels(ports, 'h');
  const hold = { ...item.hold, ...change };
  await job.control.replaceJob({ ...item, version: item.version + 1, hold }, item.version);
  return world;
};

describe('a hold whose owner does not come back', () => {
  it('is ended at half of the retention, and the job goes on', async () => {
    const { job, ports, deliver } = await held();
    job.system.advance(12 * hourMs);
    expect(await endStaleHold(ports)).toBe(false);
    job.system.advance(1);
    expect(await endStaleHold(ports)).toBe(true);
    expect(await endStaleHold(ports)).toBe(false);
    put(job, 21, 30);
    await deliver(firstShard);
    // In a straight run they arrive at another time.
    expect(job.totals()).toEqual((await straight(30)).totals);
    expect(visible(job).entries.length).toBeGreaterThan(20);
  });

  it.each<[string, Partial<Hold>]>([
    ['has flipped', { isFlipped: true }],
    ['keeps a stopped job', { kind: 'stopped' }],
  ])('stays where it %s', async (_, change) => {
    const { job, ports } = await held(change);
    job.system.advance(1000 * hourMs);
    expect(await endStaleHold(ports)).toBe(false);
    expect(await job.control.readJob(jobName)).toMatchObject({ hold: { id: 'h' } });
  });
});
