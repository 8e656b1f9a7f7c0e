import { describe, expect, it } from 'vitest';
import { aggregate } from '../core/aggregate-fixture.ts';
import { createJob, deliverUntilDone, encodeJson } from './job-fixture.ts';
import { tally } from './tally.ts';

const add = (user: string, amount: number) => ({
  partitionKey: user,
  data: encodeJson({ user, amount }),
});

describe('an aggregated record', () => {
  it('is processed as the records inside, in order, each with its own key', async () => {
    const job = await createJob();
    job.putRaw('ignored', aggregate([add('ann', 1), add('bob', 10), add('ann', 2)]));
    expect(await job.createEnvironment().deliver()).toMatchObject({
      kind: 'done',
      counters: { records: 3 },
    });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.totals()).toEqual({ ann: 3, bob: 10 });
    expect(job.progress()?.position).toEqual({ sequence: job.records()[0]!.sequence, sub: 2 });
  });

  it('commits as a whole, however few records a unit may have', async () => {
    const job = await createJob({ settings: { unitRecordsMax: 1, unitBytesMax: 10 } });
    job.putRaw('x', aggregate([add('ann', 1), add('ann', 2), add('ann', 3)]));
    job.putRaw('x', aggregate([add('ann', 4), add('ann', 5)]));
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({ kind: 'done', counters: { units: 2, records: 5 } });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10, 15]);
  });

  it('is skipped as a whole once it is committed', async () => {
    const job = await createJob();
    job.putRaw('x', aggregate([add('ann', 1), add('ann', 2)]));
    await job.createEnvironment().deliver();
    expect(await job.createEnvironment().deliver()).toMatchObject({
      kind: 'done',
      counters: { records: 0, recordsSkipped: 2 },
    });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });

  it('loses one undecodable record to the dead letters, and no other', async () => {
    const job = await createJob();
    const bad = { partitionKey: 'bob', data: '{' };
    job.putRaw('x', aggregate([add('ann', 1), bad, add('ann', 2), add('bob', 5)]));
    expect(await deliverUntilDone(job.createEnvironment(), job.records())).toEqual([]);
    expect(job.deadLetters()).toMatchObject([
      { key: 'bob', partitionKey: 'bob', reason: 'undecodable', position: { sub: 1 } },
    ]);
    expect(job.totals()).toEqual({ ann: 3, bob: 5 });
  });

  it('loses one record at which the operator throws, and no other', async () => {
    const operator = tally(({ amount }) => {
      if (amount === 13) throw new Error('13 is bad');
    });
    const job = await createJob({ operator });
    job.put('ann', { amount: 1 });
    job.putRaw('x', aggregate([add('ann', 2), add('bob', 13), add('bob', 5)]));
    job.put('ann', { amount: 3 });
    const reasons = await deliverUntilDone(job.createEnvironment(), job.records());
    expect(reasons).toHaveLength(2);
    expect(job.deadLetters()).toMatchObject([
      { key: 'bob', reason: 'operator-failed', message: '13 is bad', position: { sub: 1 } },
    ]);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
    expect(job.totals()).toEqual({ ann: 6, bob: 5 });
  });

  it('loses the records of keys that its shard does not own', async () => {
    const job = await createJob({ shards: 2 });
    // "ann" belongs to the lower half of the hash space, "dan" to the upper one.
    job.putRaw('ann', aggregate([add('ann', 1), add('dan', 2), add('ann', 3)]));
    await job.createEnvironment().deliver(job.records());
    expect(job.totals()).toEqual({ ann: 4 });
    expect(job.deadLetters()).toMatchObject([
      { reason: 'foreign-hash-key', partitionKey: 'dan', position: { sub: 1 } },
    ]);
  });

  it('is handed back from its start where there is no time for it', async () => {
    const job = await createJob({ settings: { unitRecordsMax: 1 } });
    job.put('ann', { amount: 1 });
    job.putRaw('x', aggregate([add('ann', 2), add('ann', 3)]));
    let looks = 0;
    const remainingMs = (): number => ((looks += 1) <= 1 ? 60_000 : 0);
    const outcome = await job.createEnvironment().deliver(job.records(), { remainingMs });
    expect(outcome).toMatchObject({ kind: 'handBack', fromSequence: job.records()[1]!.sequence });
    expect(job.entriesOf('ann')).toEqual([1]);
  });
});
