import { describe, expect, it } from 'vitest';
import { decodeManifest } from '../../../../shared/core/manifest-codec.ts';
import { deleteSavepoint } from '../../../../shared/runtime/checkpoint/delete-savepoint.ts';
import { makeSavepoint } from './make-savepoint.ts';
import { resumeJob } from '../../../../shared/runtime/restore/hold.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { createRestorableJob } from './restorable-job.ts';
import { Death, makeMortal } from './mortal-ports.ts';
import { restoreJob } from './restore-job.ts';
import { put, straight, visible } from './two-halves.ts';

const begun = async () => {
  const world = await createRestorableJob();
  put(world.job, 1, 20);
  await world.deliver(firstShard);
  return world;
};

const order = {
  label: 'daily',
  execution: 'e',
  note: 'a note',
  tags: { git: 'abc' },
  stops: false,
};

describe('a savepoint', () => {
  it('is made of files of its own, and says what it is of', async () => {
    const { job, ports } = await begun();
    const reference = await makeSavepoint(ports, order);
    expect(reference).toMatchObject({ kind: 'savepoint', label: 'daily', isExact: true });
    const bytes = (await job.objects.read(reference.object))!;
    const manifest = decodeManifest(bytes, reference.object, { job: jobName });
    expect(manifest).toMatchObject({ note: 'a note', tags: { git: 'abc' }, keysInRuns: 3 });
    expect(manifest.channels.map(({ segments }) => segments)).toEqual([[]]);
    for (const { name } of manifest.runs.flatMap(({ files }) => files)) {
      expect(name).toMatch(/^jobs\/demo\/savepoints\/daily\/files\//);
    }
    expect(await job.control.readRegistry(jobName)).toMatchObject({ pending: [] });
  });

  it('has a name that no other one has', async () => {
    const { ports } = await begun();
    await makeSavepoint(ports, order);
    await expect(makeSavepoint(ports, { ...order, execution: 'f' })).rejects.toThrow(
      'job demo has a savepoint daily from',
    );
    await expect(makeSavepoint(ports, { ...order, label: '../x', execution: 'g' })).rejects.toThrow(
      'cannot name a savepoint',
    );
    await deleteSavepoint(ports, 'daily');
    await expect(deleteSavepoint(ports, 'daily')).rejects.toThrow('has no savepoint daily');
    expect(await makeSavepoint(ports, { ...order, execution: 'h' })).toMatchObject({
      label: 'daily',
    });
  });

  it('is not deleted while another manifest lists its files', async () => {
    const { job, ports, restore, checkpoint, deliver } = await begun();
    const { object } = await makeSavepoint(ports, order);
    await restore(object);
    await expect(deleteSavepoint(ports, 'daily')).rejects.toThrow('cannot be deleted yet');
    put(job, 21, 30);
    await deliver(firstShard);
    await checkpoint();
    await expect(deleteSavepoint(ports, 'daily')).rejects.toThrow('cannot be deleted yet');
  });

  it.each(['before', 'after'] as const)(
    'goes on when it is called again, wherever it died: %s any call',
    async (moment) => {
      for (let diesAt = 1; ; diesAt += 1) {
        const { job, ports, restore } = await begun();
        const mortal = makeMortal(ports, diesAt, moment);
        const first = await makeSavepoint({ ...ports, ...mortal.ports }, order).catch(
          (thrown: unknown) => thrown,
        );
        if (!(first instanceof Death)) {
          expect(diesAt).toBeGreaterThan(20);
          break;
        }
        const registry = await job.control.readRegistry(jobName);
        const isMade = registry?.complete.some(({ label }) => label === 'daily') === true;
        const { object } = isMade
          ? registry.complete.find(({ label }) => label === 'daily')!
          : await makeSavepoint(ports, order);
        expect(await job.control.readRegistry(jobName)).toMatchObject({ pending: [] });
        await restore(object);
        expect(visible(job), `died at call ${diesAt}`).toEqual(await straight(20));
      }
    },
  );
});

describe('a savepoint that stops its job', () => {
  it('leaves it held at the very cut, until it is resumed', async () => {
    const { job, ports, deliver } = await begun();
    const { object } = await makeSavepoint(ports, { ...order, stops: true });
    expect(await job.control.readJob(jobName)).toMatchObject({
      hold: { kind: 'stopped', owner: 'daily' },
    });
    put(job, 21, 30);
    expect(await deliver(firstShard)).toMatchObject({ kind: 'handBack' });
    expect(visible(job)).toEqual(await straight(20));
    const manifest = decodeManifest((await job.objects.read(object))!, object, { job: jobName });
    expect(manifest.channels[0]!.progress.position).toEqual(job.progress()!.position);
    await resumeJob(ports);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(30));
    expect(job.progress()).toMatchObject({ fence: undefined });
  });

  it('can be restored from while it stands, and an abort gives the hold back', async () => {
    const { job, ports, deliver, restore } = await begun();
    const { object } = await makeSavepoint(ports, { ...order, stops: true });
    put(job, 21, 30);
    const refusing = {
      ...ports,
      state: { ...ports.state, write: () => Promise.reject(new Error('no')) },
    };
    const wanted = {
      ...{ restore: 'failing', manifest: object, allowNonRestoredState: false },
      ...{ acceptsGaps: false, areTablesLost: false },
    };
    await expect(restoreJob(refusing, wanted)).rejects.toThrow('no');
    expect(await job.control.readJob(jobName)).toMatchObject({
      hold: { kind: 'stopped', owner: 'daily' },
      generation: 1,
    });
    await restore(object);
    // The restore that failed has burnt generation 2.
    expect(await job.control.readJob(jobName)).toMatchObject({ hold: undefined, generation: 3 });
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(30));
  });

  it('that fails lets it run again', async () => {
    const { job, ports, deliver } = await begun();
    const failing = {
      ...ports,
      objects: {
        ...ports.objects,
        create: (name: string, bytes: Uint8Array) =>
          name.includes('/files/')
            ? Promise.reject(new Error('full'))
            : ports.objects.create(name, bytes),
      },
    };
    await expect(makeSavepoint(failing, { ...order, stops: true })).rejects.toThrow('full');
    expect(await job.control.readJob(jobName)).toMatchObject({ hold: undefined });
    expect(await job.control.readRegistry(jobName)).toMatchObject({ pending: [], complete: [] });
    put(job, 21, 30);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(30));
  });
});
