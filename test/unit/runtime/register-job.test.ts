import { describe, expect, it } from 'vitest';
import { createMemoryControlStore } from '../../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryObjectStore } from '../../../shared/adapters/memory/memory-object-store.ts';
import type { ControlStore, Hold, Job, SinkKinds } from '../../../shared/ports/control-store.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import { jobMarkerName } from '../../../shared/runtime/object-names.ts';
import { registerJob, type JobRequest } from '../../../shared/runtime/register-job.ts';

const request: JobRequest = { name: 'demo', maxParallelism: 128, operators: ['tally'] };

const running: Job = {
  name: 'demo',
  version: 2,
  generation: 1,
  status: 'running',
  maxParallelism: 128,
  operators: ['tally'],
  hold: undefined,
  timeline: [],
};

const createStores = () => ({
  control: createMemoryControlStore(),
  objects: createMemoryObjectStore(),
});

describe('registerJob', () => {
  it('creates the job item and its marker', async () => {
    const { control, objects } = createStores();
    expect(await registerJob(control, objects, request)).toEqual(running);
    expect(await control.readJob('demo')).toEqual(running);
    const marker = await objects.read('jobs/demo/job.json');
    expect(JSON.parse(new TextDecoder().decode(marker))).toEqual({
      job: 'demo',
      maxParallelism: 128,
    });
  });

  it('changes nothing where the same deployment comes again', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    expect(await registerJob(control, objects, request)).toEqual(running);
    expect(objects.objects().size).toBe(1);
  });

  it('brings the operators up to a new deployment, and keeps generation, hold and timeline', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    const hold: Hold = {
      id: '5f',
      kind: 'restore',
      owner: 'rollback',
      sinceMs: 1,
      isFlipped: false,
      undo: undefined,
    };
    const timeline = [{ generation: 4, parent: 1, manifest: 'm' }];
    const held: Job = { ...running, version: 3, generation: 4, hold, timeline };
    await control.replaceJob(held, 2);
    const operators = ['tally', 'alerts'];
    expect(await registerJob(control, objects, { ...request, operators })).toEqual({
      ...held,
      version: 4,
      operators,
    });
  });

  it('writes the marker again where it was lost and the item was not', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    objects.lose(jobMarkerName('demo'));
    await registerJob(control, objects, request);
    expect([...objects.objects().keys()]).toEqual(['jobs/demo/job.json']);
  });

  it('refuses to begin anew where the tables were lost', async () => {
    const { objects } = createStores();
    await registerJob(createMemoryControlStore(), objects, request);
    const emptied = createMemoryControlStore();
    await expect(registerJob(emptied, objects, request)).rejects.toThrow(
      /^job demo was deployed before, its marker jobs\/demo\/job.json is in the bucket, but the control table has no item for it: the tables were lost or replaced. Restore the job from a checkpoint/,
    );
    expect(await emptied.readJob('demo')).toBeUndefined();
  });

  it('refuses another maxParallelism, and says which one to deploy', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    await expect(
      registerJob(control, objects, { ...request, maxParallelism: 256 }),
    ).rejects.toThrow(
      'job demo has maxParallelism 128, the deployment asks for 256: the key groups of every stored key depend on it; it is fixed for the life of a job, deploy 128, or a job of another name',
    );
    expect(await control.readJob('demo')).toEqual(running);
  });

  it('refuses a renamed operator, says why, and changes nothing', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, { ...request, operators: ['tally', 'alerts'] });
    const renamed = { ...request, operators: ['alerts', 'totals'] };
    await expect(registerJob(control, objects, renamed)).rejects.toThrow(
      'job demo has operators tally that the deployment lacks, and the deployment has totals that the job lacks: under another id an operator has no state, reads the stream from its beginning and puts out everything again; keep the id, or, if they are different operators, remove the old ones in one deployment and add the new ones in the next',
    );
    expect(await control.readJob('demo')).toEqual({ ...running, operators: ['tally', 'alerts'] });
  });

  it('lets an operator go in one deployment, and another come in the next', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, { ...request, operators: ['tally', 'alerts'] });
    await registerJob(control, objects, { ...request, operators: ['alerts'] });
    const job = await registerJob(control, objects, {
      ...request,
      operators: ['totals', 'alerts'],
    });
    expect(job.operators).toEqual(['totals', 'alerts']);
  });

  it('refuses a sink of another kind, says why, and changes nothing', async () => {
    const { control, objects } = createStores();
    const sinks = { airports: 'upsert', alerts: 'append', constructor: 'append' } as const;
    const job = await registerJob(control, objects, { ...request, sinks });
    expect(job).toEqual({ ...running, sinks });
    const changed = { ...sinks, airports: 'append', alerts: 'upsert' } as const;
    await expect(registerJob(control, objects, { ...request, sinks: changed })).rejects.toThrow(
      'job demo has sinks of another kind than the deployment: airports (upsert so far, append in the deployment), alerts (append so far, upsert in the deployment): the rows in the table were written as the one and would be taken for the other; give the new sink another name, or remove it in one deployment and add it in the next, which gives it a new table and leaves the old one alone',
    );
    expect(await control.readJob('demo')).toEqual(job);
    // The deployment that is rolled back.
    expect(await registerJob(control, objects, { ...request, sinks })).toEqual(job);
  });

  it('lets sinks come and go, and one that had gone come again as the other kind', async () => {
    const { control, objects } = createStores();
    const register = (sinks: SinkKinds) => registerJob(control, objects, { ...request, sinks });
    await register({ airports: 'upsert', alerts: 'append' });
    expect((await register({ alerts: 'append' })).sinks).toEqual({ alerts: 'append' });
    const added: SinkKinds = { alerts: 'append', airports: 'append' };
    expect((await register(added)).sinks).toEqual(added);
    const { version } = await register({ airports: 'append', alerts: 'append' });
    expect(version, 'nothing is written where only the order differs').toBe(4);
    expect((await register({})).sinks).toEqual({});
  });

  it('takes the kinds of a job that was deployed before they were kept, and compares from then on', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    const sinks = { airports: 'upsert' } as const;
    const adopted = await registerJob(control, objects, { ...request, sinks });
    expect(adopted).toEqual({ ...running, version: 3, sinks });
    await expect(
      registerJob(control, objects, { ...request, sinks: { airports: 'append' } }),
    ).rejects.toThrow('airports (upsert so far, append in the deployment)');
  });

  it('refuses another stream, says why, and changes nothing', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, { ...request, streamArn: 'arn:a' });
    const moved = { ...request, streamArn: 'arn:b' };
    await expect(registerJob(control, objects, moved)).rejects.toThrow(
      'job demo reads arn:a, the deployment gives it arn:b: the positions of the one mean nothing in the other; deploy it with the stream that it has, or a job of another name with the new one',
    );
    expect(await control.readJob('demo')).toEqual(running);
    // The deployment that is rolled back.
    expect(await registerJob(control, objects, { ...request, streamArn: 'arn:a' })).toEqual(
      running,
    );
  });

  it('does not guess the stream of a job whose marker names none', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    expect(await registerJob(control, objects, { ...request, streamArn: 'arn:b' })).toEqual(
      running,
    );
  });

  it('lets a job that is to begin as a clone be born held, in no generation', async () => {
    const { control, objects } = createStores();
    const birth = { cloneOf: 'first', atMs: 7 };
    const unborn: Job = {
      ...{ ...running, generation: 0 },
      hold: {
        ...{ id: 'unborn', kind: 'unborn', owner: 'clone of first', sinceMs: 7 },
        ...{ isFlipped: false, undo: undefined },
      },
    };
    expect(await registerJob(control, objects, { ...request, birth })).toEqual(unborn);
    const later = { ...request, birth: { cloneOf: 'first', atMs: 8 } };
    expect(await registerJob(control, objects, later)).toEqual(unborn);
    // Without it, too: only a restore lets it begin.
    expect(await registerJob(control, objects, request)).toEqual(unborn);
  });

  it('leaves a job as it is that has begun, whatever it is to be a clone of now', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    const birth = { cloneOf: 'first', atMs: 7 };
    expect(await registerJob(control, objects, { ...request, birth })).toEqual(running);
  });

  it('refuses a clone whose tables were lost, as it does any job', async () => {
    const { objects } = createStores();
    const birth = { cloneOf: 'first', atMs: 7 };
    await registerJob(createMemoryControlStore(), objects, { ...request, birth });
    const emptied = createMemoryControlStore();
    await expect(registerJob(emptied, objects, { ...request, birth })).rejects.toThrow(
      'the tables were lost or replaced',
    );
  });

  it('refuses a maxParallelism that no job can have before it touches anything', async () => {
    const { control, objects } = createStores();
    await expect(
      registerJob(control, objects, { ...request, maxParallelism: 100 }),
    ).rejects.toThrow('maxParallelism is 100, expected a power of two');
    expect(await control.readJob('demo')).toBeUndefined();
    expect(objects.objects().size).toBe(0);
  });
});

