import { describe, expect, it } from 'vitest';
import type { Hold } from '../../../shared/ports/control-store.ts';
import { visitChannel } from '../../../shared/runtime/visit-channel.ts';
import { createJob, firstShard, jobName, type Job } from './job-fixture.ts';

const hold: Hold = {
  id: 'h1',
  kind: 'restore',
  owner: 'rollback',
  sinceMs: 1,
  isFlipped: false,
  undo: undefined,
};

const setJob = async (
  job: Job,
  change: { readonly hold?: Hold | undefined; readonly generation?: number },
): Promise<void> => {
  const item = (await job.control.readJob(jobName))!;
  await job.control.replaceJob({ ...item, ...change, version: item.version + 1 }, item.version);
};

const fence = (job: Job, id: string, generation = 1) =>
  job.control.fenceProgress(jobName, generation, job.control.progressRows()[0]!.channel, id);

const minute = { remainingMs: () => 60_000 };

/** One record committed by an environment that is warm since. */
const begun = async () => {
  const job = await createJob();
  job.put('ann', { amount: 1 });
  const environment = job.createEnvironment();
  await environment.deliver();
  return { job, environment };
};

describe('a fenced channel', () => {
  it('hands back while its job is held, by whomever, and keeps the fence', async () => {
    const { job, environment } = await begun();
    await setJob(job, { hold });
    const fenced = await fence(job, 'h1');
    job.put('ann', { amount: 2 });
    for (const id of ['h1', 'other']) {
      await setJob(job, { hold: { ...hold, id } });
      const outcome = await environment.deliver(job.records().slice(1));
      expect(outcome).toMatchObject({
        kind: 'handBack',
        fromSequence: job.records()[1]!.sequence,
        reason: `job demo is held by restore rollback (${id}); records are handed back until it runs`,
      });
    }
    expect(job.progress()).toEqual(fenced);
    expect(job.entriesOf('ann')).toEqual([1]);
  });

  it('refuses the commit of an attempt that began before the fence', async () => {
    const { job, environment } = await begun();
    job.put('ann', { amount: 2 });
    let isFirst = true;
    const late = job.createEnvironment({
      objects: {
        ...job.objects,
        create: async (name, bytes) => {
          if (isFirst) {
            isFirst = false;
            await setJob(job, { hold });
            await fence(job, 'h1');
          }
          return job.objects.create(name, bytes);
        },
      },
    });
    expect(await late.deliver(job.records().slice(1))).toMatchObject({ kind: 'handBack' });
    expect(job.progress()).toMatchObject({
      position: { sequence: job.records()[0]!.sequence },
      fence: 'h1',
    });
    await setJob(job, { hold: undefined });
    expect(await environment.deliver(job.records().slice(1))).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });

  it('joins what the trigger has gone past before its fence goes', async () => {
    const { job, environment } = await begun();
    await fence(job, 'late');
    for (const amount of [2, 3, 4]) job.put('ann', { amount });
    const before = job.progress()!.version;
    const outcome = await environment.deliver(job.records().slice(3));
    expect(outcome).toMatchObject({ kind: 'done', counters: { catchUpRecords: 2 } });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
    expect(job.progress()).toMatchObject({ fence: undefined, version: before + 2 });
  });

  it('keeps the fence in units that have not joined yet', async () => {
    const { job } = await begun();
    await fence(job, 'late');
    for (const amount of [2, 3, 4]) job.put('ann', { amount });
    let looks = 0;
    const outcome = await job
      .createEnvironment({
        settings: { ...job.createEnvironment().runtime.settings, unitRecordsMax: 1 },
      })
      .deliver(job.records().slice(3), { remainingMs: () => ((looks += 1) <= 1 ? 60_000 : 0) });
    expect(outcome).toMatchObject({ kind: 'handBack' });
    expect(job.entriesOf('ann').length).toBeGreaterThan(1);
    expect(job.progress()).toMatchObject({ fence: 'late' });
  });

  it('leaves the generation that is over for the present one', async () => {
    const { job, environment } = await begun();
    const fenced = await fence(job, 'h1');
    await setJob(job, { generation: 2 });
    job.put('ann', { amount: 2 });
    expect(await environment.deliver(job.records().slice(1))).toMatchObject({ kind: 'done' });
    const rows = job.control.progressRows().map(({ progress }) => progress);
    expect(rows).toMatchObject([fenced, { generation: 2, fence: undefined }]);
  });
});

