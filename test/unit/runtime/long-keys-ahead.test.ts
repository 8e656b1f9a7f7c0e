import { expect, it } from 'vitest';
import { createJob } from './job-fixture.ts';
import { createMortalEnvironment } from './mortal-environment.ts';

/** 200 Unicode characters, as Kinesis counts (at most 256), and 400 UTF-16 units, as JavaScript does. */
const emojiKey = '😀'.repeat(200);

it('keeps a key of many astral characters ahead until the cut has passed it (P4)', async () => {
  const job = await createJob();
  job.put(emojiKey, { amount: 1 });
  job.put('ann', { amount: 1 });
  job.put(emojiKey, { amount: 2 });
  const dead = createMortalEnvironment(job, {
    state: {
      ...job.state,
      async write(scope, writes) {
        const outcomes = await job.state.write(scope, writes);
        dead.die();
        return outcomes;
      },
    },
  });
  await dead.deliver(job.records());
  const last = { sequence: job.records()[2]!.sequence, sub: 0 };
  await job.createEnvironment().deliver(job.records().slice(0, 1));
  expect(job.progress()).toMatchObject({ aheadMax: last });
  await job.createEnvironment().deliver(job.records().slice(0, 2));
  // The key is still past the cut: the point is not exact, and the segment has to name the key.
  expect(job.progress()).toMatchObject({ aheadMax: last });
});
