import { expect, it } from 'vitest';
import { noDeadline } from '../../../shared/runtime/deadline.ts';
import { visitChannel } from '../../../shared/runtime/visit-channel.ts';
import { createJob, firstShard } from './job-fixture.ts';

/*
 * R7: the trigger begins past what an environment has read, as a mapping does that was made anew. What it has gone past is read
 * by the channel's own reader, and the trigger is not believed before all of it is.
 */

const createEmptyJob = () => createJob({ settings: { unitRecordsMax: 3, clockCheckSteps: 1 } });

function putTwenty(job: Awaited<ReturnType<typeof createEmptyJob>>): void {
  for (let amount = 1; amount <= 20; amount += 1) job.put('ann', { amount });
}

/** A job with twenty records, and what a straight run makes of them. */
const createFilledJob = async () => {
  const job = await createEmptyJob();
  putTwenty(job);
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

it('a batch that was handed back behind a catch-up is not passed over by a later one, in the same environment', async () => {
  const job = await createFilledJob();
  const environment = job.createEnvironment();
  const records = job.records();
  let looks = 5;
  const remainingMs = (): number => (looks-- > 0 ? 60_000 : 0);
  const short = await environment.deliver(records.slice(3, 12), { remainingMs });
  const fromSequence = (short as { readonly fromSequence?: string }).fromSequence;
  expect(short).toMatchObject({ kind: 'handBack', counters: { catchUpRecords: 3 } });
  expect(records.slice(3, 12).map(({ sequence }) => sequence)).toContain(fromSequence);
  // The trigger has not heard of it, and stood further ahead before.
  expect(await environment.deliver(records.slice(15))).toMatchObject({ kind: 'done' });
  expect(job.totals()).toEqual(await straight());
});

it('a batch from before does not make the trigger believed that was found ahead', async () => {
  const job = await createFilledJob();
  const environment = job.createEnvironment();
  const records = job.records();
  await environment.deliver(records.slice(0, 3));
  job.system.advance(120_000);
  let looks = 2;
  const remainingMs = (): number => (looks-- > 0 ? 60_000 : 0);
  const short = await environment.deliver(records.slice(15), { remainingMs });
  expect(short).toMatchObject({ kind: 'handBack', fromSequence: records[15]!.sequence });
  expect(await environment.deliver(records.slice(0, 2))).toMatchObject({ kind: 'done' });
  expect(await environment.deliver(records.slice(15))).toMatchObject({ kind: 'done' });
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

it('a channel that a visit has found empty is read from its start, though the visit was made here a moment ago', async () => {
  const job = await createEmptyJob();
  const environment = job.createEnvironment();
  expect(
    await visitChannel(environment.runtime, firstShard, { kind: 'tip' }, noDeadline),
  ).toMatchObject({ isThere: true, position: undefined });
  expect(job.progress()).toMatchObject({ position: undefined });
  putTwenty(job);
  expect(await environment.deliver(job.records().slice(5))).toMatchObject({ kind: 'done' });
  expect(job.totals()).toEqual(await straight());
});

it('the trigger is not believed by an environment that another one has passed meanwhile', async () => {
  const job = await createFilledJob();
  const environment = job.createEnvironment();
  await environment.deliver(job.records().slice(0, 5));
  await job.createEnvironment().deliver(job.records().slice(5, 10));
  expect(await environment.deliver(job.records().slice(15))).toMatchObject({ kind: 'done' });
  expect(job.totals()).toEqual(await straight());
});
