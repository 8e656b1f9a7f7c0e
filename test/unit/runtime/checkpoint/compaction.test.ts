import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMemoryObjectStore } from '../../../../shared/adapters/memory/memory-object-store.ts';
import { packEmissions, unpackEmissions } from '../../../../shared/core/emission.ts';
import { decodePlan, encodePlan } from '../../../../shared/core/compaction-plan.ts';
import { decodeBase } from '../../../../shared/core/manifest-codec.ts';
import { crc32c } from '../../../../shared/core/crc32c.ts';
import type { PendingWork } from '../../../../shared/core/registry.ts';
import { decodeRunFile, encodeRunFile, type RunEntry } from '../../../../shared/core/run-file.ts';
import { encodeSegment } from '../../../../shared/core/segment.ts';
import { describeRunFile } from '../../../../shared/core/state-file.ts';
import type { ObjectStore } from '../../../../shared/ports/object-store.ts';
import {
  changeRegistry,
  readRegistry,
} from '../../../../shared/runtime/checkpoint/change-registry.ts';
import { finishCompaction } from '../../../../shared/runtime/checkpoint/finish-compaction.ts';
import { mergeFiles } from '../../../../shared/runtime/checkpoint/merge-files.ts';
import { planCompaction } from '../../../../shared/runtime/checkpoint/plan-compaction.ts';
import { runCompaction } from '../../../../shared/runtime/checkpoint/run-compaction.ts';
import { readAheadBytesMax } from '../../../../shared/runtime/checkpoint/sorted-source.ts';
import { registerPending } from '../../../../shared/runtime/checkpoint/take-manifest.ts';
import {
  compactionPrefix,
  planName,
  savepointPrefix,
} from '../../../../shared/runtime/object-names.ts';
import { makeItem, makeSegment, positionAt } from '../../core/segment-fixture.ts';
import { jobName } from '../job-fixture.ts';
import { minute } from '../restore/restorable-job.ts';
import { createHistory, mergePlainly, type History } from './history.ts';

const register = (history: History): Promise<PendingWork> =>
  registerPending(history.ports, { kind: 'compaction', generation: 1, label: '', timeoutMs: 1000 });

const into = ({ number }: PendingWork): string => compactionPrefix(jobName, number);

/** A job with a checkpoint of many segments, and a compaction of it that is planned in small files. */
const planSmall = async (fileBytes = 1500, sourcesMax = 3) => {
  const history = await createHistory('small');
  for (let event = 0; event < 12; event += 1) {
    history.put();
    await history.read();
  }
  await history.readAll();
  const { manifest } = await history.checkpoint();
  const work = await register(history);
  const limits = { sourcesMax, memoryBytesMax: 64 * 1024 * 1024, fileBytes };
  const plan = await planCompaction(history.ports, work, manifest, {
    into: into(work),
    dropsTombstones: false,
    limits,
  });
  return { history, manifest, work, plan };
};

const filesOf = ({ job }: History, { number }: PendingWork): string[] =>
  [...job.objects.objects().keys()].filter(
    (name) => name.startsWith(compactionPrefix(jobName, number)) && name.endsWith('.run'),
  );