describe('a visit', () => {
  it('under the hold goes on and keeps the fence', async () => {
    const { job } = await begun();
    await setJob(job, { hold });
    await fence(job, 'h1');
    for (const amount of [2, 3]) job.put('ann', { amount });
    const { runtime } = job.createEnvironment({ hold: 'h1' });
    const position = { sequence: job.records()[1]!.sequence, sub: 0 };
    const report = await visitChannel(runtime, firstShard, { kind: 'position', position }, minute);
    expect(report).toMatchObject({ isThere: true, isFinished: false });
    expect(job.progress()).toMatchObject({ fence: 'h1' });
    expect(job.entriesOf('ann').slice(0, 2)).toEqual([1, 3]);
  });

  it('under a hold that is over does nothing', async () => {
    const { job } = await begun();
    const fenced = await fence(job, 'h1');
    job.put('ann', { amount: 2 });
    const { runtime } = job.createEnvironment({ hold: 'h1' });
    for (const change of [{ hold: undefined }, { hold: { ...hold, id: 'h2' } }]) {
      await setJob(job, change);
      const report = await visitChannel(runtime, firstShard, { kind: 'tip' }, minute);
      expect(report).toMatchObject({ isThere: false, isStuck: false });
    }
    expect(job.progress()).toEqual(fenced);
  });

  it('begins a child under the hold, fenced by it, once its parent is read to the end', async () => {
    const { job } = await begun();
    await setJob(job, { hold });
    await fence(job, 'h1');
    job.put('ann', { amount: 2 });
    const children = job.stream.split(firstShard);
    job.put('ann', { amount: 3 });
    const shardId = children.find((id) => job.records(id).length > 0)!;
    const { runtime } = job.createEnvironment({ hold: 'h1' });
    const report = await visitChannel(runtime, shardId, { kind: 'tip' }, minute);
    expect(report).toMatchObject({ isThere: true });
    expect(job.progress()).toMatchObject({ isFinished: true, fence: 'h1' });
    expect(job.progress(shardId)).toMatchObject({ fence: 'h1' });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });

  it('to the tip takes a fence away that is over, and writes down when it looked', async () => {
    const { job } = await begun();
    await fence(job, 'late');
    job.system.advance(3_600_000);
    const { runtime } = job.createEnvironment();
    const report = await visitChannel(runtime, firstShard, { kind: 'tip' }, minute);
    expect(report).toMatchObject({ isThere: true });
    expect(job.progress()).toMatchObject({ fence: undefined, checkedAtMs: job.system.now() });
    const { version } = job.progress()!;
    await visitChannel(job.createEnvironment().runtime, firstShard, { kind: 'tip' }, minute);
    expect(job.progress()).toMatchObject({ version });
  });

  it('says that a target was lost where its shard ends before it', async () => {
    const { job } = await begun();
    const { runtime } = job.createEnvironment();
    const position = { sequence: `9${job.records()[0]!.sequence}`, sub: 0 };
    const report = await visitChannel(runtime, firstShard, { kind: 'position', position }, minute);
    expect(report).toMatchObject({ isThere: false, isStuck: true });
    expect(report.reason).toMatch(/was held at 9.* Restore with acceptGap/);
    const accepting = job.createEnvironment({ acceptsGaps: true }).runtime;
    expect(
      await visitChannel(accepting, firstShard, { kind: 'position', position }, minute),
    ).toMatchObject({ isThere: true });
  });
});
