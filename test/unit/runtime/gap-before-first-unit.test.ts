import { expect, it } from 'vitest';
import { createJob, firstShard } from './job-fixture.ts';

it('reports a gap where records expired after the birth of the channel and before its first unit (R7)', async () => {
  const job = await createJob();
  job.put('ann', { amount: 1 });
  await job.createEnvironment().deliver(job.records(), { remainingMs: () => 0 });
  expect(job.progress()).toMatchObject({ position: undefined });
  job.system.advance(30 * 3_600_000);
  job.stream.trim(firstShard);
  job.put('ann', { amount: 2 });
  await expect(job.createEnvironment().deliver(job.records())).rejects.toThrow(/may be lost/);
});