describe('a plan', () => {
  it('is read back as it was written', async () => {
    const { plan } = await planSmall();
    const name = planName(jobName, plan.number);
    expect(decodePlan(encodePlan(plan), name, { job: jobName })).toEqual(plan);
  });

  it('is refused where a bit has flipped, or where it is another job’s', async () => {
    const { plan } = await planSmall();
    const bytes = encodePlan(plan);
    for (const at of [40, 200, bytes.length - 200]) {
      const damaged = new Uint8Array(bytes);
      damaged[at]! ^= 1;
      expect(() => decodePlan(damaged, 'plan', { job: jobName })).toThrow();
    }
    expect(() => decodePlan(bytes, 'plan', { job: 'other' })).toThrow('expected other');
  });

  it('that stands is kept', async () => {
    const { history, manifest, work, plan } = await planSmall();
    const options = { into: into(work), dropsTombstones: true };
    expect(await planCompaction(history.ports, work, manifest, options)).toEqual(plan);
  });

  it('merges no more sources at once than it may, the smallest first, each of them once', async () => {
    const { plan, manifest } = await planSmall();
    const merged = plan.steps.flatMap(({ sources }) => sources.map((one) => JSON.stringify(one)));
    const segments = manifest.channels.flatMap((cut) => cut.segments);
    expect(new Set(merged).size).toBe(merged.length);
    expect(merged).toHaveLength(segments.length + plan.steps.length - 1);
    for (const { sources } of plan.steps) expect(sources.length).toBeLessThanOrEqual(3);
    expect(plan.steps.filter(({ isFinal }) => isFinal)).toHaveLength(1);
  });

  it('names a missing segment instead of merging the rest', async () => {
    const { history, manifest } = await planSmall();
    const segment = [...history.job.objects.objects().keys()].find((name) =>
      name.endsWith('.seg'),
    )!;
    history.job.objects.lose(segment);
    const work = await register(history);
    await expect(
      planCompaction(history.ports, work, manifest, { into: into(work), dropsTombstones: false }),
    ).rejects.toThrow(`file ${segment} cannot be merged: it is not in the bucket`);
  });

  it('writes nowhere but to its own place or the savepoint’s', async () => {
    const { history, manifest } = await planSmall();
    const work = await register(history);
    const options = { into: 'jobs/demo/elsewhere/', dropsTombstones: false };
    await expect(planCompaction(history.ports, work, manifest, options)).rejects.toThrow(
      'neither its own nor a savepoint',
    );
  });

  it('of a savepoint takes no files for its own that an earlier one of its name has left', async () => {
    const { history, manifest } = await planSmall();
    const work = await registerPending(history.ports, {
      kind: 'savepoint',
      generation: 1,
      label: 'nightly',
      timeoutMs: 1000,
    });
    const place = `${savepointPrefix(jobName, 'nightly')}files/`;
    const options = { into: place, dropsTombstones: false };
    const leftover = `${place}000001.run`;
    await history.ports.objects.create(leftover, new Uint8Array([1]));
    await expect(planCompaction(history.ports, work, manifest, options)).rejects.toThrow(
      'files of an earlier savepoint nightly',
    );
    history.job.objects.lose(leftover);
    expect(await planCompaction(history.ports, work, manifest, options)).toMatchObject({
      savepoint: 'nightly',
    });
  });

  it('keeps all tombstones while a pending checkpoint’s cut is not known', async () => {
    const { history, manifest } = await planSmall();
    const request = { kind: 'checkpoint', generation: 1, label: '', timeoutMs: 1000 } as const;
    const options = { dropsTombstones: true };
    const before = await register(history);
    const drops = await planCompaction(history.ports, before, manifest, {
      ...options,
      into: into(before),
    });
    expect(drops.dropsUpTo).not.toEqual([]);
    await registerPending(history.ports, request);
    const work = await register(history);
    const keeps = await planCompaction(history.ports, work, manifest, {
      ...options,
      into: into(work),
    });
    expect(keeps.dropsUpTo).toEqual([]);
  });
});