describe('registerJob that dies', () => {
  /** Stores that fail at the n-th write, before or after it has taken effect. */
  const failingAt = (write: number, when: 'before' | 'after') => {
    const { control, objects } = createStores();
    let writes = 0;
    const step = async <T>(effect: () => Promise<T>): Promise<T> => {
      writes += 1;
      if (writes === write && when === 'before') throw new Error('died');
      const result = await effect();
      if (writes === write && when === 'after') throw new Error('died');
      return result;
    };
    const failingControl: ControlStore = {
      ...control,
      createJob: (job) => step(() => control.createJob(job)),
      replaceJob: (job, version) => step(() => control.replaceJob(job, version)),
    };
    const failingObjects: ObjectStore = {
      ...objects,
      create: (name, bytes) => step(() => objects.create(name, bytes)),
    };
    return { control, objects, failingControl, failingObjects };
  };

  const points = [1, 2, 3].flatMap((write) => [
    { write, when: 'before' as const },
    { write, when: 'after' as const },
  ]);

  it.each(points)('$when its write $write is finished by the next deployment', async (point) => {
    const { control, objects, failingControl, failingObjects } = failingAt(point.write, point.when);
    await expect(registerJob(failingControl, failingObjects, request)).rejects.toThrow('died');
    const isDone = point.write === 3 && point.when === 'after';
    expect((await control.readJob('demo'))?.status === 'running').toBe(isDone);
    expect(await registerJob(control, objects, request)).toEqual(running);
    expect(await objects.read(jobMarkerName('demo'))).toBeDefined();
  });

  it('has exactly these three writes to die at', async () => {
    const { failingControl, failingObjects } = failingAt(4, 'before');
    expect(await registerJob(failingControl, failingObjects, request)).toEqual(running);
  });

  it('before the marker stands never leaves a job that runs', async () => {
    const { control, failingControl, failingObjects } = failingAt(2, 'before');
    await expect(registerJob(failingControl, failingObjects, request)).rejects.toThrow('died');
    expect((await control.readJob('demo'))?.status).toBe('creating');
  });
});

describe('two deployments at once', () => {
  it('make one job', async () => {
    const { control, objects } = createStores();
    const jobs = await Promise.all([
      registerJob(control, objects, request),
      registerJob(control, objects, request),
    ]);
    expect(jobs).toEqual([running, running]);
  });

  it('fail with what to do where one of them is never let through', async () => {
    const { control, objects } = createStores();
    await registerJob(control, objects, request);
    const rival: ControlStore = { ...control, replaceJob: () => Promise.resolve('conflict') };
    await expect(
      registerJob(rival, objects, { ...request, operators: ['tally', 'other'] }),
    ).rejects.toThrow('job demo is being changed by somebody else; deploy again');
  });
});
