import { describe, expect, it } from 'vitest';
import { runStep } from '../../../shared/composition/aws/step-handler.ts';
import type { PlacedRow } from '../../../shared/ports/sink.ts';
import { firstShard, jobName } from '../../unit/runtime/job-fixture.ts';
import { tally } from '../../unit/runtime/tally.ts';
import { half, put, straight, visible } from '../../unit/runtime/restore/two-halves.ts';
import { errorNamed } from '../embedded/step-functions/memory-machine.ts';
import { runWorkflow } from './memory-workflow.ts';

const halfway = () => half((world) => world.checkpoint());

const orderOf = (manifest: string) => ({
  ...{ restore: 'run', manifest, dryRun: false, fromBackup: false },
  ...{ allowNonRestoredState: false, acceptsGaps: false, areTablesLost: false },
});

describe('the restore workflow', () => {
  it('brings a job back to a checkpoint and on to where it was held', async () => {
    const { job, ports, object, deliver } = await halfway();
    const before = visible(job);
    const { status, output, cause } = await runWorkflow('restore', ports, { manifest: object });
    expect(cause).toBeUndefined();
    expect(status).toBe('SUCCEEDED');
    expect(output).toMatchObject({ generation: 2, keys: 3, replayed: 20, unswept: [] });
    expect(visible(job)).toEqual(before);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
    expect(await job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
  });

  it.each(['before', 'after'] as const)(
    'succeeds wherever its function dies: %s any call',
    async (moment) => {
      const later = await straight(50);
      for (let diesAt = 1; ; diesAt += 1) {
        const { job, ports, object, deliver } = await halfway();
        const place = `died ${moment} call ${diesAt}`;
        const mishaps = { diesAt, moment };
        const made = await runWorkflow('restore', ports, { manifest: object }, mishaps);
        expect(made.cause, place).toBeUndefined();
        expect(made.output, place).toMatchObject({ generation: 2, keys: 3 });
        put(job, 41, 50);
        await deliver(firstShard);
        expect(visible(job), place).toEqual(later);
        const registry = await job.control.readRegistry(jobName);
        expect(registry, place).toMatchObject({ pins: [], pending: [] });
        if (!made.hasDied) {
          expect(diesAt).toBeGreaterThan(80);
          break;
        }
      }
    },
  );

  it('goes on with what a call had no time for', async () => {
    const { job, ports, object } = await halfway();
    const before = visible(job);
    let calls = 0;
    // Time for a few things in each call.
    const remainingMs = (): number => ((calls += 1) % 4 === 0 ? 0 : 240_000);
    const made = await runWorkflow('restore', ports, { manifest: object }, { remainingMs });
    expect(made.cause).toBeUndefined();
    expect(made.output).toMatchObject({ generation: 2, keys: 3, replayed: 20 });
    expect(made.steps.length).toBeGreaterThan(25);
    expect(visible(job)).toEqual(before);
  });

  const stepsBeforeFlip = [
    'restore.begin-base',
    'restore.make-base',
    'restore.take-hold',
    'restore.fence',
    'restore.write-undo',
    'restore.reserve',
    'restore.load',
    'restore.compare',
    'restore.flip',
  ];

  it.each(stepsBeforeFlip)('gives up where %s cannot be done, and the job goes on', async (bad) => {
    const { job, ports, object, deliver } = await halfway();
    const { status, cause, steps } = await runWorkflow(
      'restore',
      ports,
      { manifest: object },
      {
        onStep(step) {
          if (step === bad) throw errorNamed('Holdfast.corrupt');
        },
      },
    );
    expect(status).toBe('FAILED');
    expect(cause).toMatch(
      /^restore run has failed before it changed anything; the job goes on as before: it is Holdfast.corrupt/,
    );
    // Parts are begun side by side.
    expect(steps.filter((step) => step === bad).length).toBeLessThanOrEqual(2);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 1, hold: undefined });
    expect(await job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
  });

  it.each(['restore.plan-replay', 'restore.replay', 'restore.plan-outputs', 'restore.release'])(
    'says that it has flipped where %s cannot be done, and goes on under its name',
    async (bad) => {
      const { job, ports, object } = await halfway();
      const before = visible(job);
      const onStep = (step: string): void => {
        if (step === bad) throw errorNamed('Holdfast.invalid');
      };
      const input = { manifest: object, restore: 'back' };
      const failed = await runWorkflow('restore', ports, input, { onStep });
      expect(failed.status).toBe('FAILED');
      expect(failed.cause).toMatch(
        /restore back has brought the job to generation 2 and has not finished.*Start it again under the same name/,
      );
      expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2 });
      const second = await runWorkflow('restore', ports, input);
      expect(second.output).toMatchObject({ restore: 'back', generation: 2 });
      expect(second.steps).not.toContain('restore.load');
      expect(visible(job)).toEqual(before);
      expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
    },
  );

  it('goes forward where the flip turns out to be done', async () => {
    const { job, ports, object } = await halfway();
    const before = visible(job);
    const onDone = (step: string): void => {
      if (step === 'restore.flip') throw errorNamed('Holdfast.invalid');
    };
    const made = await runWorkflow('restore', ports, { manifest: object }, { onDone });
    expect(made.steps).toContain('restore.give-up');
    expect(made.output).toMatchObject({ generation: 2, keys: 3, replayed: 20 });
    expect(visible(job)).toEqual(before);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 2, hold: undefined });
  });

  it('brings back what an earlier restore had abandoned', async () => {
    const { job, ports, object, deploy } = await halfway();
    const before = visible(job);
    const original = job.operator;
    // Keeps nothing of whoever comes after the cut.
    deploy(
      tally((event) => {
        if (event.amount > 20 && event.user !== 'ann') throw new Error('not any more');
      }),
    );
    const first = await runWorkflow('restore', ports, { manifest: object, restore: 'forth' });
    expect(first.output['removedRows']).toBeGreaterThan(0);
    expect(visible(job)).not.toEqual(before);
    deploy(original);
    const undo = String(first.output['undo']);
    let lost = 2;
    const second = await runWorkflow(
      'restore',
      ports,
      { manifest: undo, restore: 'back' },
      {
        onStep(step) {
          if (step !== 'restore.bring-back' || (lost -= 1) < 0) return;
          throw errorNamed('Sandbox.Timedout');
        },
      },
    );
    expect(second.output).toMatchObject({ generation: 3, replayed: 0 });
    expect(lost).toBeLessThan(0);
    expect(visible(job)).toEqual(before);
  });

  it('makes a job again whose tables are lost, wherever its function dies', async () => {
    const expected = await straight(40);
    for (let diesAt = 1; ; diesAt += 5) {
      const { job, ports, object } = await halfway();
      job.loseTables();
      const input = { manifest: object, areTablesLost: true };
      const made = await runWorkflow('restore', ports, input, { diesAt, moment: 'after' });
      expect(made.cause, `died after call ${diesAt}`).toBeUndefined();
      expect(made.output).toMatchObject({ generation: 2, undo: '' });
      expect(visible(job), `died after call ${diesAt}`).toEqual(expected);
      if (!made.hasDied) break;
    }
  });

  it('writes views again whose tables were lost, as the manifest has them', async () => {
    const { job, ports, object } = await halfway();
    await runWorkflow('restore', ports, { manifest: object });
    const { totals } = job.tables;
    const rows: PlacedRow[] = [];
    for await (const row of totals.scan()) rows.push(row);
    await totals.remove(rows);
    expect(job.totals()).toEqual({});
    const part = {
      ...{ kind: 'view', operator: job.operator.id, sink: 'totals', segment: null },
      ...{ from: 0, to: 0, isDone: false, rounds: 0 },
    };
    const event = { step: 'restore.bring-back', order: orderOf(object), generation: 2, part };
    const done = await runStep(ports, event, { remainingMs: () => 60_000 });
    expect(done).toMatchObject({ isDone: true, rounds: 1 });
    expect(job.totals()).toEqual((await straight(20)).totals);
  });

  it('plans to write views again, where the tables were lost alone', async () => {
    for (const areTablesLost of [false, true]) {
      const { job, ports, object } = await halfway();
      if (areTablesLost) job.loseTables();
      let kinds: unknown;
      await runWorkflow(
        'restore',
        ports,
        { manifest: object, areTablesLost },
        {
          async onStep(step) {
            if (step !== 'restore.release') return;
            const event = { step: 'restore.plan-outputs', order: orderOf(object), generation: 2 };
            const { parts } = (await runStep(ports, event, { remainingMs: () => 60_000 })) as {
              parts: { kind: string; sink: string }[];
            };
            kinds = parts.filter(({ kind }) => kind === 'view').map(({ sink }) => sink);
          },
        },
      );
      expect(kinds).toEqual(areTablesLost ? ports.sinks.map(({ name }) => name) : []);
    }
  });

  it('refuses with everything that stands against it, and changes nothing', async () => {
    const { job, ports, object, deploy } = await halfway();
    const was = await job.control.readJob(jobName);
    deploy({ ...job.operator, id: 'other' });
    const { cause, steps } = await runWorkflow('restore', ports, { manifest: object });
    expect(cause).toContain('allow non-restored state');
    expect(steps).not.toContain('restore.take-hold');
    expect(await job.control.readJob(jobName)).toEqual(was);
  });

  it.each([
    ['a field that nobody knows', { manifest: 'm', force: true }, 'force'],
    ['no manifest', {}, 'manifest'],
  ])('refuses an order with %s', async (_, input, named) => {
    const { ports } = await halfway();
    const { cause } = await runWorkflow('restore', ports, input);
    expect(cause).toContain(named);
  });

  it('does not let a hold in that is late', async () => {
    const { job, ports, object } = await halfway();
    const late: (() => Promise<unknown>)[] = [];
    // The write that takes the hold is under way while its function is given up.
    const control = new Proxy(ports.control, {
      get: (target, name, receiver) =>
        name !== 'replaceJob' || late.length > 0
          ? (Reflect.get(target, name, receiver) as unknown)
          : (...args: Parameters<typeof job.control.replaceJob>) => {
              late.push(() => target.replaceJob(...args));
              throw errorNamed('Holdfast.invalid');
            },
    });
    const { status } = await runWorkflow('restore', { ...ports, control }, { manifest: object });
    expect(status).toBe('FAILED');
    expect(await late[0]!()).toBe('conflict');
    expect(await job.control.readJob(jobName)).toMatchObject({ hold: undefined });
  });
});
