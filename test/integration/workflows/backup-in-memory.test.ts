import { describe, expect, it } from 'vitest';
import { createMemoryObjectStore } from '../../../shared/adapters/memory/memory-object-store.ts';
import { runStep } from '../../../shared/composition/aws/step-handler.ts';
import { firstShard, jobName } from '../../unit/runtime/job-fixture.ts';
import { createRestorableJob } from '../../unit/runtime/restore/restorable-job.ts';
import { put, straight, visible } from '../../unit/runtime/restore/two-halves.ts';
import { errorNamed } from '../embedded/step-functions/memory-machine.ts';
import { runWorkflow } from './memory-workflow.ts';

const minute = { remainingMs: () => 60_000 };

/** A job with a backup, and twenty records. */
const begun = async () => {
  const world = await createRestorableJob();
  const backup = createMemoryObjectStore();
  put(world.job, 1, 20);
  await world.deliver(firstShard);
  return { ...world, backup, ports: { ...world.ports, backup } };
};

/** Its savepoint is copied, and every file of it lost but in the backup; twenty records more. */
const bereft = async () => {
  const world = await begun();
  const { job, ports, deliver } = world;
  const made = await runWorkflow('savepoint', ports, { label: 'daily' });
  const names = [...job.objects.objects().keys()].filter((name) => name.includes('/savepoints/'));
  for (const name of names) job.objects.lose(name);
  put(job, 21, 40);
  await deliver(firstShard);
  const object = String(made.output['object']);
  return { ...world, object, names: names.filter((name) => !name.endsWith('done.json')) };
};

describe('the savepoint workflow of a job with a backup', () => {
  it('copies the savepoint, its files and all, wherever its function dies', async () => {
    for (let diesAt = 1; ; diesAt += 3) {
      const { job, ports, backup } = await begun();
      const mishaps = { diesAt, moment: 'after' } as const;
      const made = await runWorkflow('savepoint', ports, { label: 'daily' }, mishaps);
      expect(made.cause, `died after call ${diesAt}`).toBeUndefined();
      const originals = [...job.objects.objects()].filter(([name]) =>
        name.includes('/savepoints/'),
      );
      expect(originals).toHaveLength(3);
      expect([...backup.objects()]).toEqual(originals);
      if (!made.hasDied) break;
    }
  });

  it.each([false, true])(
    'says where it could not be copied; it is complete all the same, stopping the job: %s',
    async (stops) => {
      const { job, ports } = await begun();
      const made = await runWorkflow(
        'savepoint',
        ports,
        { label: 'daily', stops },
        {
          onStep(step) {
            if (step === 'savepoint.copy') throw errorNamed('Holdfast.corrupt');
          },
        },
      );
      expect(made).toMatchObject({
        status: 'FAILED',
      });
      expect(made.cause).toContain('the savepoint is complete, but its copy in the backup');
      expect(await job.control.readRegistry(jobName)).toMatchObject({
        pending: [],
        complete: [{ label: 'daily' }],
      });
      expect((await job.control.readJob(jobName))?.hold?.kind).toBe(stops ? 'stopped' : undefined);
    },
  );
});

describe('the restore workflow of a job with a backup', () => {
  it('reads there what is lost, and says so, wherever its function dies', async () => {
    const expected = await straight(40);
    for (let diesAt = 1; ; diesAt += 4) {
      const { job, ports, object, names } = await bereft();
      const input = { manifest: object, fromBackup: true };
      const made = await runWorkflow('restore', ports, input, { diesAt, moment: 'after' });
      const place = `died after call ${diesAt}`;
      expect(made.cause, place).toBeUndefined();
      expect(made.output, place).toMatchObject({ generation: 2, keys: 3, replayed: 20 });
      expect((made.output['fellBack'] as string[]).toSorted(), place).toEqual(names);
      expect(visible(job), place).toEqual(expected);
      if (!made.hasDied) break;
    }
  });

  it('goes on with the copies that a call had no time for', async () => {
    const { ports, object, names } = await bereft();
    let calls = 0;
    const remainingMs = (): number => ((calls += 1) % 4 === 0 ? 0 : 240_000);
    const input = { manifest: object, fromBackup: true };
    const made = await runWorkflow('restore', ports, input, { remainingMs });
    expect(made.output).toMatchObject({ generation: 2, fellBack: names.toReversed() });
  });

  it('reads nothing there unless it is asked to', async () => {
    const { job, ports, object } = await bereft();
    const made = await runWorkflow('restore', ports, { manifest: object });
    expect(made.cause).toContain(`manifest ${object} is not in the bucket`);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 1, hold: undefined });
  });

  it('drills what the backup alone has, and puts nothing back', async () => {
    const { job, ports, object, names } = await bereft();
    const input = { manifest: object, fromBackup: true, dryRun: true };
    const made = await runWorkflow('restore', ports, input);
    expect(made.cause).toBeUndefined();
    expect(made.output).toMatchObject({ generation: 2, keys: 3 });
    expect((made.output['fellBack'] as string[]).toSorted()).toEqual(names);
    expect(job.objects.objects().has(object)).toBe(false);
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 1, hold: undefined });
  });

  it('names everything of which no sound copy is left, before it pins anything', async () => {
    const { job, ports, backup, object, names } = await bereft();
    const files = names.filter((name) => name !== object);
    for (const name of files) backup.lose(name);
    const made = await runWorkflow('restore', ports, { manifest: object, fromBackup: true });
    expect(made.status).toBe('FAILED');
    for (const name of files) expect(made.cause).toContain(name);
    expect(made.steps).not.toContain('restore.begin-base');
    expect(await job.control.readJob(jobName)).toMatchObject({ generation: 1, hold: undefined });
  });

  it('is told beforehand what would be read there', async () => {
    const { ports, names } = await bereft();
    const none = { objects: 0, examples: [] };
    const copies = {
      ...{ isDone: false, next: 0, objects: 0, rounds: 0 },
      ...{ fellBack: none, lost: none },
    };
    const ask = { from: 'daily', areTablesLost: false, fromBackup: true, copies };
    const seen = await runStep(ports, { step: 'copies.inspect', ...ask }, minute);
    expect(seen).toMatchObject({
      ...{ isDone: true, lost: none },
      fellBack: { objects: names.length, examples: names.toReversed() },
    });
    const plan = { from: 'daily', restore: 'r', areTablesLost: false, fromBackup: true };
    expect(await runStep(ports, { step: 'restore.check', ...plan }, minute)).toMatchObject({
      missing: { files: 0 },
    });
  });
});
