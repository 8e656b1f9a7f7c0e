import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { defineOperator, type EventTime } from '../../../shared/operator/operator.ts';
import { valueState } from '../../../shared/operator/state.ts';
import { createJob, firstShard, jobName, type Job } from './job-fixture.ts';

const event = z.object({ user: z.string(), at: z.number() });

/** Keeps the watermark that each key saw last. */
const clock = (rules: Omit<EventTime<never>, 'time'> = { outOfOrdernessMs: 0 }) =>
  defineOperator({
    id: 'clock',
    schema: event,
    key: ({ user }) => user,
    state: { seen: valueState<number>() },
    eventTime: { time: ({ at }) => at, ...rules },
    process: (_, { state, watermark }) => {
      state.seen.set(watermark ?? -1);
    },
  });

const putAt = (job: Job, user: string, at: number): void => {
  job.putRaw(user, JSON.stringify({ user, at }));
};

describe('the rules of time', () => {
  it.each([
    ['another out-of-orderness', { outOfOrdernessMs: 1 }],
    ['another skew', { outOfOrdernessMs: 0, maxFutureSkewMs: 1 }],
    ['another version', { outOfOrdernessMs: 0, version: 2 }],
  ])('stay those that the channel was begun with: %s hands back', async (_, rules) => {
    const job = await createJob({ operator: clock() });
    putAt(job, 'ann', 5);
    await job.createEnvironment().deliver();
    putAt(job, 'ann', 6);
    const changed = job.createEnvironment({ operator: clock(rules) });
    const outcome = await changed.deliver();
    expect(outcome).toMatchObject({
      kind: 'handBack',
      reason: expect.stringContaining('deploy the old rules, or restore') as string,
    });
    expect(job.progress()).toMatchObject({ position: { sequence: job.records()[0]!.sequence } });
    expect(await job.createEnvironment().deliver()).toMatchObject({ kind: 'done' });
  });

  it('may change with a generation', async () => {
    const job = await createJob({ operator: clock() });
    putAt(job, 'ann', 5);
    await job.createEnvironment().deliver();
    const item = (await job.control.readJob(jobName))!;
    await job.control.replaceJob(
      { ...item, generation: 2, version: item.version + 1 },
      item.version,
    );
    const changed = job.createEnvironment({ operator: clock({ outOfOrdernessMs: 3 }) });
    expect(await changed.deliver()).toMatchObject({ kind: 'done' });
    expect(job.progress()).toMatchObject({ generation: 1, watermarks: { event: 5 } });
    const rows = job.control.progressRows().map(({ progress }) => progress);
    expect(rows).toMatchObject([{}, { generation: 2, watermarks: { event: 2 } }]);
  });

  it('are the parents’, for a child that would be begun with others', async () => {
    const job = await createJob({ operator: clock(), settings: { drainAfterMs: 0 } });
    putAt(job, 'ann', 5);
    await job.createEnvironment().deliver();
    const children = job.stream.split(firstShard);
    putAt(job, 'ann', 6);
    const shardId = children.find((id) => job.records(id).length > 0)!;
    // The parent was read to its end by the old code.
    const other = children.find((id) => id !== shardId)!;
    putAt(job, 'dan', 6);
    await job.createEnvironment().deliver(job.records(other), { shardId: other });
    expect(job.progress()).toMatchObject({ isFinished: true });
    const changed = job.createEnvironment({ operator: clock({ outOfOrdernessMs: 1 }) });
    const outcome = await changed.deliver(job.records(shardId), { shardId });
    expect(outcome).toMatchObject({
      kind: 'handBack',
      reason: expect.stringContaining(`shard ${firstShard} was begun in generation 1`) as string,
    });
    expect(job.progress(shardId)).toBeUndefined();
  });

  it('are refused where the version is no whole number from 1', () => {
    for (const version of [0, -1, 1.5, Number.NaN]) {
      expect(() => clock({ outOfOrdernessMs: 0, version })).toThrow(
        `operator clock: eventTime.version is ${version}, expected a whole number from 1`,
      );
    }
  });
});

describe('what a child has inherited of watermarks', () => {
  it('is dropped once its own have passed it', async () => {
    const job = await createJob({ operator: clock(), settings: { drainAfterMs: 0 } });
    putAt(job, 'ann', 50);
    const children = job.stream.split(firstShard);
    putAt(job, 'ann', 40);
    const shardId = children.find((id) => job.records(id).length > 0)!;
    const environment = job.createEnvironment();
    await environment.deliver(job.records(shardId), { shardId });
    expect(job.statesOf('ann')).toEqual({ seen: 50 });
    expect(job.progress(shardId)?.floors).toHaveLength(1);
    putAt(job, 'ann', 49);
    await environment.deliver(job.records(shardId), { shardId });
    expect(job.progress(shardId)?.floors).toHaveLength(1);
    putAt(job, 'ann', 50);
    await environment.deliver(job.records(shardId), { shardId });
    expect(job.progress(shardId)?.floors).toEqual([]);
    putAt(job, 'ann', 51);
    await job.createEnvironment().deliver(job.records(shardId), { shardId });
    expect(job.statesOf('ann')).toEqual({ seen: 50 });
  });
});
