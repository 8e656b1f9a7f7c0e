import { describe, expect, it } from 'vitest';
import { aggregate } from '../core/aggregate-fixture.ts';
import { createJob, deliverUntilDone, encodeJson } from './job-fixture.ts';
import { tally } from './tally.ts';

const add = (user: string, amount: number) => ({
  partitionKey: user,
  data: encodeJson({ user, amount }),
});

describe('an aggregated record', () => {
  it('condemns each of its records for its own throws only', async () => {
    let throwsLeft = 1;
    const operator = tally(({ amount }) => {
      if (amount === 13) throw new Error('13 is always bad');
      if (amount !== 14 || throwsLeft === 0) return;
      throwsLeft -= 1;
      throw new Error('14 is bad once');
    });
    const job = await createJob({ operator });
    job.putRaw('x', aggregate([add('ann', 13), add('ann', 14)]));
    await deliverUntilDone(job.createEnvironment(), job.records());
    expect(job.deadLetters().map(({ message }) => message)).toEqual(['13 is always bad']);
    expect(job.totals()).toEqual({ ann: 14 });
  });

  it.each(['', 'k'.repeat(257), 'k'.repeat(2000)])(
    'loses a record whose key no stream and no table could have',
    async (key) => {
      const job = await createJob();
      job.putRaw('x', aggregate([add(key, 1), add('ann', 2)]));
      await job.createEnvironment().deliver();
      expect(job.deadLetters()).toHaveLength(1);
      // DynamoDB takes sort keys of 1 to 1,024 bytes.
      expect(job.state.rows().map(({ item }) => item.key)).not.toContain(key);
    },
  );
});
