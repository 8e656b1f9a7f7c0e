import { describe, expect, it } from 'vitest';
import { createJob, type Job } from './job-fixture.ts';
import { createMortalEnvironment, type MortalEnvironment } from './mortal-environment.ts';
import { tally } from './tally.ts';

const deliveriesMax = 40;

/** A job whose operator takes its process with it at events of these amounts. */
const deadlyJob = async (deadly: readonly number[]) => {
  let current: MortalEnvironment | undefined;
  const operator = tally(({ amount }) => {
    if (deadly.includes(amount)) current?.die();
  });
  const job = await createJob({ operator });
  /** Delivers everything in one environment after the other until a delivery comes back done. */
  const deliverUntilDone = async (): Promise<number> => {
    for (let deaths = 0; deaths < deliveriesMax; deaths += 1) {
      current = createMortalEnvironment(job);
      const outcome = await current.deliver(job.records());
      if (outcome !== 'died') {
        expect(outcome).toMatchObject({ kind: 'done' });
        return deaths;
      }
    }
    throw new Error(`still dying after ${deliveriesMax} deliveries`);
  };
  return { job, deliverUntilDone };
};

const putMany = (job: Job, count: number): void => {
  for (let amount = 1; amount <= count; amount += 1) job.put(`user-${amount % 7}`, { amount });
};

describe('a record that kills its invocation', () => {
  it('is a dead letter in the end, and says that nobody came back', async () => {
    const { job, deliverUntilDone } = await deadlyJob([1]);
    job.put('ann', { amount: 1 });
    const deaths = await deliverUntilDone();
    expect(deaths).toBeGreaterThanOrEqual(3);
    expect(deaths).toBeLessThanOrEqual(7);
    expect(job.deadLetters()).toMatchObject([
      {
        key: 'ann',
        reason: 'operator-failed',
        message: expect.stringContaining('the invocation did not come back') as string,
      },
    ]);
  });

  it('is found among hundreds in a bounded number of deaths, and costs nobody else', async () => {
    const { job, deliverUntilDone } = await deadlyJob([321]);
    putMany(job, 500);
    expect(await deliverUntilDone()).toBeLessThanOrEqual(14);
    expect(job.deadLetters().map(({ position }) => position.sequence)).toEqual([
      job.records()[320]!.sequence,
    ]);
    const sum = Object.values(job.totals()).reduce((a, b) => a + b, 0);
    expect(sum).toBe((500 * 501) / 2 - 321);
  });

  it('is found beside a second one', async () => {
    const { job, deliverUntilDone } = await deadlyJob([40, 41]);
    putMany(job, 60);
    await deliverUntilDone();
    expect(job.deadLetters().map(({ position }) => position.sequence)).toEqual(
      job
        .records()
        .slice(39, 41)
        .map(({ sequence }) => sequence),
    );
  });
});

describe('an environment that dies for reasons of its own', () => {
  it.each([1, 2])('condemns no record by %i deaths', async (deathsPlanned) => {
    let deathsLeft = deathsPlanned;
    let current: MortalEnvironment | undefined;
    const operator = tally(() => {
      if (deathsLeft > 0) current?.die();
    });
    const job = await createJob({ operator });
    putMany(job, 3);
    let deaths = 0;
    for (;;) {
      current = createMortalEnvironment(job);
      if ((await current.deliver(job.records())) !== 'died') break;
      deaths += 1;
      deathsLeft -= 1;
    }
    expect(deaths).toBe(deathsPlanned);
    expect(job.deadLetters()).toEqual([]);
    expect(Object.values(job.totals()).reduce((a, b) => a + b, 0)).toBe(6);
  });

  it('condemns no record by deaths while it writes, however many: the record has run', async () => {
    const job = await createJob();
    putMany(job, 3);
    for (let deaths = 0; deaths < 15; deaths += 1) {
      const mortal: MortalEnvironment = createMortalEnvironment(job, {
        state: {
          ...job.state,
          write() {
            mortal.die();
            return new Promise(() => undefined);
          },
        },
      });
      expect(await mortal.deliver(job.records())).toBe('died');
    }
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    expect(job.deadLetters()).toEqual([]);
    expect(Object.values(job.totals()).reduce((a, b) => a + b, 0)).toBe(6);
  });

  it('leaves no trace where it comes back: a batch that was handed back counts as no death', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    const failing = {
      ...job.state,
      load: () => Promise.reject(new TypeError('the socket was closed')),
    };
    for (let times = 0; times < 5; times += 1) {
      await expect(job.createEnvironment({ state: failing }).deliver()).rejects.toThrow(
        'the socket was closed',
      );
    }
    const { channel } = job.control.progressRows()[0]!;
    expect(await job.control.readSuspicion('demo', 1, channel)).toMatchObject({ outstanding: [] });
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
    expect(job.deadLetters()).toEqual([]);
  });
});
