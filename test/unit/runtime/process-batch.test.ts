import { describe, expect, it } from 'vitest';
import type { MemoryStateRow } from '../../../shared/adapters/memory/memory-state-store.ts';
import { unpackEmissions } from '../../../shared/core/emission.ts';
import { createJob } from './job-fixture.ts';

describe('processBatch', () => {
  it('commits a batch: state, outputs, changelog and progress', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    job.put('bob', { amount: 10 });
    job.put('ann', { amount: 2 });
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({
      kind: 'done',
      counters: { records: 3, units: 1, keysWritten: 2, keysLoaded: 2, recordsSkipped: 0 },
    });
    expect(job.statesOf('ann')).toMatchObject({ total: 3 });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.totals()).toEqual({ ann: 3, bob: 10 });
    expect(job.progress()).toMatchObject({
      generation: 1,
      position: { sequence: job.records()[2]!.sequence, sub: 0 },
      head: { number: 1 },
      aheadMax: undefined,
      isFinished: false,
      checkedAtMs: job.records()[2]!.arrivalMs,
    });
  });

  it('has nothing to do for an empty batch, and asks nobody', async () => {
    const job = await createJob({ isRegistered: false });
    expect(await job.createEnvironment().deliver([])).toMatchObject({ kind: 'done' });
    expect(job.control.progressRows()).toEqual([]);
  });

  it('acknowledges a batch that is committed already, and does nothing', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    job.put('ann', { amount: 2 });
    await job.createEnvironment().deliver();
    const before = job.progress();
    for (const environment of [job.createEnvironment(), job.createEnvironment()]) {
      const outcome = await environment.deliver();
      expect(outcome).toMatchObject({ kind: 'done', counters: { units: 0, recordsSkipped: 2 } });
    }
    expect(job.progress()).toEqual(before);
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });

  it('drops what is committed from a batch that begins too early', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    await job.createEnvironment().deliver();
    job.put('ann', { amount: 2 });
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({ kind: 'done', counters: { records: 1, recordsSkipped: 1 } });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });

  it('cuts a batch into units of at most so many records', async () => {
    const job = await createJob({ settings: { unitRecordsMax: 2 } });
    for (let amount = 1; amount <= 5; amount += 1) job.put('ann', { amount });
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({ kind: 'done', counters: { units: 3 } });
    expect(job.progress()?.head?.number).toBe(3);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10, 15]);
  });

  it('cuts a batch into units of at most so many keys', async () => {
    const job = await createJob({ settings: { unitKeysMax: 2 } });
    for (const key of ['ann', 'bob', 'ann', 'cid', 'bob', 'dan']) job.put(key, { amount: 1 });
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({ kind: 'done', counters: { units: 3 } });
    expect(job.entriesOf('ann')).toEqual([1, 2]);
    expect(job.entriesOf('dan')).toEqual([1]);
  });

  it.each([
    ['one environment', true],
    ['fresh environments', false],
  ])(
    'keeps only what progress has not passed in the outbox of an item, in %s',
    async (_, isWarm) => {
      const job = await createJob();
      for (const amount of [1, 2, 3]) job.put('ann', { amount });
      const warm = job.createEnvironment();
      for (let record = 0; record < 3; record += 1) {
        const environment = isWarm ? warm : job.createEnvironment();
        const outcome = await environment.deliver(job.records().slice(record, record + 1));
        expect(outcome).toMatchObject({ counters: { outputsWritten: 2, outputsSkipped: 0 } });
      }
      const [{ item }] = job.state.rows() as [MemoryStateRow];
      const outbox = unpackEmissions(item.emissions!);
      expect(outbox.map(({ position, sink }) => [position.sequence, sink])).toEqual([
        [job.records()[2]!.sequence, 'entries'],
        [job.records()[2]!.sequence, 'totals'],
      ]);
    },
  );

  it('publishes the counters of every invocation once', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    const environment = job.createEnvironment();
    await environment.deliver();
    await environment.deliver();
    expect(job.telemetry.total('tally')).toMatchObject({ records: 1, recordsSkipped: 1, units: 1 });
  });
});

describe('processBatch without a running job', () => {
  it('hands everything back and writes nothing where there is no job item', async () => {
    const job = await createJob({ isRegistered: false });
    job.put('ann', { amount: 1 });
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({
      kind: 'handBack',
      fromSequence: job.records()[0]!.sequence,
      reason: expect.stringContaining('job demo has no item in the control table') as string,
    });
    expect(job.control.progressRows()).toEqual([]);
    expect(job.state.rows()).toEqual([]);
    expect(job.objects.objects().size).toBe(0);
    expect(job.entriesOf('ann')).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['is being created', { status: 'creating' }, /job demo is creating; records are handed back/],
    [
      'is held',
      { hold: { id: '5f', kind: 'restore', owner: 'rollback', sinceMs: 1, isFlipped: false } },
      /job demo is held by restore rollback \(5f\); records are handed back/,
    ],
  ])('hands everything back while it %s, then goes on', async (_, change, reason) => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    const item = (await job.control.readJob('demo'))!;
    await job.control.replaceJob({ ...item, ...change, version: item.version + 1 }, item.version);
    const environment = job.createEnvironment();
    const outcome = await environment.deliver();
    expect(outcome.kind === 'handBack' && outcome.reason).toMatch(reason);
    expect(job.control.progressRows()).toEqual([]);
    await job.control.replaceJob({ ...item, version: item.version + 2 }, item.version + 1);
    expect(await environment.deliver()).toMatchObject({ kind: 'done' });
    expect(job.totals()).toEqual({ ann: 1 });
  });

  it('stops where the code has another maxParallelism than the job', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    await expect(job.createEnvironment({ maxParallelism: 64 }).deliver()).rejects.toThrow(
      'job demo was created with maxParallelism 128, this code has 64',
    );
    expect(job.control.progressRows()).toEqual([]);
  });
});
