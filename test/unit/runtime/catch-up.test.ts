import { describe, expect, it } from 'vitest';
import { createJob } from './job-fixture.ts';
import { observe } from './observe.ts';

const hourMs = 3_600_000;

describe('records that the trigger skipped', () => {
  it('are read before the batch on a channel that was never begun', async () => {
    const job = await createJob();
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    const outcome = await job.createEnvironment().deliver(job.records().slice(2));
    expect(outcome).toMatchObject({ kind: 'done', counters: { catchUpRecords: 2, records: 3 } });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });

  it('are read before the batch in an environment that does not know the channel', async () => {
    const job = await createJob();
    for (const amount of [1, 2, 3, 4]) job.put('ann', { amount });
    await job.createEnvironment().deliver(job.records().slice(0, 1));
    const outcome = await job.createEnvironment().deliver(job.records().slice(3));
    expect(outcome).toMatchObject({ kind: 'done', counters: { catchUpRecords: 2 } });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
  });

  it('are read over several pages', async () => {
    const job = await createJob({ pageRecordsMax: 2 });
    for (let amount = 1; amount <= 7; amount += 1) job.put('ann', { amount });
    const outcome = await job.createEnvironment().deliver(job.records().slice(6));
    expect(outcome).toMatchObject({ kind: 'done', counters: { catchUpRecords: 6 } });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10, 15, 21, 28]);
  });

  it('are committed as far as time allows, and the batch is handed back', async () => {
    const job = await createJob({ pageRecordsMax: 2, settings: { unitRecordsMax: 2 } });
    for (let amount = 1; amount <= 7; amount += 1) job.put('ann', { amount });
    let looks = 0;
    const remainingMs = (): number => ((looks += 1) <= 3 ? 60_000 : 0);
    const outcome = await job.createEnvironment().deliver(job.records().slice(6), { remainingMs });
    expect(outcome).toMatchObject({ kind: 'handBack', fromSequence: job.records()[6]!.sequence });
    const done = job.entriesOf('ann').length;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(6);
    await job.createEnvironment().deliver(job.records().slice(6));
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10, 15, 21, 28]);
  });

  it('that are poison go to the dead letters as any other', async () => {
    const job = await createJob();
    job.putRaw('ann', '{');
    job.put('ann', { amount: 2 });
    await job.createEnvironment().deliver(job.records().slice(1));
    expect(job.deadLetters()).toMatchObject([{ reason: 'undecodable' }]);
    expect(job.totals()).toEqual({ ann: 2 });
  });
});

describe('an environment that made the last commit itself', () => {
  const warmJob = async () => {
    const job = await createJob({ settings: { silenceMs: 60_000 } });
    job.put('ann', { amount: 1 });
    const calls: string[] = [];
    const environment = job.createEnvironment({ reader: observe('reader', job.reader, calls) });
    await environment.deliver();
    calls.length = 0;
    return { job, environment, calls };
  };

  it('trusts the next batch to follow, and reads nothing itself', async () => {
    const { job, environment, calls } = await warmJob();
    job.put('ann', { amount: 2 });
    const outcome = await environment.deliver(job.records().slice(1));
    expect(outcome).toMatchObject({ kind: 'done', counters: { catchUpRecords: 0 } });
    expect(calls).toEqual([]);
  });

  it('looks again after a long silence', async () => {
    const { job, environment, calls } = await warmJob();
    for (const amount of [2, 3]) job.put('ann', { amount });
    job.system.advance(60_001);
    const outcome = await environment.deliver(job.records().slice(2));
    expect(outcome).toMatchObject({ kind: 'done', counters: { catchUpRecords: 1 } });
    expect(calls).toEqual(['reader.read']);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });

  it('looks again once somebody else has committed', async () => {
    const { job, environment, calls } = await warmJob();
    for (const amount of [2, 3, 4]) job.put('ann', { amount });
    await job.createEnvironment().deliver(job.records().slice(1, 2));
    await environment.deliver(job.records().slice(3));
    expect(calls).toEqual(['reader.read']);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
  });
});

describe('a progress whose record has left the stream', () => {
  /** One record committed and expired, then another one after some hours. */
  const jobAfter = async (hours: number) => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    await job.createEnvironment().deliver();
    job.system.advance(hours * hourMs);
    job.stream.trim('shardId-000000000000');
    job.put('ann', { amount: 2 });
    job.put('ann', { amount: 3 });
    return job;
  };

  it('is passed where the shard was looked at within retention: nothing can be lost', async () => {
    const job = await jobAfter(22);
    const outcome = await job.createEnvironment().deliver(job.records().slice(1));
    expect(outcome).toMatchObject({ kind: 'done', counters: { catchUpRecords: 1 } });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });

  it('stops the channel where records may be lost, and says how long nobody looked', async () => {
    const job = await jobAfter(30);
    const before = job.progress();
    await expect(job.createEnvironment().deliver(job.records())).rejects.toThrow(
      /has left the stream and the shard was last looked at 30 h ago, with a retention of 24 h: records after it may be lost/,
    );
    expect(job.progress()).toEqual(before);
    expect(job.entriesOf('ann')).toEqual([1]);
  });

  it('is an error for people, which no retry mends', async () => {
    const job = await jobAfter(30);
    await expect(job.createEnvironment().deliver(job.records())).rejects.toMatchObject({
      name: 'HoldfastError',
      kind: 'invalid',
    });
  });
});
