import { describe, expect, it } from 'vitest';
import { aggregate } from '../core/aggregate-fixture.ts';
import { createJob, deliverUntilDone, encodeJson, firstShard } from './job-fixture.ts';

describe('processBatch near its deadline', () => {
  it('hands back what it has not begun, with the units so far committed', async () => {
    const job = await createJob({ settings: { unitRecordsMax: 2 } });
    for (let amount = 1; amount <= 6; amount += 1) job.put('ann', { amount });
    const environment = job.createEnvironment();
    await environment.deliver(job.records().slice(0, 2));
    let looks = 0;
    const remainingMs = (): number => ((looks += 1) <= 1 ? 60_000 : 1000);
    const outcome = await environment.deliver(job.records(), { remainingMs });
    expect(outcome).toMatchObject({
      kind: 'handBack',
      fromSequence: job.records()[4]!.sequence,
      reason: 'the invocation has too little time left for another unit',
      counters: { units: 1, records: 2 },
    });
    expect(job.progress()?.position?.sequence).toBe(job.records()[3]!.sequence);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
    expect(await deliverUntilDone(environment, job.records().slice(4))).toEqual([]);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6, 10, 15, 21]);
  });

  it('ends a long unit between two records and commits what has run', async () => {
    const job = await createJob();
    for (let at = 0; at < 100; at += 1) job.put(`user-${at}`, { amount: at });
    let looks = 0;
    const remainingMs = (): number => ((looks += 1) <= 2 ? 60_000 : 1000);
    const outcome = await job.createEnvironment().deliver(job.records(), { remainingMs });
    expect(outcome.kind).toBe('handBack');
    const { position } = job.progress()!;
    const done = job.records().findIndex(({ sequence }) => sequence === position?.sequence) + 1;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(100);
    expect(Object.keys(job.totals())).toHaveLength(done);
    expect(outcome).toMatchObject({ fromSequence: job.records()[done]!.sequence });
    expect(await deliverUntilDone(job.createEnvironment(), job.records().slice(done))).toEqual([]);
    expect(Object.keys(job.totals())).toHaveLength(100);
  });

  it('does not end a unit inside an aggregated record', async () => {
    const job = await createJob();
    const forty = Array.from({ length: 40 }, () => ({
      partitionKey: 'ann',
      data: encodeJson({ user: 'ann', amount: 1 }),
    }));
    job.putRaw('ann', aggregate(forty));
    for (let at = 0; at < 60; at += 1) job.put('bob', { amount: 1 });
    let looks = 0;
    const remainingMs = (): number => ((looks += 1) <= 1 ? 60_000 : 1000);
    const outcome = await job.createEnvironment().deliver(job.records(), { remainingMs });
    expect(outcome.kind).toBe('handBack');
    expect(job.totals()).toMatchObject({ ann: 40 });
    expect(job.progress()!.position!.sequence).not.toBe(job.records()[0]!.sequence);
    expect(job.entriesOf('bob').length).toBeLessThan(60);
  });

  it('begins nothing where there was no time from the start', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    const outcome = await job.createEnvironment().deliver(job.records(), { remainingMs: () => 0 });
    expect(outcome).toMatchObject({ kind: 'handBack', counters: { units: 0 } });
    expect(job.state.rows()).toEqual([]);
    expect(job.progress(firstShard)?.position).toBeUndefined();
  });

  it('runs nothing past the end of such a unit where its keys have to run again', async () => {
    const job = await createJob();
    for (let at = 0; at < 100; at += 1) job.put(`user-${at % 10}`, { amount: 1 });
    let looks = 0;
    const remainingMs = (): number => ((looks += 1) <= 2 ? 60_000 : 1000);
    let isFirst = true;
    const environment = job.createEnvironment({
      state: {
        ...job.state,
        write(scope, writes) {
          if (!isFirst) return job.state.write(scope, writes);
          isFirst = false;
          return Promise.resolve(writes.map(() => 'conflict' as const));
        },
      },
    });
    const outcome = await environment.deliver(job.records(), { remainingMs });
    expect(outcome).toMatchObject({ kind: 'handBack', counters: { keysReran: 10 } });
    const { position, aheadMax } = job.progress()!;
    const done = job.records().findIndex(({ sequence }) => sequence === position?.sequence) + 1;
    expect(aheadMax).toBeUndefined();
    expect(Object.values(job.totals()).reduce((a, b) => a + b, 0)).toBe(done);
  });
});
