import { describe, expect, it } from 'vitest';
import { firstShard, jobName } from '../job-fixture.ts';
import { half, put, straight, visible } from './two-halves.ts';

describe('a job whose tables are lost', () => {
  it('is made again from S3 and the stream alone', async () => {
    const world = await half((one) => one.checkpoint());
    const { job, deliver, object } = world;
    job.loseTables();
    put(job, 41, 50);
    expect(await deliver(firstShard)).toMatchObject({ kind: 'handBack' });
    await expect(world.restore(object)).rejects.toThrow('if its tables were lost');
    const report = await world.restore(object, { areTablesLost: true });
    expect(report).toMatchObject({ generation: 2, undo: undefined, replayed: 30 });
    expect(visible(job)).toEqual(await straight(50));
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
    put(job, 51, 60);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(60));
  });
});
