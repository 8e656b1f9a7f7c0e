import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../../shared/core/errors.ts';
import { decodeSegmentHeader } from '../../../shared/core/segment.ts';
import type { ControlStore } from '../../../shared/ports/control-store.ts';
import { createJob, type Job } from './job-fixture.ts';

const unavailable = (): HoldfastError =>
  new HoldfastError('unavailable', 'the reply of the control table was lost');

const withCommit = (job: Job, commitProgress: ControlStore['commitProgress']) =>
  job.createEnvironment({ control: { ...job.control, commitProgress } });

const oneRecord = async (): Promise<Job> => {
  const job = await createJob();
  job.put('ann', { amount: 1 });
  return job;
};

describe('a progress commit whose reply is lost', () => {
  it('is recognised by its attempt as a success', async () => {
    const job = await oneRecord();
    let commits = 0;
    const environment = withCommit(job, async (...args) => {
      commits += 1;
      await job.control.commitProgress(...args);
      throw unavailable();
    });
    const outcome = await environment.deliver();
    expect(outcome).toMatchObject({ kind: 'done', counters: { units: 1, progressConflicts: 0 } });
    expect(commits).toBe(1);
    expect(job.progress()?.head?.number).toBe(1);
  });

  it('keeps the cache warm: it was this environment’s own commit', async () => {
    const job = await oneRecord();
    const environment = withCommit(job, async (...args) => {
      await job.control.commitProgress(...args);
      throw unavailable();
    });
    await environment.deliver();
    job.put('ann', { amount: 2 });
    expect(await environment.deliver()).toMatchObject({ counters: { cacheHits: 1 } });
  });

  it('is recognised where a retry below has turned it into a conflict', async () => {
    const job = await oneRecord();
    const environment = withCommit(job, async (...args) => {
      await job.control.commitProgress(...args);
      return await job.control.commitProgress(...args);
    });
    expect(await environment.deliver()).toMatchObject({ kind: 'done', counters: { units: 1 } });
    expect(job.progress()?.version).toBe(2);
  });

  it('is written again where it never arrived', async () => {
    const job = await oneRecord();
    let commits = 0;
    const environment = withCommit(job, async (...args) => {
      commits += 1;
      if (commits < 3) throw unavailable();
      return await job.control.commitProgress(...args);
    });
    expect(await environment.deliver()).toMatchObject({ kind: 'done' });
    expect(commits).toBe(3);
    expect(job.progress()?.position?.sequence).toBe(job.records()[0]!.sequence);
  });

  it('is given up after a few tries, with everything handed back', async () => {
    const job = await oneRecord();
    let commits = 0;
    const environment = withCommit(job, () => {
      commits += 1;
      return Promise.reject(unavailable());
    });
    const outcome = await environment.deliver();
    expect(outcome).toMatchObject({ kind: 'handBack', fromSequence: job.records()[0]!.sequence });
    expect(commits).toBe(5);
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1]);
  });
});

describe('a progress commit that loses against somebody else’s', () => {
  it('goes on from theirs and applies nothing twice', async () => {
    const job = await oneRecord();
    job.put('ann', { amount: 2 });
    let isFirst = true;
    const environment = withCommit(job, async (...args) => {
      if (isFirst) {
        isFirst = false;
        await job.createEnvironment().deliver(job.records().slice(0, 1));
      }
      return await job.control.commitProgress(...args);
    });
    const outcome = await environment.deliver();
    expect(outcome).toMatchObject({ kind: 'done', counters: { progressConflicts: 1, records: 1 } });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.statesOf('ann')).toMatchObject({ total: 3 });
    expect(job.progress()?.position?.sequence).toBe(job.records()[1]!.sequence);
  });

  it('trusts nothing any more that it remembered, and goes on in their chain', async () => {
    const job = await oneRecord();
    let rivals = 0;
    const environment = withCommit(job, async (...args) => {
      rivals += 1;
      if (rivals === 2) await job.createEnvironment().deliver(job.records().slice(0, 2));
      return await job.control.commitProgress(...args);
    });
    await environment.deliver();
    for (const amount of [2, 3]) job.put('ann', { amount });
    expect(await environment.deliver()).toMatchObject({
      kind: 'done',
      counters: { progressConflicts: 1 },
    });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
    const { head } = job.progress()!;
    const [name, bytes] = [...job.objects.objects()].find(([object]) =>
      object.endsWith(`-${head!.attempt}.seg`),
    )!;
    expect(decodeSegmentHeader(bytes, name).chain.map(({ number }) => number)).toEqual([2, 1]);
    expect(head!.number).toBe(3);
  });

  it('gives up where it loses again and again, and hands back', async () => {
    const job = await createJob({ settings: { unitRecordsMax: 100 } });
    for (let at = 0; at < 100; at += 1) job.put(`user-${at}`, { amount: 1 });
    let rivals = 0;
    const environment = withCommit(job, async (...args) => {
      rivals += 1;
      await job.createEnvironment().deliver(job.records().slice(0, rivals));
      return await job.control.commitProgress(...args);
    });
    const outcome = await environment.deliver();
    expect(outcome.kind === 'handBack' && outcome.reason).toMatch(
      /other invocations committed first 51 times; the records are handed back/,
    );
    await job.createEnvironment().deliver();
    expect(Object.values(job.totals())).toEqual(new Array(100).fill(1));
  });
});

describe('an invocation that fails after somebody else has committed its whole batch', () => {
  it('acknowledges the batch', async () => {
    const job = await oneRecord();
    const environment = job.createEnvironment({
      control: {
        ...job.control,
        async commitProgress(...args) {
          await job.createEnvironment().deliver();
          return await job.control.commitProgress(...args);
        },
      },
      objects: { ...job.objects, readStart: () => Promise.reject(unavailable()) },
    });
    expect(await environment.deliver()).toMatchObject({ kind: 'done', counters: { units: 0 } });
    expect(job.entriesOf('ann')).toEqual([1]);
  });
});

describe('the birth of a channel whose reply is lost', () => {
  it('is found by reading', async () => {
    const job = await oneRecord();
    const environment = job.createEnvironment({
      control: {
        ...job.control,
        async bear(birth) {
          await job.control.bear(birth);
          return await job.control.bear(birth);
        },
      },
    });
    expect(await environment.deliver()).toMatchObject({ kind: 'done' });
    expect(job.totals()).toEqual({ ann: 1 });
  });
});

describe('a state write whose reply is lost', () => {
  it('is found by reading, and its outputs come from what was written', async () => {
    const job = await oneRecord();
    job.put('bob', { amount: 2 });
    const environment = job.createEnvironment({
      state: {
        ...job.state,
        async write(scope, writes) {
          const outcomes = await job.state.write(scope, writes);
          return outcomes.map(() => 'conflict' as const);
        },
      },
    });
    expect(await environment.deliver()).toMatchObject({ kind: 'done', counters: { keysReran: 2 } });
    expect(job.totals()).toEqual({ ann: 1, bob: 2 });
    expect(job.entriesOf('ann')).toEqual([1]);
  });
});
