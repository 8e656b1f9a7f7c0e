import { describe, expect, it } from 'vitest';
import { createJob, jobName, type Job } from './job-fixture.ts';

const [lowShard, highShard] = ['shardId-000000000000', 'shardId-000000000001'];

const beginGeneration = async (job: Job, generation: number): Promise<void> => {
  const item = (await job.control.readJob(jobName))!;
  await job.control.replaceJob({ ...item, generation, version: item.version + 1 }, item.version);
};

describe('an environment that has worked in an older generation', () => {
  it('opens a new channel in the present one', async () => {
    const job = await createJob({ shards: 2 });
    // "ann" belongs to the lower shard, "dan" to the upper one.
    job.put('ann', { amount: 1 });
    job.put('dan', { amount: 10 });
    const environment = job.createEnvironment();
    await environment.deliver(job.records(lowShard), { shardId: lowShard });
    await beginGeneration(job, 2);
    const outcome = await environment.deliver(job.records(highShard), { shardId: highShard });
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(job.progress(highShard)).toMatchObject({ generation: 2 });
  });
});

describe('a generation', () => {
  it('begins with no progress and no state of the one before', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    await job.createEnvironment().deliver();
    await beginGeneration(job, 2);
    expect(await job.createEnvironment().deliver()).toMatchObject({ counters: { records: 1 } });
    expect(job.state.rows().map(({ scope }) => scope.generation)).toEqual([1, 2]);
    expect(job.control.progressRows().map(({ progress }) => progress.generation)).toEqual([1, 2]);
  });

  it('is carried by every row', async () => {
    const job = await createJob();
    await beginGeneration(job, 3);
    job.put('ann', { amount: 1 });
    await job.createEnvironment().deliver();
    expect(job.sourcesOfEntries()).toEqual([
      {
        job: jobName,
        operator: 'tally',
        generation: 3,
        channel: `tally/events@${job.stream.incarnation.createdAtMs}/shardId-000000000000`,
        origin: `events@${job.stream.incarnation.createdAtMs}`,
      },
    ]);
  });
});
