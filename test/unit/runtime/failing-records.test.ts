import { describe, expect, it } from 'vitest';
import { createJob, deliverUntilDone } from './job-fixture.ts';
import { tally } from './tally.ts';

/** A job whose operator throws for events of these amounts, so many times each. */
const jobThatThrows = async (throws: Readonly<Record<number, number>>) => {
  const runs = new Map<number, number>();
  const operator = tally(({ amount }) => {
    const run = (runs.get(amount) ?? 0) + 1;
    runs.set(amount, run);
    if (run <= (throws[amount] ?? 0)) throw new Error(`amount ${amount} is bad`);
  });
  const job = await createJob({ operator });
  return { job, runs };
};

const always = Number.POSITIVE_INFINITY;

describe('a record at which the operator always throws', () => {
  it('goes to the dead letters in its third delivery, with what was thrown', async () => {
    const { job, runs } = await jobThatThrows({ 2: always });
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    const reasons = await deliverUntilDone(job.createEnvironment(), job.records());
    const { sequence } = job.records()[1]!;
    const reason = `record ${sequence} failed: amount 2 is bad; it is tried 3 times`;
    expect(reasons).toEqual([reason, reason]);
    expect(job.deadLetters()).toMatchObject([
      { key: 'ann', position: { sequence }, reason: 'operator-failed', message: 'amount 2 is bad' },
    ]);
    // Once for the unit in which it was found, and once alone in each delivery.
    expect(runs.get(2)).toBeGreaterThanOrEqual(3);
    expect(runs.get(2)).toBeLessThanOrEqual(6);
  });

  it('leaves its neighbours alone: same key, other keys, before and after', async () => {
    const { job } = await jobThatThrows({ 100: always });
    job.put('ann', { amount: 1 });
    job.put('bob', { amount: 2 });
    job.put('ann', { amount: 100 });
    job.put('ann', { amount: 3 });
    job.put('bob', { amount: 4 });
    await deliverUntilDone(job.createEnvironment(), job.records());
    expect(job.deadLetters()).toHaveLength(1);
    expect(job.entriesOf('ann')).toEqual([1, 4]);
    expect(job.entriesOf('bob')).toEqual([2, 6]);
  });

  it('does not hold back what came before it', async () => {
    const { job } = await jobThatThrows({ 2: always });
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    const outcome = await job.createEnvironment().deliver();
    expect(outcome).toMatchObject({
      kind: 'handBack',
      fromSequence: job.records()[1]!.sequence,
      counters: { records: 1, deadLetters: 0 },
    });
    expect(job.totals()).toEqual({ ann: 1 });
  });

  it('is counted across environments that know nothing of each other', async () => {
    const { job } = await jobThatThrows({ 1: always });
    job.put('ann', { amount: 1 });
    job.put('ann', { amount: 2 });
    const kinds: string[] = [];
    for (let times = 0; times < 3; times += 1) {
      kinds.push((await job.createEnvironment().deliver()).kind);
    }
    expect(kinds).toEqual(['handBack', 'handBack', 'done']);
    expect(job.deadLetters()).toHaveLength(1);
    expect(job.totals()).toEqual({ ann: 2 });
  });

  it('is judged beside others that throw, each by its own three tries', async () => {
    const { job } = await jobThatThrows({ 1: always, 2: always, 4: always });
    for (const amount of [1, 2, 3, 4]) job.put('ann', { amount });
    const reasons = await deliverUntilDone(job.createEnvironment(), job.records());
    expect(reasons).toHaveLength(6);
    expect(job.deadLetters().map(({ message }) => message)).toEqual([
      'amount 1 is bad',
      'amount 2 is bad',
      'amount 4 is bad',
    ]);
    expect(job.totals()).toEqual({ ann: 3 });
  });
});

describe('a record at which the operator throws now and then', () => {
  it('is no dead letter where the third try works', async () => {
    const { job } = await jobThatThrows({ 1: 2 });
    job.put('ann', { amount: 1 });
    job.put('ann', { amount: 2 });
    const reasons = await deliverUntilDone(job.createEnvironment(), job.records());
    expect(reasons).toHaveLength(2);
    expect(job.deadLetters()).toEqual([]);
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });

  it('is tried anew with each record: throws of different records do not add up', async () => {
    const { job } = await jobThatThrows({ 1: 2, 2: 2, 3: 2 });
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    await deliverUntilDone(job.createEnvironment(), job.records());
    expect(job.deadLetters()).toEqual([]);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });
});

describe('a throw in the middle of a key', () => {
  it('leaves nothing of the failed run in the state of the key', async () => {
    let throwsLeft = 2;
    const changed = tally();
    const process: typeof changed.process = (event, ctx) => {
      changed.process(event, ctx);
      if ((event as { amount: number }).amount === 2 && throwsLeft > 0) {
        throwsLeft -= 1;
        throw new Error('after everything was changed and emitted');
      }
    };
    const job = await createJob({ operator: { ...changed, process } });
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    const environment = job.createEnvironment();
    expect(await deliverUntilDone(environment, job.records())).toHaveLength(1);
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
    expect(job.statesOf('ann')).toMatchObject({ total: 6 });
  });
});
