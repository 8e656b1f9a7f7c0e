import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperator, type Operator } from '../../../shared/operator/operator.ts';
import { appendSink, upsertSink } from '../../../shared/operator/sink.ts';
import { valueState } from '../../../shared/operator/state.ts';
import { createJob } from './job-fixture.ts';

/** The tally at another schema version of its state, which counts in hundredths from version 2 on. */
const tallyAt = (version: number): Operator =>
  defineOperator({
    id: 'tally',
    schema: z.object({ user: z.string(), amount: z.number() }),
    key: (event) => event.user,
    state: {
      total: valueState<number>({ version, migrate: (stored) => (stored as number) * 100 }),
    },
    sinks: {
      entries: appendSink({ row: z.object({ total: z.number() }) }),
      totals: upsertSink({ row: z.object({ total: z.number() }) }),
    },
    process(event, { state, emit }) {
      const total = (state.total.get() ?? 0) + event.amount * (version > 1 ? 100 : 1);
      state.total.set(total);
      emit({ sink: 'entries', row: { total } });
    },
  });

describe('code that meets an item of a newer schema version', () => {
  it('hands its batch back without counting a failure', async () => {
    const job = await createJob({ operator: tallyAt(1) });
    job.put('ann', { amount: 1 });
    await job.createEnvironment({ operator: tallyAt(2) }).deliver();
    job.put('ann', { amount: 2 });
    for (let times = 0; times < 5; times += 1) {
      const outcome = await job.createEnvironment().deliver(job.records().slice(1));
      expect(outcome).toMatchObject({ kind: 'handBack', fromSequence: job.records()[1]!.sequence });
      expect(outcome.kind === 'handBack' && outcome.reason).toMatch(
        /schema version 2, this code reads up to 1; newer code wrote it/,
      );
    }
    expect(job.deadLetters()).toEqual([]);
    await job.createEnvironment({ operator: tallyAt(2) }).deliver();
    expect(job.entriesOf('ann')).toEqual([100, 300]);
  });
});

describe('code that meets an item of an older schema version', () => {
  it('migrates it and goes on', async () => {
    const job = await createJob({ operator: tallyAt(1) });
    job.put('ann', { amount: 1 });
    await job.createEnvironment().deliver();
    job.put('ann', { amount: 2 });
    await job.createEnvironment({ operator: tallyAt(2) }).deliver();
    expect(job.entriesOf('ann')).toEqual([1, 300]);
  });
});

describe('code that lacks what its items name', () => {
  it('stops where a state is not declared any more, and loses nothing', async () => {
    const job = await createJob({ operator: tallyAt(1) });
    job.put('ann', { amount: 1 });
    await job.createEnvironment().deliver();
    job.put('ann', { amount: 2 });
    const without = { ...tallyAt(1), stateNames: ['sum'] };
    await expect(job.createEnvironment({ operator: without }).deliver()).rejects.toThrow(
      'state "total" is stored but not declared',
    );
    await job.createEnvironment().deliver();
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });

  it('stops where a sink is not deployed, and publishes nothing past it', async () => {
    const job = await createJob({ operator: tallyAt(1) });
    job.put('ann', { amount: 1 });
    const sinks = new Map([...job.sinks].filter(([name]) => name !== 'entries'));
    await expect(job.createEnvironment({ sinks }).deliver()).rejects.toThrow(
      'operator tally has outputs for sink "entries", which is not deployed',
    );
    expect(job.progress()?.position).toBeUndefined();
    await job.createEnvironment().deliver();
    expect(job.entriesOf('ann')).toEqual([1]);
  });
});

describe('a shard that the stream does not list yet', () => {
  it('is handed back', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    const reader = { ...job.reader, listShards: () => Promise.resolve([]) };
    const outcome = await job.createEnvironment({ reader }).deliver();
    expect(outcome).toMatchObject({ kind: 'handBack', fromSequence: job.records()[0]!.sequence });
    expect(outcome.kind === 'handBack' && outcome.reason).toMatch(
      /delivers records but is not in the stream's list of 0 shards yet/,
    );
  });
});
