import { describe, expect, it } from 'vitest';
import { channelId } from '../../../shared/core/channel.ts';
import { decodeSegment, type Segment } from '../../../shared/core/segment.ts';
import { segmentName } from '../../../shared/runtime/object-names.ts';
import { createJob, jobName, type Job } from './job-fixture.ts';
import { createMortalEnvironment } from './mortal-environment.ts';

const headOf = (job: Job): Segment => {
  const { progress, channel } = job.control.progressRows()[0]!;
  const name = segmentName(jobName, 1, channelId(channel), progress.head!);
  return decodeSegment(job.objects.objects().get(name)!, name);
};

/** A job in which an attempt at all records died after its states were written, before any output. */
const jobWithDeadAttempt = async (): Promise<Job> => {
  const job = await createJob();
  job.put('ann', { amount: 1 });
  job.put('bob', { amount: 10 });
  job.put('ann', { amount: 2 });
  job.put('bob', { amount: 20 });
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
  expect(await dead.deliver(job.records())).toBe('died');
  expect(job.entriesOf('ann')).toEqual([]);
  return job;
};

const at = (job: Job, record: number) => ({ sequence: job.records()[record]!.sequence, sub: 0 });

describe('keys that a dead attempt with a longer cut has left ahead', () => {
  it('are named by the segment, and the greatest of their positions by progress', async () => {
    const job = await jobWithDeadAttempt();
    await job.createEnvironment().deliver(job.records().slice(0, 1));
    expect(job.progress()).toMatchObject({ position: at(job, 0), aheadMax: at(job, 2) });
    expect(headOf(job).header.ahead).toEqual([{ key: 'ann', position: at(job, 2) }]);
    await job.createEnvironment().deliver(job.records().slice(0, 2));
    expect(job.progress()).toMatchObject({ position: at(job, 1), aheadMax: at(job, 3) });
    expect(headOf(job).header.ahead).toEqual([
      { key: 'bob', position: at(job, 3) },
      { key: 'ann', position: at(job, 2) },
    ]);
  });

  it('publish up to the cut and nothing past it', async () => {
    const job = await jobWithDeadAttempt();
    await job.createEnvironment().deliver(job.records().slice(0, 1));
    expect([job.entriesOf('ann'), job.entriesOf('bob')]).toEqual([[1], []]);
    await job.createEnvironment().deliver(job.records().slice(0, 3));
    expect([job.entriesOf('ann'), job.entriesOf('bob')]).toEqual([[1, 3], [10]]);
  });

  it('are touched by every unit until the cut has passed them, with or without records of theirs', async () => {
    const job = await jobWithDeadAttempt();
    await job.createEnvironment().deliver(job.records().slice(0, 2));
    // A unit of the record at which "ann" stands: "bob" is still ahead.
    await job.createEnvironment().deliver(job.records().slice(2, 3));
    expect(
      headOf(job)
        .items.map(({ key }) => key)
        .toSorted(),
    ).toEqual(['ann', 'bob']);
    expect(headOf(job).header.ahead).toEqual([{ key: 'bob', position: at(job, 3) }]);
  });

  it('are forgotten once the cut has passed them: the point is exact again', async () => {
    const job = await jobWithDeadAttempt();
    await job.createEnvironment().deliver(job.records().slice(0, 2));
    await job.createEnvironment().deliver(job.records());
    expect(job.progress()).toMatchObject({ position: at(job, 3), aheadMax: undefined });
    expect(headOf(job).header.ahead).toEqual([]);
    expect([job.entriesOf('ann'), job.entriesOf('bob')]).toEqual([
      [1, 3],
      [10, 30],
    ]);
    expect(job.totals()).toEqual({ ann: 3, bob: 30 });
  });

  it('are carried by an environment that stays warm, too', async () => {
    const job = await jobWithDeadAttempt();
    const environment = job.createEnvironment();
    const aheadKeys: string[][] = [];
    for (let record = 0; record < 4; record += 1) {
      await environment.deliver(job.records().slice(record, record + 1));
      aheadKeys.push(headOf(job).header.ahead.map(({ key }) => key));
    }
    expect(aheadKeys).toEqual([['ann'], ['bob', 'ann'], ['bob'], []]);
    expect([job.entriesOf('ann'), job.entriesOf('bob')]).toEqual([
      [1, 3],
      [10, 30],
    ]);
    expect(job.progress()?.aheadMax).toBeUndefined();
  });

  it('keep the outputs past the cut in the changelog', async () => {
    const job = await jobWithDeadAttempt();
    await job.createEnvironment().deliver(job.records().slice(0, 1));
    const [ann] = headOf(job).items;
    expect(ann).toMatchObject({ key: 'ann', position: at(job, 2) });
    expect(ann!.emissions).toBeDefined();
  });
});
