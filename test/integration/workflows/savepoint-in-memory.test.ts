import { describe, expect, it } from 'vitest';
import { runStep } from '../../../shared/composition/aws/step-handler.ts';
import { firstShard, jobName } from '../../unit/runtime/job-fixture.ts';
import { createRestorableJob } from '../../unit/runtime/restore/restorable-job.ts';
import { put, straight, visible } from '../../unit/runtime/restore/two-halves.ts';
import { errorNamed } from '../embedded/step-functions/memory-machine.ts';
import { runWorkflow } from './memory-workflow.ts';

const begun = async () => {
  const world = await createRestorableJob();
  put(world.job, 1, 20);
  await world.deliver(firstShard);
  return world;
};

const minute = { remainingMs: () => 60_000 };

describe('the savepoint workflow', () => {
  it('makes a savepoint from which the job can be restored', async () => {
    const { job, ports, deliver } = await begun();
    const input = { label: 'daily', note: 'a note', tags: { git: 'abc' } };
    const { status, output } = await runWorkflow('savepoint', ports, input);
    expect(status).toBe('SUCCEEDED');
    expect(output).toMatchObject({ label: 'daily', generation: 1, keys: 3 });
    expect(await job.control.readRegistry(jobName)).toMatchObject({ pending: [] });
    put(job, 21, 40);
    await deliver(firstShard);
    const before = visible(job);
    const manifest = String(output['object']);
    const restored = await runWorkflow('restore', ports, { manifest });
    expect(restored.output).toMatchObject({ generation: 2, replayed: 20 });
    expect(visible(job)).toEqual(before);
  });

  it.each([false, true])(
    'succeeds wherever its function dies, stopping the job: %s',
    async (stops) => {
      for (let diesAt = 1; ; diesAt += 1) {
        const { job, ports, deliver } = await begun();
        const place = `died at call ${diesAt}`;
        const made = await runWorkflow(
          'savepoint',
          ports,
          { label: 'daily', stops },
          { diesAt, moment: diesAt % 2 === 0 ? 'before' : 'after' },
        );
        expect(made.cause, place).toBeUndefined();
        expect(made.output, place).toMatchObject({ label: 'daily', keys: 3 });
        expect(await job.control.readRegistry(jobName), place).toMatchObject({ pending: [] });
        put(job, 21, 40);
        await deliver(firstShard);
        expect(visible(job), place).toEqual(await straight(stops ? 20 : 40));
        if (stops) await runStep(ports, { step: 'job.resume' }, minute);
        await deliver(firstShard);
        expect(visible(job), place).toEqual(await straight(40));
        if (!made.hasDied) break;
      }
    },
  );

  it.each([
    'savepoint.take-hold',
    'savepoint.fence',
    'savepoint.cut',
    'savepoint.merge',
    'savepoint.verify',
    'savepoint.complete',
    'savepoint.stop',
  ])('lets the job go on where %s cannot be done', async (bad) => {
    const { job, ports, deliver } = await begun();
    const made = await runWorkflow(
      'savepoint',
      ports,
      { label: 'daily', stops: true },
      {
        onStep(step) {
          if (step === bad) throw errorNamed('Holdfast.corrupt');
        },
      },
    );
    expect(made).toMatchObject({ status: 'FAILED', cause: 'it is Holdfast.corrupt' });
    expect(await job.control.readJob(jobName)).toMatchObject({ hold: undefined });
    expect(await job.control.readRegistry(jobName)).toMatchObject({ pending: [] });
    put(job, 21, 40);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(40));
  });

  it('goes on with what a call had no time for', async () => {
    const { ports } = await begun();
    let calls = 0;
    const remainingMs = (): number => ((calls += 1) % 4 === 0 ? 0 : 240_000);
    const made = await runWorkflow('savepoint', ports, { label: 'daily' }, { remainingMs });
    expect(made.output).toMatchObject({ label: 'daily', keys: 3 });
  });

  it('tells who makes one already, and waits for nobody', async () => {
    const { ports } = await begun();
    let second: string | undefined;
    const first = await runWorkflow(
      'savepoint',
      ports,
      { label: 'daily' },
      {
        async onStep(step) {
          if (step !== 'savepoint.verify') return;
          const request = { label: 'other' };
          const event = { step: 'savepoint.register', request, execution: 'other' };
          second = await runStep(ports, event, minute).then(
            () => 'made',
            (error: unknown) => String(error),
          );
        },
      },
    );
    expect(first.status).toBe('SUCCEEDED');
    expect(second).toMatch(/Holdfast.conflict: savepoint daily .* is being made by run since/);
  });

  it.each([
    ['a name that no object can have', { label: '../x' }, 'cannot name a savepoint'],
    ['no name', {}, 'label'],
    ['a field that nobody knows', { label: 'a', stop: true }, 'stop'],
  ])('refuses an order with %s', async (_, input, named) => {
    const { ports } = await begun();
    expect((await runWorkflow('savepoint', ports, input)).cause).toContain(named);
  });
});
