import { describe, expect, it } from 'vitest';
import { createJob, deliverUntilDone } from './job-fixture.ts';

/** Looks at the clock so many times at most: a loop without end would hang the test. */
const patience = () => {
  let looks = 0;
  return () => ((looks += 1) > 200 ? 0 : 60_000);
};

describe('a key whose item is nearly full', () => {
  it.each([
    ['350 KB and a poison record of 60 KB', 350_000, 60_000],
    ['all but a few bytes and the smallest poison record', 388_500, 1],
  ])('takes the verdict on a poison record and goes on: %s', async (_, state, poison) => {
    const job = await createJob();
    job.put('ann', { amount: 1, stateCharacters: state });
    job.putRaw('ann', '{'.repeat(poison));
    job.put('bob', { amount: 2 });
    await deliverUntilDone(job.createEnvironment(), job.records(), { remainingMs: patience() });
    expect(job.deadLetters()).toHaveLength(1);
    expect(job.totals()).toEqual({ ann: 1, bob: 2 });
  });

  it('takes the verdict on the record that would overfill it, where it grew by as much as its records have', async () => {
    const job = await createJob();
    for (let amount = 1; amount <= 197; amount += 1) {
      // 2,000 bytes of state for each record, and the record as large as that.
      const event = { user: 'ann', amount, stateCharacters: 2000, filler: 'f'.repeat(1900) };
      job.putRaw('ann', JSON.stringify(event));
    }
    await deliverUntilDone(job.createEnvironment(), job.records(), { remainingMs: patience() });
    expect(job.deadLetters().length).toBeGreaterThan(0);
    expect(job.progress()?.position?.sequence).toBe(job.records().at(-1)!.sequence);
  });

  it('has large outputs spilled before it is called too large', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, stateCharacters: 350_000, outputCharacters: 60_000 });
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    expect(job.deadLetters()).toEqual([]);
    expect(job.entriesOf('ann')).toEqual([1]);
  });
});
