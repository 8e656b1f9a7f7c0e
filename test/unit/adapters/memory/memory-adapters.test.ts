import { describe, expect, it } from 'vitest';

import { createMemoryControlStore } from '../../../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../../../shared/adapters/memory/memory-object-store.ts';
import {
  createMemoryAppendSink,
  createMemoryUpsertSink,
} from '../../../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../../../shared/adapters/memory/memory-state-store.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../../../shared/adapters/memory/memory-telemetry.ts';
import { zeroCounters } from '../../../../shared/ports/telemetry.ts';
import type { PlacedRow } from '../../../../shared/ports/sink.ts';
import { makeChannel, makeJob, makeProgress } from '../../../contract/control-store.contract.ts';
import { makeHint, sorted } from '../../../contract/hint-store.contract.ts';
import { makeRow, makeSource } from '../../../contract/sink.contract.ts';
import { makeItem } from '../../../contract/state-store.contract.ts';

const scope = { job: 'flights', generation: 1, operator: 'delays' };

describe('memory state store', () => {
  it('shows copies of its rows in order', async () => {
    const store = createMemoryStateStore();
    const items = [
      makeItem({ key: 'b', keyGroup: 10 }),
      makeItem({ key: 'a', keyGroup: 10 }),
      makeItem({ key: 'c', keyGroup: 9 }),
    ];
    await store.write(
      scope,
      items.map((item) => ({ item, expectedVersion: undefined })),
    );
    const rows = store.rows();
    expect(rows.map(({ item }) => item.key)).toEqual(['c', 'a', 'b']);
    rows[0]!.item.states!.fill(0);
    expect([...store.rows()[0]!.item.states!]).toEqual([1, 2, 3]);
  });

  it('collects what has expired, and nothing else', async () => {
    const store = createMemoryStateStore();
    const items = ['due', 'later', 'never'].map((key) => makeItem({ key, states: undefined }));
    await store.write(
      scope,
      items.map((item) => ({ item, expectedVersion: undefined })),
    );
    await store.expireTombstones(scope, [
      { ...items[0]!, expiresAtSeconds: 100 },
      { ...items[1]!, expiresAtSeconds: 101 },
    ]);
    store.collectExpired(101);
    expect(store.rows().map(({ item }) => item.key)).toEqual(['later', 'never']);
  });
});

describe('memory control store', () => {
  it('shows copies of all progress', async () => {
    const store = createMemoryControlStore();
    const job = await store.createJob(makeJob());
    const channel = makeChannel();
    await store.bear({
      job: job.name,
      channel,
      progress: makeProgress(),
      finishedParentIds: [],
    });
    expect(store.progressRows()).toEqual([{ job: job.name, channel, progress: makeProgress() }]);
    expect(store.progressRows()[0]!.progress).not.toBe(store.progressRows()[0]!.progress);
  });
});

describe('memory hint store', () => {
  it('shows copies of all hints', async () => {
    const store = createMemoryHintStore();
    const hints = [makeHint(), makeHint({ key: 'bob' }), makeHint({ domain: 'arrival' })];
    await store.insert(scope, hints);
    await store.insert({ ...scope, generation: 2 }, hints.slice(0, 1));
    await store.remove(scope, hints.slice(1, 2));
    expect(sorted(store.hints())).toEqual(sorted([hints[0]!, hints[0]!, hints[2]!]));
    Object.assign(store.hints()[0]!, { time: 0 });
    expect(store.hints().map(({ time }) => time)).not.toContain(0);
  });
});

describe('memory object store', () => {
  it('shows its objects, and loses one by an accident', async () => {
    const store = createMemoryObjectStore();
    await store.create('b', new Uint8Array([2]));
    await store.create('a', new Uint8Array([1]));
    expect([...store.objects().keys()]).toEqual(['a', 'b']);
    store.lose('a');
    expect(await store.read('a')).toBeUndefined();
    expect([...store.objects().keys()]).toEqual(['b']);
  });
});

describe('memory sinks', () => {
  it('write a row of its own after others were removed, where at-least-once is declared', async () => {
    const sink = createMemoryAppendSink({ delivery: 'at-least-once' });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await sink.write(makeSource(), [makeRow('k', 1)]);
    }
    const first = await sink.scan()[Symbol.asyncIterator]().next();
    expect(await sink.remove([first.value as PlacedRow])).toBe(1);
    expect(await sink.write(makeSource(), [makeRow('k', 1)])).toEqual({ written: 1, skipped: 0 });
    expect(sink.rows()).toHaveLength(3);
  });

  it('write a row with each attempt where at-least-once is declared', async () => {
    const sink = createMemoryAppendSink({ delivery: 'at-least-once' });
    const rows = [makeRow('k', 1), makeRow('k', 2)];
    expect(await sink.write(makeSource(), rows)).toEqual({ written: 2, skipped: 0 });
    expect(await sink.write(makeSource(), rows)).toEqual({ written: 2, skipped: 0 });
    expect(sink.rows()).toHaveLength(4);
  });

  it('show removed upsert rows apart', async () => {
    const sink = createMemoryUpsertSink();
    await sink.write(makeSource(), [makeRow('k', 1, { row: '-' })]);
    await sink.write(makeSource(), [makeRow('k', 2, { row: '-', value: null })]);
    expect(sink.rows()).toEqual([]);
    expect(sink.removedRows().map(({ key }) => key)).toEqual(['k']);
  });

  it('share no memory with their callers', async () => {
    const sink = createMemoryAppendSink();
    const value = { tags: ['a'] };
    await sink.write(makeSource(), [makeRow('k', 1, { value })]);
    value.tags.push('b');
    const [row] = sink.rows();
    (row!.value as { tags: string[] }).tags.push('c');
    expect(sink.rows()[0]!.value).toEqual({ tags: ['a'] });
  });
});

describe('memory system', () => {
  it('has a clock that moves when it is told to, or when somebody sleeps', async () => {
    const system = createMemorySystem({ startMs: 1_000 });
    expect(system.now()).toBe(1_000);
    system.advance(5);
    await system.sleep(10);
    expect(system.now()).toBe(1_015);
  });

  it('gives the same ids for the same seed', () => {
    const ids = (seed: string): string[] => {
      const system = createMemorySystem({ seed });
      return [system.randomId(), system.randomId(), String(system.randomVersion())];
    };
    expect(ids('a')).toEqual(ids('a'));
    expect(ids('a')).not.toEqual(ids('b'));
  });
});

describe('memory telemetry', () => {
  it('collects lines and adds counters up', () => {
    const telemetry = createMemoryTelemetry();
    telemetry.log('info', 'first');
    telemetry.log('warn', 'second', { a: 1 });
    telemetry.publish('delays', { ...zeroCounters(), records: 2, units: 1 });
    telemetry.publish('delays', { ...zeroCounters(), records: 3 });
    telemetry.publish('totals', { ...zeroCounters(), records: 10 });
    expect(telemetry.lines).toEqual([
      { level: 'info', message: 'first', fields: {} },
      { level: 'warn', message: 'second', fields: { a: 1 } },
    ]);
    expect(telemetry.total('delays')).toEqual({ ...zeroCounters(), records: 5, units: 1 });
    expect(telemetry.total().records).toBe(15);
    expect(telemetry.total('nobody')).toEqual(zeroCounters());
  });
});