describe('a compaction', () => {
  it('stops before its time is over and goes on behind what stands', async () => {
    const { history, manifest, work } = await planSmall();
    let invocations = 0;
    let doneBytes = -1;
    for (;;) {
      // Each invocation has time for some entries only.
      let left = 15;
      const deadline = { remainingMs: () => ((left -= 1) > 0 ? 60_000 : 10_000) };
      const state = await runCompaction(history.ports, work.number, deadline);
      invocations += 1;
      expect(state.doneBytes).toBeGreaterThanOrEqual(doneBytes);
      expect(state.doneBytes).toBeLessThanOrEqual(state.totalBytes);
      ({ doneBytes } = state);
      if (!state.isDone) continue;
      const merged = await mergePlainly(history.ports.objects, manifest, state.runs, []);
      expect(merged).toEqual(await mergePlainly(history.ports.objects, manifest));
      expect(state.doneBytes).toBe(state.totalBytes);
      break;
    }
    expect(invocations).toBeGreaterThan(5);
  });

  it('writes nothing again once it is done', async () => {
    const { history, work } = await planSmall();
    const first = await runCompaction(history.ports, work.number, minute);
    const creates: string[] = [];
    const objects: ObjectStore = {
      ...history.ports.objects,
      create: async (name, bytes) => {
        creates.push(name);
        return history.ports.objects.create(name, bytes);
      },
    };
    expect(await runCompaction({ ...history.ports, objects }, work.number, minute)).toEqual(first);
    expect(creates).toEqual([]);
  });

  it('describes its files by their headers as they are', async () => {
    const { history, work } = await planSmall();
    const { runs } = await runCompaction(history.ports, work.number, minute);
    for (const file of runs!.flatMap(({ files }) => files)) {
      const bytes = (await history.ports.objects.read(file.name))!;
      expect([file.bytes, file.crc]).toEqual([bytes.length, crc32c(bytes)]);
    }
  });

  it('goes on behind files that were cut elsewhere', async () => {
    const { history, manifest, work, plan } = await planSmall(900);
    let left = 40;
    const deadline = { remainingMs: () => ((left -= 1) > 0 ? 60_000 : 0) };
    await runCompaction(history.ports, work.number, deadline);
    // Other code cuts files of another size.
    const name = planName(jobName, work.number);
    history.job.objects.lose(name);
    await history.ports.objects.create(name, encodePlan({ ...plan, fileBytes: 2500 }));
    const { runs } = await runCompaction(history.ports, work.number, minute);
    const merged = await mergePlainly(history.ports.objects, manifest, runs, []);
    expect(merged).toEqual(await mergePlainly(history.ports.objects, manifest));
  });

  it('lets the file that stands count where another one was faster', async () => {
    const { history, manifest, work, plan } = await planSmall(900, 256);
    const slow = history.ports.objects;
    let wasOvertaken = false;
    const objects: ObjectStore = {
      ...slow,
      create: async (name, bytes) => {
        if (!wasOvertaken) {
          wasOvertaken = true;
          const faster = { ...plan, fileBytes: 400 };
          const there = planName(jobName, work.number);
          history.job.objects.lose(there);
          await slow.create(there, encodePlan(faster));
          let left = 8;
          const deadline = { remainingMs: () => ((left -= 1) > 0 ? 60_000 : 0) };
          await runCompaction(history.ports, work.number, deadline);
        }
        return slow.create(name, bytes);
      },
    };
    const { runs } = await runCompaction({ ...history.ports, objects }, work.number, minute);
    const merged = await mergePlainly(slow, manifest, runs, []);
    expect(merged).toEqual(await mergePlainly(slow, manifest));
  });

  it('is over where its files were taken away', async () => {
    const { history, work } = await planSmall();
    await runCompaction(history.ports, work.number, minute);
    history.job.objects.lose(planName(jobName, work.number));
    await expect(runCompaction(history.ports, work.number, minute)).rejects.toThrow('has no plan');
    expect(filesOf(history, work).length).toBeGreaterThan(3);
  });
});

describe('a merge of large runs', () => {
  it('holds a block of each, and what was read along with it', async () => {
    const store = createMemoryObjectStore();
    const sources = [];
    for (let run = 0; run < 4; run += 1) {
      const entries = Array.from({ length: 60 }, (_, at) => ({
        generation: 1,
        item: makeItem({
          key: `key-${String(at * 4 + run).padStart(4, '0')}`,
          keyGroup: 0,
          position: positionAt(at),
          // zstd cannot make these smaller.
          states: randomBytes(100_000),
        }),
      }));
      const name = `run-${run}`;
      const origin = { job: jobName, operator: 'tally', isLast: true };
      const { bytes } = encodeRunFile(origin, entries);
      await store.create(name, bytes);
      const { file } = describeRunFile(bytes, name);
      sources.push([{ name, bytes: file.bytes, groups: file.groups, segmentOf: undefined }]);
    }
    let readBytes = 0;
    let passedBytes = 0;
    const count = (bytes: Uint8Array | undefined): Uint8Array | undefined => {
      readBytes += bytes?.length ?? 0;
      return bytes;
    };
    const objects: ObjectStore = {
      ...store,
      read: () => Promise.reject(new Error('nothing is read whole')),
      readStart: async (name, most) => count(await store.readStart(name, most)),
      readRange: async (name, offset, length) => count(await store.readRange(name, offset, length)),
    };
    const headBytes = 64 * 1024;
    let most = 0;
    let entries = 0;
    const rule = { cutOf: () => undefined, upserts: new Set<string>(), dropsUpTo: () => undefined };
    const passed = (bytes: number): void => void (passedBytes += bytes);
    for await (const entry of mergeFiles(objects, sources, { rule, after: undefined, passed })) {
      entries += entry.item.states === undefined ? 0 : 1;
      most = Math.max(most, readBytes - passedBytes);
    }
    expect(entries).toBe(240);
    expect(readBytes).toBeGreaterThan(240 * 100_000);
    // What is read of a file to begin with is read again with its first blocks.
    expect(most).toBeLessThanOrEqual(4 * (readAheadBytesMax + headBytes));
  });
});

