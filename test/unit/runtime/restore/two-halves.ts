import { firstShard, type Job } from '../job-fixture.ts';
import { createRestorableJob, type RestorableJob } from './restorable-job.ts';

/** Everything that a reader of the sinks sees, without the generation that wrote it. */
export const visible = (job: Job) => ({
  entries: job.tables.entries.rows().map(({ key, id, value }) => ({ key, id, value })),
  totals: job.totals(),
  deadLetters: job.deadLetters().map(({ key, reason, position }) => ({ key, reason, position })),
});

const users = ['ann', 'bob', 'cid'];

export const userOf = (amount: number): string => users[amount % users.length]!;

export const put = (job: Job, from: number, to: number): void => {
  for (let amount = from; amount <= to; amount += 1) {
    const user = userOf(amount);
    if (amount % 7 === 0) job.putRaw(user, '{');
    else
      job.put(user, {
        ...{ amount, stateCharacters: 1 },
        kind: amount % 11 === 0 ? 'close' : 'add',
      });
  }
};

/** The same records in one generation. */
export const straight = async (to: number) => {
  const { job, deliver } = await createRestorableJob();
  put(job, 1, to);
  await deliver(firstShard);
  return visible(job);
};

/** Twenty records, a manifest, and twenty more. */
export const half = async (
  make: (world: RestorableJob) => Promise<{ readonly object: string }>,
) => {
  const world = await createRestorableJob();
  put(world.job, 1, 20);
  await world.deliver(firstShard);
  const { object } = await make(world);
  put(world.job, 21, 40);
  await world.deliver(firstShard);
  return { ...world, object };
};
