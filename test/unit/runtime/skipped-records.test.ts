import { expect, it } from 'vitest';
import { createJob } from './job-fixture.ts';

/*
 * R7: the trigger begins past what an environment has read, as a mapping does that was made anew. What it has gone past is read
 * by the channel's own reader, and the trigger is not believed before all of it is.
 */

/** A job with twenty records, and what a straight run makes of them. */
const createFilledJob = async () => {
  const job = await createJob({ settings: { unitRecordsMax: 3, clockCheckSteps: 1 } });
  for (let amount = 1; amount <= 20; amount += 1) job.put('ann', { amount });
  return job;
};

const straight = async () => {
  const job = await createFilledJob();
  await job.createEnvironment().deliver(job.records());
  return job.totals();
};

it('a catch-up that took more than one invocation goes on in the same environment', async () => {
  const job = await createFilledJob();
  const environment = job.createEnvironment();
  const late = job.records().slice(15);
  let looks = 3;
  const short = await environment.deliver(late, { remainingMs: () => (looks-- > 0 ? 60_000 : 0) });
  expect(short).toMatchObject({ kind: 'handBack', fromSequence: late[0]!.sequence });
  expect(job.progress()?.position).toBeDefined();
  expect(await environment.deliver(late)).toMatchObject({ kind: 'done' });
  expect(job.totals()).toEqual(await straight());
});

it('a channel that has read nothing yet is read from its start, also where its first commit was made here', async () => {
  const job = await createFilledJob();
  const environment = job.createEnvironment();
  await environment.deliver(job.records(), { remainingMs: () => 0 });
  expect(job.progress()).toMatchObject({ position: undefined });
  expect(await environment.deliver(job.records().slice(5))).toMatchObject({ kind: 'done' });
  expect(job.totals()).toEqual(await straight());
});