describe('a merge of a segment whose item names a spill', () => {
  /** More than fits into an item many times over. */
  const emissions = Array.from({ length: 40 }, (_, at) => ({
    position: positionAt(at),
    index: 0,
    sink: 'entries',
    row: '',
    value: { text: 'x'.repeat(150_000) },
  }));
  const rule = {
    cutOf: () => ({ position: positionAt(9), isExact: false }),
    upserts: new Set<string>(),
    dropsUpTo: () => undefined,
  };

  const mergeSpilled = async (objects: ObjectStore, spilled: Uint8Array) => {
    const crc = crc32c(spilled);
    const spill = { name: 'spill', bytes: spilled.length, crc, last: positionAt(39) };
    const item = makeItem({ position: positionAt(39), spills: [spill] });
    const segment = encodeSegment(makeSegment([item]));
    await objects.create('segment', segment);
    const source = {
      name: 'segment',
      bytes: segment.length,
      groups: undefined,
      segmentOf: { generation: 1 },
    };
    const entries: RunEntry[] = [];
    const options = { rule, after: undefined };
    for await (const entry of mergeFiles(objects, [[source]], options)) entries.push(entry);
    return entries;
  };

  it('holds what is past the cut itself, however large', async () => {
    const objects = createMemoryObjectStore();
    const spilled = packEmissions(emissions);
    await objects.create('spill', spilled);
    const entries = await mergeSpilled(objects, spilled);
    const origin = { job: jobName, operator: 'tally', isLast: true };
    const { bytes } = encodeRunFile(origin, entries);
    const [read] = decodeRunFile(bytes, 'run').entries;
    expect(read!.item.spills).toEqual([]);
    expect(unpackEmissions(read!.item.emissions!)).toEqual(emissions.slice(10));
  });

  it('stops where the spill is gone or damaged', async () => {
    const spilled = packEmissions(emissions);
    const gone = createMemoryObjectStore();
    await expect(mergeSpilled(gone, spilled)).rejects.toThrow('not in the bucket');
    const damaged = createMemoryObjectStore();
    await damaged.create('spill', spilled.subarray(1));
    await expect(mergeSpilled(damaged, spilled)).rejects.toThrow('damaged');
  });
});

describe('the end of a compaction', () => {
  const compacted = async () => {
    const small = await planSmall();
    const { runs } = await runCompaction(small.history.ports, small.work.number, minute);
    return { ...small, runs: runs! };
  };

  it('makes its base the one that counts, and takes its work away', async () => {
    const { history, work, runs, manifest } = await compacted();
    const { ports } = history;
    const finished = await finishCompaction(ports, work, runs);
    expect(finished).toMatchObject({ isCurrent: true });
    const registry = await readRegistry(ports);
    expect(registry).toMatchObject({
      pending: [],
      base: { generation: 1, object: finished!.base },
    });
    const bytes = (await ports.objects.read(finished!.base))!;
    const base = decodeBase(bytes, finished!.base, { job: jobName });
    expect(base.compacted.map(({ number }) => number)).toEqual(
      manifest.channels.map(({ progress }) => progress.head!.number),
    );
    const { manifest: next } = await history.checkpoint();
    expect(next.runs).toEqual(runs);
    expect(next.channels.flatMap(({ segments }) => segments)).toEqual([]);
  });

  it('is the same, found twice', async () => {
    const { history, work, runs } = await compacted();
    const both = await Promise.all([
      finishCompaction(history.ports, work, runs),
      finishCompaction(history.ports, work, runs),
    ]);
    expect(both[0]).toEqual(both[1]);
    expect(await finishCompaction(history.ports, work, runs)).toEqual(both[0]);
  });

  it('comes to nothing where its work was taken away as too old', async () => {
    const { history, work, runs } = await compacted();
    await changeRegistry(history.ports, (there) => ({ ...there, pending: [] }));
    expect(await finishCompaction(history.ports, work, runs)).toBeUndefined();
    expect((await readRegistry(history.ports)).base).toBeUndefined();
  });

  it('never puts a base in place of one that reaches further', async () => {
    const { history, work, runs } = await compacted();
    const { ports } = history;
    history.put();
    await history.readAll();
    const { manifest } = await history.checkpoint();
    const later = await register(history);
    await planCompaction(ports, later, manifest, { into: into(later), dropsTombstones: false });
    const done = await runCompaction(ports, later.number, minute);
    const finished = await finishCompaction(ports, later, done.runs!);
    expect(await finishCompaction(ports, work, runs)).toMatchObject({ isCurrent: false });
    expect((await readRegistry(ports)).base!.object).toBe(finished!.base);
  });

  it('does not touch another generation', async () => {
    const { history, work, runs } = await compacted();
    const [checkpoint] = (await readRegistry(history.ports)).complete;
    await history.restore(checkpoint!.object);
    expect(await finishCompaction(history.ports, work, runs)).toMatchObject({ isCurrent: false });
    expect((await readRegistry(history.ports)).base).toBeUndefined();
  });
});
