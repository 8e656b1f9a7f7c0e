import { describe, expect, it } from 'vitest';
import { firstShard, jobName } from '../../unit/runtime/job-fixture.ts';
import { halfway, tellRowsAfter } from '../../unit/runtime/restore/clone-world.ts';
import { put, straight, visible } from '../../unit/runtime/restore/two-halves.ts';
import { errorNamed } from '../embedded/step-functions/memory-machine.ts';
import { runWorkflow } from './memory-workflow.ts';

const begin = () => halfway((one) => one.checkpoint());

describe('the workflow of a clone', () => {
  it('succeeds wherever its function dies, and leaves nothing behind', async () => {
    const expected = await tellRowsAfter(20, 50);
    const undisturbed = await straight(50);
    // Each call is a place to die at in `dying-clone.test.ts`; here it is the step of each that is tried again.
    for (let diesAt = 1; ; diesAt += 5) {
      const { source, twin, object } = await begin();
      const place = `died after call ${diesAt}`;
      const input = { manifest: object, clones: true };
      const mishaps = { diesAt, moment: 'after' } as const;
      const made = await runWorkflow('restore', twin.ports, input, mishaps);
      expect(made.cause, place).toBeUndefined();
      expect(made.output, place).toMatchObject({ generation: 2, keys: 3, undo: '' });
      put(source.job, 41, 50);
      await source.deliver(firstShard);
      await twin.deliver(firstShard);
      expect(visible(source.job), place).toEqual(undisturbed);
      expect(visible(twin.job), place).toEqual(expected);
      for (const [job, name] of [
        [source.job, jobName],
        [twin.job, 'twin'],
      ] as const) {
        const registry = await job.control.readRegistry(name);
        expect(registry, place).toMatchObject({ pins: [], pending: [] });
      }
      if (!made.hasDied) {
        expect(diesAt).toBeGreaterThan(100);
        break;
      }
    }
  });

  it.each([
    'clone.begin',
    'clone.copy',
    'clone.finish',
    'restore.begin-base',
    'restore.take-hold',
    'restore.fence',
    'restore.reserve',
    'restore.load',
    'restore.compare',
    'restore.flip',
  ])('gives up where %s cannot be done: the job stays closed, and is cloned then', async (bad) => {
    const { source, twin, object } = await begin();
    const born = await twin.job.control.readJob('twin');
    const input = { manifest: object, clones: true };
    const onStep = (step: string): void => {
      if (step === bad) throw errorNamed('Holdfast.corrupt');
    };
    const failed = await runWorkflow(
      'restore',
      twin.ports,
      { ...input, restore: 'c1' },
      { onStep },
    );
    expect(failed.cause).toMatch(
      /^restore c1 has failed; the job stays closed until it is cloned: it is Holdfast.corrupt/,
    );
    const { hold, generation } = (await twin.job.control.readJob('twin'))!;
    expect({ hold, generation }).toEqual({ hold: born!.hold, generation: 0 });
    expect(await twin.deliver(firstShard)).toMatchObject({ kind: 'handBack' });
    expect(visible(twin.job)).toEqual({ entries: [], totals: {}, deadLetters: [] });
    expect(await source.job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
    const made = await runWorkflow('restore', twin.ports, { ...input, restore: 'c1' });
    expect(made.cause).toBeUndefined();
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });

  it('goes on under its name where it has flipped and not finished', async () => {
    const { twin, object } = await begin();
    const input = { manifest: object, clones: true, restore: 'c1' };
    const onStep = (step: string): void => {
      if (step === 'restore.release') throw errorNamed('Holdfast.invalid');
    };
    const failed = await runWorkflow('restore', twin.ports, input, { onStep });
    expect(failed.cause).toContain('Start it again under the same name');
    const second = await runWorkflow('restore', twin.ports, input);
    expect(second.output).toMatchObject({ restore: 'c1', generation: 2 });
    expect(second.steps).not.toContain('clone.begin');
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });

  it('goes on with what a call had no time for', async () => {
    const { twin, object } = await begin();
    let calls = 0;
    const remainingMs = (): number => ((calls += 1) % 4 === 0 ? 0 : 240_000);
    const input = { manifest: object, clones: true };
    const made = await runWorkflow('restore', twin.ports, input, { remainingMs });
    expect(made.cause).toBeUndefined();
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });

  it.each(['dryRun', 'areTablesLost'])('refuses a clone with %s', async (option) => {
    const { twin, object } = await begin();
    const input = { manifest: object, clones: true, [option]: true };
    const { cause, steps } = await runWorkflow('restore', twin.ports, input);
    expect(cause).toContain('a clone is neither drilled nor made again from its bucket');
    expect(steps).not.toContain('clone.begin');
  });

  it('refuses before anything is changed, here and there', async () => {
    const { source, twin, object } = await begin();
    twin.deploy({ ...twin.job.operator, id: 'other' });
    const before = [...twin.job.objects.objects().keys()];
    const input = { manifest: object, clones: true };
    const { cause, steps } = await runWorkflow('restore', twin.ports, input);
    expect(cause).toContain('allow non-restored state');
    expect(steps).not.toContain('clone.begin');
    expect([...twin.job.objects.objects().keys()]).toEqual(before);
    expect(await twin.job.control.readRegistry('twin')).toBeUndefined();
    expect(await source.job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
  });
});
