import { describe, expect, it } from 'vitest';
import type { ControlStore } from '../../../../shared/ports/control-store.ts';
import type { ObjectStore } from '../../../../shared/ports/object-store.ts';
import {
  changeRegistry,
  readRegistry,
} from '../../../../shared/runtime/checkpoint/change-registry.ts';
import {
  collectGarbage,
  type CollectionReport,
} from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { planCompaction } from '../../../../shared/runtime/checkpoint/plan-compaction.ts';
import { runCompaction } from '../../../../shared/runtime/checkpoint/run-compaction.ts';
import {
  completeManifest,
  registerPending,
  writeManifest,
} from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import {
  compactionPrefix,
  jobPrefix,
  segmentName,
} from '../../../../shared/runtime/object-names.ts';
import { jobName } from '../job-fixture.ts';
import { createMortalEnvironment } from '../mortal-environment.ts';
import { createRestorableJob, minute, type RestorableJob } from '../restore/restorable-job.ts';
import { chooseEverything, compactNow, keepNewest } from './upkeep.ts';

const options = { graceMs: 1000, dryRun: false };
const shard = 'shardId-000000000000';
const channel = `tally/events@1735689600000/${shard}`;

const namesOf = ({ job }: RestorableJob): string[] => [...job.objects.objects().keys()];

const deletedBy = async (
  one: RestorableJob,
  given = options,
): Promise<{ report: CollectionReport; deleted: string[] }> => {
  const before = namesOf(one);
  const report = await collectGarbage(one.ports, given);
  const after = new Set(namesOf(one));
  return { report, deleted: before.filter((name) => !after.has(name)) };
};

/** Puts a record for each amount and reads it in a unit of its own. */
const add = async (one: RestorableJob, ...amounts: number[]): Promise<void> => {
  for (const amount of amounts) {
    one.job.put('ann', { amount });
    const { records } = one.job.stream.shard(shard);
    await one.job.createEnvironment().deliver(records.slice(-1), { shardId: shard });
  }
};

const object = (segment: number, attempt: string, generation = 1): string =>
  segmentName(jobName, generation, channel, { number: segment, attempt });

const put = (one: RestorableJob, name: string): Promise<unknown> =>
  one.ports.objects.create(name, new Uint8Array([1]));

