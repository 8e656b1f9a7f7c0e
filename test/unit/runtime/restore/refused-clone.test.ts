import { describe, expect, it } from 'vitest';
import { decodeManifest, encodeManifest } from '../../../../shared/core/manifest-codec.ts';
import type { Manifest } from '../../../../shared/core/manifest.ts';
import { retireCheckpoints } from '../../../../shared/runtime/checkpoint/take-checkpoint.ts';
import { registerPending } from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import { endStaleHold } from '../../../../shared/runtime/restore/end-stale-hold.ts';
import { abortHold, resumeJob, takeHold } from '../../../../shared/runtime/restore/hold.ts';
import { readBesides } from '../../../../shared/runtime/restore/cloned-objects.ts';
import { restoreJob } from './restore-job.ts';
import type { RestorePorts } from '../../../../shared/runtime/restore/restore-order.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { createCoordinatedJob } from '../checkpoint/coordinated-job.ts';
import { cloneOrder, halfway, tellRowsAfter } from './clone-world.ts';
import { createRestorableJob } from './restorable-job.ts';
import { createSleeper, sleepIn } from './sleeping-ports.ts';
import { put, straight, visible } from './two-halves.ts';

const begin = () => halfway((one) => one.checkpoint());
type World = Awaited<ReturnType<typeof begin>>;

