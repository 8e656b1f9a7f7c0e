import { describe, expect, it } from 'vitest';

import { createMemoryControlStore } from '../../../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryAppendSink } from '../../../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../../../shared/adapters/memory/memory-state-store.ts';
import { makeChannel, makeJob, makeProgress } from '../../../contract/control-store.contract.ts';
import { makeHint } from '../../../contract/hint-store.contract.ts';
import { makeRow, makeSource } from '../../../contract/sink.contract.ts';
import { makeItem } from '../../../contract/state-store.contract.ts';

const scope = { job: 'flights', generation: 1, operator: 'delays' };

describe('the copy of a memory store', () => {
  it('has the items of the state store, and goes its own way', async () => {
    const store = createMemoryStateStore();
    const item = makeItem({ key: 'a' });
    await store.write(scope, [{ item, expectedVersion: undefined }]);
    const copy = store.copy();
    expect(copy.rows()).toEqual(store.rows());

    const next = { ...item, version: item.version + 1 };
    const write = { item: next, expectedVersion: item.version };
    expect(await store.write(scope, [write])).toEqual(['written']);
    expect(copy.rows().map((row) => row.item.version)).toEqual([item.version]);
    // Another write of the same version wins there, too.
    expect(await copy.write(scope, [write])).toEqual(['written']);
    const other = { item: makeItem({ key: 'b' }), expectedVersion: undefined };
    expect(await copy.write(scope, [other])).toEqual(['written']);
    expect(store.rows().map((row) => row.item.key)).toEqual(['a']);
  });

  it('has job, progress and suspicions of the control store, and goes its own way', async () => {
    const store = createMemoryControlStore();
    const job = await store.createJob(makeJob());
    const channel = makeChannel();
    const progress = makeProgress();
    await store.bear({ job: job.name, channel, progress, finishedParentIds: [] });
    const suspicion = {
      version: 1,
      position: undefined,
      span: 1,
      outstanding: ['a'],
      throws: 0,
      reason: undefined,
    };
    await store.writeSuspicion(job.name, progress.generation, channel, suspicion);

    const copy = store.copy();
    expect(await copy.readJob(job.name)).toEqual(job);
    expect(copy.progressRows()).toEqual(store.progressRows());
    expect(await copy.readSuspicion(job.name, progress.generation, channel)).toEqual(suspicion);

    const next = { ...progress, version: progress.version + 1, attempt: 'later' };
    await store.commitProgress(job.name, channel, next, progress.position);
    await copy.replaceJob({ ...job, version: job.version + 1, status: 'creating' }, job.version);
    await copy.writeSuspicion(job.name, progress.generation, channel, { ...suspicion, version: 2 });
    expect(copy.progressRows().map((row) => row.progress.attempt)).toEqual([progress.attempt]);
    expect(await store.readJob(job.name)).toEqual(job);
    expect(await store.readSuspicion(job.name, progress.generation, channel)).toEqual(suspicion);
  });

  it('has the hints of the hint store, and goes its own way', async () => {
    const store = createMemoryHintStore();
    await store.insert(scope, [makeHint()]);
    const copy = store.copy();
    await store.remove(scope, [makeHint()]);
    expect(copy.hints()).toEqual([makeHint()]);
    await copy.insert(scope, [makeHint({ key: 'bob' })]);
    expect(store.hints()).toEqual([]);
  });

  it('has the objects of the object store, and goes its own way', async () => {
    const store = createMemoryObjectStore();
    await store.create('a', new Uint8Array([1]));
    const copy = store.copy();
    await store.create('b', new Uint8Array([2]));
    copy.lose('a');
    await copy.create('a', new Uint8Array([3]));
    expect([...copy.objects()]).toEqual([['a', new Uint8Array([3])]]);
    expect([...store.objects()]).toEqual([
      ['a', new Uint8Array([1])],
      ['b', new Uint8Array([2])],
    ]);
  });
});

describe('a memory append sink whose rows have ids of their own', () => {
  it('keeps the first of the rows with one id', async () => {
    const sink = createMemoryAppendSink({ idOf: ({ emission }) => `id-${emission.index}` });
    expect(await sink.write(makeSource(), [makeRow('k', 1), makeRow('k', 2)])).toEqual({
      written: 1,
      skipped: 1,
    });
    expect(await sink.write(makeSource(), [makeRow('k', 2, { index: 1 })])).toEqual({
      written: 1,
      skipped: 0,
    });
    expect(sink.rows().map(({ id }) => id)).toEqual(['id-0', 'id-1']);
  });

  it('takes a row twice that comes under two ids', async () => {
    let attempt = 0;
    const sink = createMemoryAppendSink({ idOf: ({ id }) => `${id}@${(attempt += 1)}` });
    await sink.write(makeSource(), [makeRow('k', 1)]);
    await sink.write(makeSource(), [makeRow('k', 1)]);
    expect(sink.rows()).toHaveLength(2);
  });
});
