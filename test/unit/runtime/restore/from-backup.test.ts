import { describe, expect, it } from 'vitest';
import {
  createMemoryObjectStore,
  type MemoryObjectStore,
} from '../../../../shared/adapters/memory/memory-object-store.ts';
import type { ManifestReference } from '../../../../shared/core/registry.ts';
import { backUp } from '../../../../shared/runtime/checkpoint/back-up.ts';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { beginSavepoint } from '../../../../shared/runtime/checkpoint/savepoint-steps.ts';
import { noDeadline } from '../../../../shared/runtime/deadline.ts';
import { completionName } from '../../../../shared/runtime/object-names.ts';
import { restoreJob } from './restore-job.ts';
import { firstShard, jobName } from '../job-fixture.ts';
import { createRestorableJob, type RestorableJob } from './restorable-job.ts';
import { put, straight, visible } from './two-halves.ts';

interface Backed extends RestorableJob {
  readonly backup: MemoryObjectStore;
  readonly made: ManifestReference;
  /** Every object that a restore from it reads. */
  readonly names: readonly string[];
  restoreFromBackup(order?: { areTablesLost?: boolean }): ReturnType<typeof restoreJob>;
}

/** Twenty records, a manifest that is copied with all of its files, and twenty more. */
const backed = async (
  make: (world: RestorableJob) => Promise<ManifestReference>,
): Promise<Backed> => {
  const world = await createRestorableJob({ settings: { unitRecordsMax: 6 } });
  const { job } = world;
  put(job, 1, 20);
  await world.deliver(firstShard);
  const made = await make(world);
  const backup = createMemoryObjectStore();
  expect(await backUp(world.ports, backup, made, noDeadline)).toBe(true);
  if (made.kind === 'checkpoint') {
    // What S3 itself replicates.
    for (const [name, bytes] of job.objects.objects()) {
      if (name.endsWith('.seg')) await backup.create(name, bytes);
    }
  }
  const names = [...backup.objects().keys()].filter(
    (name) => name !== completionName(jobName, made),
  );
  put(job, 21, 40);
  await world.deliver(firstShard);
  const ports = { ...world.ports, backup };
  return {
    ...{ ...world, ports, backup, made, names },
    restoreFromBackup: ({ areTablesLost = false } = {}) =>
      restoreJob(ports, {
        ...{ restore: 'back', manifest: made.object, areTablesLost, fromBackup: true },
        ...{ allowNonRestoredState: false, acceptsGaps: false },
      }),
  };
};

const flipBit = async (store: MemoryObjectStore, name: string, bit: number): Promise<void> => {
  const bytes = store.objects().get(name)!;
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  store.lose(name);
  await store.create(name, bytes);
};

const savepoint = (world: RestorableJob) => world.savepoint('keep');
const checkpoint = (world: RestorableJob) => world.checkpoint();

describe.each([
  ['savepoint', savepoint, 2],
  ['checkpoint', checkpoint, 5],
] as const)('a restore from a %s that reads the backup, too', (_, make, objects) => {
  const expectRestored = async (world: Backed, fellBack: readonly string[]): Promise<void> => {
    const { job, deliver, restoreFromBackup } = world;
    const before = visible(job);
    const report = await restoreFromBackup();
    expect(report).toMatchObject({ generation: 2, keys: 3, replayed: 20 });
    expect(report.fellBack).toEqual(fellBack);
    expect(visible(job)).toEqual(before);
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
  };

  it('reads nothing there while the primary is sound', async () => {
    const world = await backed(make);
    expect(world.names.length).toBeGreaterThanOrEqual(objects);
    await expectRestored(world, []);
  });

  it('reads there what is missing, each object by itself', async () => {
    const { names } = await backed(make);
    for (const at of names.keys()) {
      const world = await backed(make);
      const name = world.names[at]!;
      world.job.objects.lose(name);
      await expectRestored(world, [name]);
    }
  });

  it('reads there what is damaged, wherever the bit is', async () => {
    const { names } = await backed(make);
    for (const at of names.keys()) {
      // The first byte, the version, somewhere, the last byte.
      for (const place of [0, 0.0001, 5 * 8, 0.5, 0.999]) {
        const world = await backed(make);
        const name = world.names[at]!;
        const bits = world.job.objects.objects().get(name)!.length * 8;
        await flipBit(world.job.objects, name, place < 1 ? Math.floor(place * bits) : place);
        await expectRestored(world, [name]);
      }
    }
  });

  it('takes each object from where it is sound', async () => {
    const world = await backed(make);
    const [one, other] = world.names as [string, string];
    world.job.objects.lose(one);
    world.backup.lose(other);
    await expectRestored(world, [one]);
  });

  it('refuses where no copy is sound, with all of them, and the job goes on', async () => {
    const world = await backed(make);
    const { job, backup, names, made, deliver, restoreFromBackup } = world;
    const files = names.filter((name) => name !== made.object);
    for (const name of files) {
      await flipBit(job.objects, name, 800);
      backup.lose(name);
    }
    const was = await job.control.readJob(jobName);
    await expect(restoreFromBackup()).rejects.toMatchObject({ kind: 'corrupt' });
    for (const name of files) await expect(restoreFromBackup()).rejects.toThrow(name);
    await expect(restoreFromBackup()).rejects.toThrow(`of ${files.length} objects`);
    expect(await job.control.readJob(jobName)).toEqual(was);
    expect(await job.control.readRegistry(jobName)).toMatchObject({ pins: [], pending: [] });
    put(job, 41, 50);
    await deliver(firstShard);
    expect(visible(job)).toEqual(await straight(50));
  });

  it('refuses where the manifest is lost in both places, and the job goes on', async () => {
    const { job, backup, made, restoreFromBackup } = await backed(make);
    job.objects.lose(made.object);
    await flipBit(backup, made.object, 400);
    const was = await job.control.readJob(jobName);
    await expect(restoreFromBackup()).rejects.toThrow(made.object);
    expect(await job.control.readJob(jobName)).toEqual(was);
  });

  it('leaves a generation that needs no backup', async () => {
    const { job, ports, names, restore, restoreFromBackup, savepoint: again } = await backed(make);
    for (const name of names) job.objects.lose(name);
    const before = visible(job);
    const { fellBack } = await restoreFromBackup();
    expect(fellBack.toSorted()).toEqual(names.toSorted());
    expect(await collectGarbage(ports, { graceMs: 0, dryRun: true })).toMatchObject({
      isDone: true,
    });
    const { object } = await again('later');
    expect(await restore(object, { restore: 'later' })).toMatchObject({ fellBack: [] });
    expect(visible(job)).toEqual(before);
  });

  it('makes a job again of which nothing is left but its backup and its stream', async () => {
    const { job, restoreFromBackup } = await backed(make);
    for (const name of job.objects.objects().keys()) job.objects.lose(name);
    job.loseTables();
    expect(await restoreFromBackup({ areTablesLost: true })).toMatchObject({ generation: 2 });
    const expected = await straight(40);
    expect(job.totals()).toEqual(expected.totals);
  });
});

