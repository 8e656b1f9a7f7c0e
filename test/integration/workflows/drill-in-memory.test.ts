import { describe, expect, it } from 'vitest';
import { firstShard, jobName, keyGroups, type Job } from '../../unit/runtime/job-fixture.ts';
import { half, put, straight, visible } from '../../unit/runtime/restore/two-halves.ts';
import { errorNamed } from '../embedded/step-functions/memory-machine.ts';
import { runWorkflow } from './memory-workflow.ts';

const halfway = () => half((world) => world.checkpoint());

const keysOf = async (job: Job, generation: number): Promise<string[]> => {
  const scope = { job: jobName, generation, operator: job.operator.id };
  const keys: string[] = [];
  for (let group = 0; group < keyGroups; group += 1) {
    for await (const { key } of job.state.scan(scope, group)) keys.push(key);
  }
  return keys.sort();
};

const expectAsBefore = async (job: Job): Promise<void> => {
  expect(await keysOf(job, 2)).toEqual([]);
  expect(await job.control.listChannels(jobName, 2)).toEqual([]);
  expect(await job.control.readJob(jobName)).toMatchObject({ generation: 1, hold: undefined });
  expect(await job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
};

describe('a drill', () => {
  it('loads and compares, tells how fast, and leaves nothing but a burnt number', async () => {
    const { job, ports, object, deliver } = await halfway();
    let loaded: string[] = [];
    const onStep = async (step: string): Promise<void> => {
      if (step === 'restore.compare') loaded = await keysOf(job, 2);
    };
    const input = { manifest: object, dryRun: true };
    const { output, cause, steps } = await runWorkflow('restore', ports, input, { onStep });
    expect(cause).toBeUndefined();
    expect(output).toMatchObject({ drill: 'run', generation: 2, keys: 3 });
    expect(output['keysPerSecond']).toBeGreaterThan(0);
    expect(loaded).toEqual(await keysOf(job, 1));
    expect(steps).not.toContain('restore.take-hold');
    await expectAsBefore(job);
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
    const restore = { manifest: object, restore: 'r' };
    expect((await runWorkflow('restore', ports, restore)).output).toMatchObject({ generation: 3 });
  });

  it('leaves nothing wherever its function dies', async () => {
    for (let diesAt = 1; ; diesAt += 3) {
      const { job, ports, object } = await halfway();
      const input = { manifest: object, dryRun: true };
      const drill = await runWorkflow('restore', ports, input, { diesAt, moment: 'after' });
      expect(drill.output, `died after call ${diesAt}`).toMatchObject({ generation: 2, keys: 3 });
      await expectAsBefore(job);
      if (!drill.hasDied) break;
    }
  });

  it.each(['restore.reserve', 'restore.compare', 'drill.finish'])(
    'leaves nothing where %s fails',
    async (bad) => {
      const { job, ports, object } = await halfway();
      const was = await job.control.readJob(jobName);
      const input = { manifest: object, dryRun: true };
      const { status, cause } = await runWorkflow('restore', ports, input, {
        onStep(step) {
          if (step === bad) throw errorNamed('Holdfast.corrupt');
        },
      });
      expect(status).toBe('FAILED');
      expect(cause).toBe('drill run has failed: it is Holdfast.corrupt');
      expect(await job.control.readJob(jobName)).toEqual(was);
      await expectAsBefore(job);
    },
  );

  it('finds a key that was not loaded as it should be', async () => {
    const { job, ports, object } = await halfway();
    const [key] = await keysOf(job, 1);
    const scope = { job: jobName, generation: 2, operator: job.operator.id };
    const { status, cause } = await runWorkflow(
      'restore',
      ports,
      { manifest: object, dryRun: true },
      {
        async onStep(step) {
          if (step !== 'restore.compare') return;
          for (let keyGroup = 0; keyGroup < keyGroups; keyGroup += 1) {
            await job.state.remove(scope, [{ key: key!, keyGroup }]);
          }
        },
      },
    );
    expect(status).toBe('FAILED');
    expect(cause).toContain(`key ${JSON.stringify(key)} was not loaded`);
    await expectAsBefore(job);
  });
});