describe('garbage collection', () => {
  it('looks at the objects first, then at the job, then at what is registered, then deletes', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    await one.checkpoint();
    await put(one, object(1, 'dead'));
    const steps: string[] = [];
    const { objects, control } = one.ports;
    const watched: ObjectStore = {
      ...objects,
      async *list(prefix) {
        if (prefix === jobPrefix(jobName)) steps.push('list');
        yield* objects.list(prefix);
      },
      remove: async (names) => {
        steps.push(`remove ${names.length}`);
        await objects.remove(names);
      },
    };
    const watchedControl: ControlStore = {
      ...control,
      readJob: (job) => (steps.push('job'), control.readJob(job)),
      readRegistry: (job) => (steps.push('registry'), control.readRegistry(job)),
      listChannels: (job, generation) => (
        steps.push('channels'),
        control.listChannels(job, generation)
      ),
    };
    await collectGarbage({ ...one.ports, objects: watched, control: watchedControl }, options);
    expect(steps).toEqual(['list', 'job', 'registry', 'channels', 'remove 1']);
  });

  it('takes a segment that is not on the chain, and none that may still come onto it', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2, 3);
    await one.checkpoint();
    await put(one, object(2, 'dead'));
    await put(one, object(3, 'dead'));
    await put(one, object(4, 'under-way'));
    const { deleted } = await deletedBy(one);
    expect(deleted).toEqual([object(2, 'dead'), object(3, 'dead')]);
  });

  it('keeps the head, which whoever opens the channel reads', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2, 3);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    await keepNewest(one.ports, 1);
    const { report, deleted } = await deletedBy(one);
    expect(deleted.filter((name) => name.endsWith('.seg'))).toHaveLength(2);
    expect(report.live).toMatchObject({ 'segment: head': 1 });
    await add(one, 4);
    expect(one.job.entriesOf('ann')).toEqual([1, 3, 6, 10]);
  });

  it('keeps the segments behind the oldest recovery point, for an undo of going back to it', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    await one.checkpoint();
    await add(one, 3, 4);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    const { deleted } = await deletedBy(one);
    expect(deleted.filter((name) => name.endsWith('.seg'))).toEqual([]);
    await keepNewest(one.ports, 1);
    const later = await deletedBy(one);
    expect(later.deleted.filter((name) => name.endsWith('.seg'))).toHaveLength(3);
  });

  it('takes nothing that pending work could read, as long as it is not known what that is', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    const work = await registerPending(one.ports, {
      kind: 'checkpoint',
      generation: 1,
      label: '',
      timeoutMs: 60_000,
    });
    await add(one, 3);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    await keepNewest(one.ports, 1);
    await put(one, object(1, 'dead'));
    // Its checkpoint may be made of the first base, which was current when it began.
    const first = await deletedBy(one);
    expect(first.deleted.filter((name) => !name.endsWith('.done'))).toEqual([object(1, 'dead')]);
    const facts = { maxParallelism: 128, operators: [], note: '', tags: {} };
    const manifest = await writeManifest(one.ports, work, facts);
    expect(await completeManifest(one.ports, work, manifest)).toBeDefined();
    const second = await deletedBy(one);
    expect(second.deleted.filter((name) => name.includes('/bases/'))).toHaveLength(1);
  });

  it('takes pending work away that is too old, before anything that it could read', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    const work = await registerPending(one.ports, {
      kind: 'checkpoint',
      generation: 1,
      label: '',
      timeoutMs: 5000,
    });
    const facts = { maxParallelism: 128, operators: [], note: '', tags: {} };
    const manifest = await writeManifest(one.ports, work, facts);
    one.job.system.advance(5999);
    expect((await deletedBy(one)).report.expired).toEqual([]);
    one.job.system.advance(1);
    const steps: string[] = [];
    const { objects, control } = one.ports;
    const ports = {
      ...one.ports,
      control: {
        ...control,
        writeRegistry: ((job, next) => (
          steps.push('expire'),
          control.writeRegistry(job, next)
        )) satisfies ControlStore['writeRegistry'],
      },
      objects: {
        ...objects,
        remove: ((names) => (
          steps.push(...names),
          objects.remove(names)
        )) satisfies ObjectStore['remove'],
      },
    };
    const report = await collectGarbage(ports, options);
    expect(report.expired).toEqual(['checkpoint 1']);
    expect(steps).toEqual(['expire', 'jobs/demo/checkpoints/00000001/000000000001.json']);
    expect(await completeManifest(one.ports, work, manifest)).toBeUndefined();
    expect(await readRegistry(one.ports)).toMatchObject({ complete: [], failures: 1 });
  });

  it('says what it would do, and does nothing, when asked', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    await one.checkpoint();
    await put(one, object(1, 'dead'));
    const dry = await deletedBy(one, { ...options, dryRun: true });
    expect(dry.deleted).toEqual([]);
    const { report, deleted } = await deletedBy(one);
    expect(dry.report).toEqual(report);
    expect(report.deleted).toEqual({ 'segment: not on the chain': 1 });
    expect(deleted).toEqual([object(1, 'dead')]);
  });

  it('takes the completion object of a manifest before its files', async () => {
    const one = await createRestorableJob();
    await add(one, 1);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await add(one, 2);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    await keepNewest(one.ports, 1);
    const removed: (readonly string[])[] = [];
    const objects: ObjectStore = {
      ...one.ports.objects,
      remove: async (names) => void removed.push(names),
    };
    await collectGarbage({ ...one.ports, objects }, options);
    expect(removed).toHaveLength(2);
    expect(removed[0]!.every((name) => name.endsWith('.done'))).toBe(true);
    expect(removed[1]!.some((name) => name.endsWith('.run'))).toBe(true);
  });

  it('keeps a pinned manifest and its files, whether it is still retained or not', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    const first = await one.checkpoint();
    const pin = { object: first.object, id: 'p', owner: 'diff', sinceMs: 0 };
    await add(one, 3);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    await changeRegistry(one.ports, (there) => ({
      ...there,
      pins: [pin],
      complete: there.complete.slice(-1),
    }));
    const { deleted } = await deletedBy(one);
    expect(deleted.filter((name) => name.endsWith('.seg'))).toEqual([]);
    expect(namesOf(one)).toContain(first.object);
    await changeRegistry(one.ports, (there) => ({ ...there, pins: [] }));
    expect((await deletedBy(one)).deleted).toContain(first.object);
  });

  it('keeps what a compaction under way merges, and what it has written', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    const { manifest } = await one.checkpoint();
    const request = { kind: 'compaction', generation: 1, label: '', timeoutMs: 60_000 } as const;
    const { number } = await registerPending(one.ports, request);
    const into = compactionPrefix(jobName, number);
    const work = (await readRegistry(one.ports)).pending[0]!;
    await planCompaction(one.ports, work, manifest, { into, dropsTombstones: false });
    await add(one, 3);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    await keepNewest(one.ports, 1);
    await deletedBy(one);
    const done = await runCompaction(one.ports, number, minute);
    await deletedBy(one);
    expect(done.isDone).toBe(true);
    for (const { name } of done.runs![0]!.files) expect(namesOf(one)).toContain(name);
    await changeRegistry(one.ports, (there) => ({ ...there, pending: [] }));
    const { deleted } = await deletedBy(one);
    expect(deleted.filter((name) => name.startsWith(into))).toHaveLength(2);
  });

  it('takes the segments of a generation that is over, but not those of one to come', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    const { object: manifest } = await one.checkpoint();
    await add(one, 3);
    await one.restore(manifest);
    await put(one, object(4, 'zombie'));
    await put(one, object(1, 'to-come', 3));
    const undone = await deletedBy(one);
    expect(undone.deleted).toContain(object(4, 'zombie'));
    expect(undone.deleted.filter((name) => name.endsWith('.seg'))).toHaveLength(1);
    await one.checkpoint();
    await changeRegistry(one.ports, (there) => ({ ...there, complete: there.complete.slice(-1) }));
    const over = await deletedBy(one);
    expect(over.deleted.filter((name) => name.endsWith('.seg'))).toHaveLength(3);
    expect(namesOf(one)).toContain(object(1, 'to-come', 3));
    // The reservation and the manifest that it names say which rows count.
    expect(namesOf(one)).toContain(manifest);
    expect(namesOf(one)).not.toContain(manifest.replace('.json', '.done'));
  });

  it('deletes nothing where a manifest that counts is missing, or the job’s item', async () => {
    const one = await createRestorableJob();
    await add(one, 1, 2);
    const { object: manifest } = await one.checkpoint();
    await put(one, object(1, 'dead'));
    one.job.objects.lose(manifest);
    await expect(collectGarbage(one.ports, options)).rejects.toThrow('nothing is collected');
    const control = { ...one.ports.control, readJob: async () => undefined };
    await expect(collectGarbage({ ...one.ports, control }, options)).rejects.toThrow(
      'tables may be lost',
    );
    expect(namesOf(one)).toContain(object(1, 'dead'));
  });

  it('leaves alone what it does not know', async () => {
    const one = await createRestorableJob();
    await add(one, 1);
    await put(one, 'jobs/demo/notes.txt');
    await put(one, 'jobs/other/compactions/000000000001/000001.run');
    expect((await deletedBy(one)).deleted).toEqual([]);
  });
});