describe('a restore from the backup', () => {
  it('finds the way of a later generation there', async () => {
    const world = await createRestorableJob();
    const { job, ports, deliver, restore } = world;
    put(job, 1, 20);
    await deliver(firstShard);
    await restore((await world.checkpoint()).object);
    const made = await world.savepoint('second');
    const backup = createMemoryObjectStore();
    await backUp(ports, backup, made, noDeadline);
    put(job, 21, 40);
    await deliver(firstShard);
    const before = visible(job);
    const reservation = [...job.objects.objects().keys()].find((name) =>
      name.endsWith('generations/00000002.json'),
    )!;
    job.objects.lose(reservation);
    const report = await restoreJob(
      { ...ports, backup },
      {
        ...{ restore: 'back', manifest: made.object, areTablesLost: false, fromBackup: true },
        ...{ allowNonRestoredState: false, acceptsGaps: false },
      },
    );
    expect(report).toMatchObject({ generation: 3, fellBack: [reservation] });
    expect(job.objects.objects().has(reservation)).toBe(true);
    expect(visible(job)).toEqual(before);
  });

  it('is refused for a job that has none', async () => {
    const { made, restore } = await backed(savepoint);
    await expect(restore(made.object, { fromBackup: true })).rejects.toThrow(
      'has no backup to read from; give it one (checkpointing.backup of StreamJob)',
    );
  });
});

describe('the copy of a savepoint', () => {
  it('is never mixed with that of another one of its name', async () => {
    const { ports, backup, made } = await backed(savepoint);
    for (const name of [made.object, completionName(jobName, made)]) backup.lose(name);
    await ports.objects.remove([made.object]);
    const registry = (await ports.control.readRegistry(jobName))!;
    await ports.control.writeRegistry(jobName, {
      ...registry,
      version: registry.version + 1,
      complete: [],
    });
    await expect(beginSavepoint(ports, { label: 'keep', execution: 'x' })).rejects.toThrow(
      'the backup still has a copy of an earlier savepoint keep',
    );
    await beginSavepoint(ports, { label: 'other', execution: 'y' });
  });

  it('is not made of a file that is damaged', async () => {
    const world = await createRestorableJob();
    put(world.job, 1, 20);
    await world.deliver(firstShard);
    const made = await world.savepoint('keep');
    const file = [...world.job.objects.objects().keys()].find((name) => name.includes('/files/'))!;
    await flipBit(world.job.objects, file, 801);
    const backup = createMemoryObjectStore();
    await expect(backUp(world.ports, backup, made, noDeadline)).rejects.toMatchObject({
      kind: 'corrupt',
    });
    expect([...backup.objects().keys()]).toEqual([]);
  });

  it('goes on where its time ended, or its process died, and is complete last', async () => {
    const world = await createRestorableJob();
    put(world.job, 1, 20);
    await world.deliver(firstShard);
    const made = await world.savepoint('keep');
    const completion = completionName(jobName, made);
    const backup = createMemoryObjectStore();
    expect(await backUp(world.ports, backup, made, { remainingMs: () => 0 })).toBe(false);
    expect([...backup.objects().keys()]).toEqual([]);
    let isWhole = false;
    while (!isWhole) {
      let creates = 0;
      // One object more with each life.
      const mortal = {
        ...backup,
        create: async (name: string, bytes: Uint8Array) => {
          if (creates === 1) throw new Error('died');
          const outcome = await backup.create(name, bytes);
          if (outcome === 'created') creates += 1;
          return outcome;
        },
      };
      try {
        isWhole = await backUp(world.ports, mortal, made, noDeadline);
      } catch {
        const names = [...backup.objects().keys()];
        expect(names.includes(completion)).toBe(false);
      }
    }
    const copied = [...backup.objects()];
    expect(copied.map(([name]) => name)).toContain(completion);
    for (const [name, bytes] of copied) {
      expect(world.job.objects.objects().get(name)).toEqual(bytes);
    }
  });
});