/** Nothing was pinned, copied or held, and both jobs are as they were. */
const expectUntouched = async ({ source, twin }: World): Promise<void> => {
  expect(await source.job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
  expect(await twin.job.control.readRegistry('twin')).toBeUndefined();
  expect([...twin.job.objects.objects().keys()]).toEqual(['jobs/twin/job.json']);
  expect(await twin.job.control.readJob('twin')).toMatchObject({
    ...{ version: 2, generation: 0 },
    hold: { kind: 'unborn', owner: 'clone of demo' },
  });
  put(source.job, 41, 50);
  await source.deliver(firstShard);
  expect(visible(source.job)).toEqual(await straight(50));
};

const change = async ({ source, object }: World, changes: Partial<Manifest>): Promise<void> => {
  const { objects } = source.job;
  const manifest = decodeManifest((await objects.read(object))!, object, { job: jobName });
  objects.lose(object);
  await objects.create(object, encodeManifest({ ...manifest, ...changes }));
};

describe('a clone is refused before anything is changed', () => {
  it.each<[string, Partial<Manifest>, string]>([
    ['is not exact', { isExact: false }, 'the manifest is not exact'],
    ['has another maxParallelism', { maxParallelism: 64 }, 'deploy maxParallelism 64'],
    [
      'holds a state that the code tells otherwise',
      {
        operators: [
          {
            ...{ id: 'tally', sinks: [], timeRules: '' },
            states: [{ name: 'total', kind: 'map', version: 1 }],
          },
        ],
      },
      'state "total" of operator tally was a map state and is a value state',
    ],
  ])('where the manifest %s', async (_, changes, message) => {
    const world = await begin();
    await change(world, changes);
    await expect(world.twin.clone(world.object)).rejects.toThrow(message);
    await expectUntouched(world);
  });

  it('where the manifest is one of the job itself, or of a third one', async () => {
    const world = await begin();
    await change(world, { job: 'third' });
    await expect(world.twin.clone(world.object)).rejects.toThrow(
      'is one of job third, expected demo',
    );
    await expectUntouched(world);
  });

  it('where files of the manifest are missing', async () => {
    const world = await begin();
    const { objects } = world.source.job;
    const name = [...objects.objects().keys()].find((one) => one.endsWith('.seg'))!;
    const bytes = (await objects.read(name))!;
    objects.lose(name);
    await expect(world.twin.clone(world.object)).rejects.toThrow(`file ${name} is not in the`);
    await objects.create(name, bytes);
    await expectUntouched(world);
  });

  it('where records after the cut have left the stream', async () => {
    const { source, twin, object } = await begin();
    source.job.system.advance(48 * 3_600_000);
    source.job.stream.trim(firstShard);
    await expect(twin.clone(object)).rejects.toThrow(/have left the stream after 24 h/);
    expect(await twin.job.control.readRegistry('twin')).toBeUndefined();
    expect(await twin.clone(object, { acceptsGaps: true })).toMatchObject({ generation: 2 });
  });

  it('where the stream is another one', async () => {
    const world = await begin();
    const stream = { name: 'events', createdAtMs: 5 };
    const reader = {
      ...world.twin.ports.reader,
      describe: () => Promise.resolve({ incarnation: stream, retentionHours: 24 }),
    };
    const cloning = restoreJob({ ...world.twin.ports, reader }, cloneOrder(world.object));
    await expect(cloning).rejects.toThrow("the manifest's positions are of stream events@17356");
    await expectUntouched(world);
  });

  it('where the job has begun', async () => {
    const { source, object } = await begin();
    const begun = await createRestorableJob({ name: 'begun' });
    const { job, control, objects } = source.ports;
    const ports = { ...begun.ports, cloned: { job, control, objects } };
    await expect(restoreJob(ports, cloneOrder(object))).rejects.toThrow(
      'job begun has begun, it is in generation 1; a clone begins in a job that was first deployed with cloneOf',
    );
    expect(await begun.job.control.readJob('begun')).toMatchObject({ generation: 1 });
  });

  it('where it has been cloned before', async () => {
    const { twin, object } = await begin();
    await twin.clone(object);
    await expect(twin.clone(object, { restore: 'c2' })).rejects.toThrow('in generation 2');
    // Under its name it is what is done already.
    expect(await twin.clone(object)).toMatchObject({ generation: 2, keys: 0 });
  });

  it('where the job is not deployed as a clone, or as one of itself', async () => {
    const { source, twin, object } = await begin();
    const { cloned: _, ...alone } = twin.ports;
    await expect(restoreJob(alone, cloneOrder(object))).rejects.toThrow(
      'job twin is deployed as a clone of no job',
    );
    const { control, objects } = source.ports;
    const itself = { ...source.ports, cloned: { job: jobName, control, objects } };
    await expect(restoreJob(itself, cloneOrder(object))).rejects.toThrow(
      'job demo is deployed as a clone of itself',
    );
  });
});

describe('the objects of the job that is cloned', () => {
  it('are read beside the own ones, and never changed', async () => {
    const { source, twin, object } = await begin();
    const { job, control, objects: theirs } = source.ports;
    const objects = readBesides(twin.ports.objects, { job, control, objects: theirs });
    expect(await objects.read(object)).toEqual(await theirs.read(object));
    expect(await objects.read('jobs/twin/job.json')).toBeDefined();
    expect(await objects.readRange(object, 0, 2)).toHaveLength(2);
    const listed: string[] = [];
    for await (const name of objects.list('jobs/demo/checkpoints/')) listed.push(name);
    expect(listed).toContain(object);
    const never = /belongs to job demo, which is cloned; a clone never changes it/;
    await expect(objects.create(`${object}x`, new Uint8Array())).rejects.toThrow(never);
    await expect(objects.remove([object])).rejects.toThrow(never);
    expect(await theirs.read(object)).toBeDefined();
  });
});

/** A clone that has taken the hold and reserved its generation, and never comes back. */
const leaveHeld = async (ports: RestorePorts, object: string): Promise<void> => {
  const sleeper = createSleeper((call) => call === 'createProgress');
  expect(await sleeper.fallsAsleep(restoreJob(sleepIn(sleeper, ports), cloneOrder(object)))).toBe(
    true,
  );
};

describe('a job that is to begin as a clone', () => {
  it('is opened by nothing else', async () => {
    const { twin } = await begin();
    await expect(twin.savepoint('early')).rejects.toThrow('job twin has not begun');
    await expect(resumeJob(twin.ports)).rejects.toThrow(
      'job twin was deployed as a clone of demo and has not begun; begin it with: holdfast clone',
    );
    twin.job.system.advance(1000 * 3_600_000);
    expect(await endStaleHold(twin.ports)).toBe(false);
    const { version } = (await twin.job.control.readJob('twin'))!;
    const wanted = { id: 'h', kind: 'savepoint', owner: 's', takesOver: false } as const;
    await expect(takeHold(twin.ports, { ...wanted, jobVersion: version })).rejects.toThrow(
      'job twin is held by unborn clone of demo',
    );
  });

  it('goes back to that where a clone has not come back for half of the retention', async () => {
    const { twin, object } = await begin();
    await leaveHeld(twin.ports, object);
    expect(await twin.job.control.readJob('twin')).toMatchObject({ hold: { owner: 'c1' } });
    twin.job.system.advance(13 * 3_600_000);
    expect(await endStaleHold(twin.ports)).toBe(true);
    expect(await twin.job.control.readJob('twin')).toMatchObject({ hold: { kind: 'unborn' } });
    // The number of the first is burnt (R4).
    expect(await twin.clone(object, { restore: 'c2' })).toMatchObject({ generation: 3 });
  });

  it('can begin with the copy of a clone that was given up, too', async () => {
    const { twin, object } = await begin();
    await leaveHeld(twin.ports, object);
    const { hold } = (await twin.job.control.readJob('twin'))!;
    expect(await abortHold(twin.ports, hold!.id)).toBe(true);
    const { complete } = (await twin.job.control.readRegistry('twin'))!;
    const report = await twin.restore(complete[0]!.object, { restore: 'plain' });
    expect(report).toMatchObject({ generation: 3, replayed: 20 });
    expect(visible(twin.job)).toEqual(await tellRowsAfter(20, 40));
  });

  it('is left alone by its coordinator', async () => {
    const source = await createRestorableJob();
    const twin = await createCoordinatedJob({ name: 'twin', cloneOf: source.job });
    put(source.job, 1, 20);
    // The copy that it is to begin with, before it is complete.
    const copy = { kind: 'checkpoint', generation: 1, label: 'clone:c1' } as const;
    const work = await registerPending(twin.ports, { ...copy, timeoutMs: 60_000 });
    for (let ticks = 0; ticks < 3; ticks += 1) {
      expect(await twin.tick()).toMatchObject({ completed: [], expired: 0, failed: 0 });
    }
    expect(await twin.registry()).toMatchObject({ pending: [work], complete: [] });
  });
});

it('a clone of a manifest that is no more kept is refused where it would be pinned (C7)', async () => {
  const world = await begin();
  const { source, twin, object } = world;
  const { complete } = (await source.job.control.readRegistry(jobName))!;
  // Its object is still in the bucket, for garbage collection to take.
  await retireCheckpoints(source.ports, complete);
  await expect(twin.clone(object)).rejects.toThrow('is not kept any more, and its files go');
  await expectUntouched(world);
});