describe('a spill', () => {
  const large = { amount: 1, outputCharacters: 70_000 };
  const spills = (one: RestorableJob): string[] =>
    namesOf(one).filter((name) => name.includes('/emissions/'));

  /** An attempt at all records dies once their states are written; what it has spilled is for the record at the end. */
  const jobWithDeadAttempt = async (): Promise<RestorableJob> => {
    const one = await createRestorableJob();
    for (let amount = 1; amount <= 4; amount += 1) one.job.put('ann', { amount });
    one.job.put('bob', large);
    const dead = createMortalEnvironment(one.job, {
      state: {
        ...one.job.state,
        async write(scope, writes) {
          const outcomes = await one.job.state.write(scope, writes);
          dead.die();
          return outcomes;
        },
      },
    });
    await dead.deliver(one.job.records());
    return one;
  };

  const readTo = (one: RestorableJob, from: number, to: number) =>
    one.job.createEnvironment().deliver(one.job.records().slice(from, to));

  it('stays until the cut has come to what it holds, exact as the cuts before it are', async () => {
    const one = await jobWithDeadAttempt();
    expect(spills(one)).toHaveLength(1);
    for (let record = 0; record < 4; record += 1) {
      await readTo(one, record, record + 1);
      await one.checkpoint();
      await compactNow(one, chooseEverything);
      await one.checkpoint();
      await keepNewest(one.ports, 1);
      await deletedBy(one);
      expect(spills(one)).toHaveLength(1);
    }
    expect(one.job.progress()!.aheadMax).toBeUndefined();
    await readTo(one, 4, 5);
    expect(one.job.entriesOf('bob')).toEqual([1]);
  });

  it('goes once nothing lists a segment that names it', async () => {
    const one = await jobWithDeadAttempt();
    await readTo(one, 0, 5);
    await one.checkpoint();
    await deletedBy(one);
    expect(spills(one)).toHaveLength(1);
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    await keepNewest(one.ports, 1);
    await deletedBy(one);
    expect(spills(one)).toEqual([]);
  });

  it('of a parent that has gone is not asked for by the child’s first unit', async () => {
    const one = await createRestorableJob();
    one.job.put('bob', large);
    await one.deliver(shard);
    await one.checkpoint();
    await compactNow(one, chooseEverything);
    await one.checkpoint();
    await keepNewest(one.ports, 1);
    await deletedBy(one);
    expect(spills(one)).toEqual([]);
    one.job.stream.split(shard);
    one.job.put('bob', { amount: 2 });
    for (const { shardId } of one.job.stream.shards()) await one.deliver(shardId);
    expect(one.job.entriesOf('bob')).toEqual([1, 3]);
  });
});
