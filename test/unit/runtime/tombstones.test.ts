import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink } from '../../../shared/operator/sink.ts';
import { decodeSegment } from '../../../shared/core/segment.ts';
import { createJob } from './job-fixture.ts';
import { createMortalEnvironment } from './mortal-environment.ts';

const retentionSeconds = 24 * 3600;
const marginSeconds = 24 * 3600;

describe('a key whose states were all cleared', () => {
  it('stays as a tombstone at the position of its last record', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    job.put('ann', { amount: 2, kind: 'close' });
    await job.createEnvironment().deliver();
    expect(job.state.rows()).toMatchObject([
      {
        item: {
          key: 'ann',
          states: undefined,
          position: { sequence: job.records()[1]!.sequence, sub: 0 },
        },
      },
    ]);
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.totals()).toEqual({});
  });

  it('goes into the changelog as a tombstone', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    await job.createEnvironment().deliver();
    const segments = [...job.objects.objects()].filter(([name]) => name.endsWith('.seg'));
    const [name, bytes] = segments[0]!;
    expect(decodeSegment(bytes, name).items).toMatchObject([{ key: 'ann', states: undefined }]);
  });

  it('may be collected one day after its record has left the stream', async () => {
    const job = await createJob();
    job.system.advance(1234);
    job.put('ann', { amount: 1, kind: 'close' });
    const { arrivalMs } = job.records()[0]!;
    job.system.advance(5000);
    await job.createEnvironment().deliver();
    expect(job.state.rows()[0]!.expiresAtSeconds).toBe(
      Math.ceil(arrivalMs / 1000) + retentionSeconds + marginSeconds,
    );
  });

  it('begins anew with its next record, and may not be collected any more', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    const environment = job.createEnvironment();
    await environment.deliver();
    const { version } = job.state.rows()[0]!.item;
    job.put('ann', { amount: 5 });
    await environment.deliver();
    expect(job.state.rows()).toMatchObject([
      { item: { version: version + 1 }, expiresAtSeconds: undefined },
    ]);
    expect(job.totals()).toEqual({ ann: 5 });
  });

  it('begins anew after it was collected', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    await job.createEnvironment().deliver();
    job.state.collectExpired(Number.MAX_SAFE_INTEGER);
    expect(job.state.rows()).toEqual([]);
    job.put('ann', { amount: 5 });
    await job.createEnvironment().deliver(job.records());
    expect(job.entriesOf('ann')).toEqual([1, 5]);
  });

  it('begins anew in an environment that still remembers the collected tombstone', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    const environment = job.createEnvironment();
    await environment.deliver();
    job.state.collectExpired(Number.MAX_SAFE_INTEGER);
    job.put('ann', { amount: 5 });
    expect(await environment.deliver(job.records().slice(1))).toMatchObject({
      kind: 'done',
      counters: { cacheHits: 1, keysReran: 1 },
    });
    expect(job.entriesOf('ann')).toEqual([1, 5]);
  });

  it('still tells a late delivery that its record was applied', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    job.put('bob', { amount: 1 });
    await job.createEnvironment().deliver();
    await job.createEnvironment().deliver();
    expect(job.entriesOf('ann')).toEqual([1]);
  });
});

describe('the time to live of a tombstone', () => {
  it('is not set while progress has not passed it', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    const environment = job.createEnvironment({
      control: {
        ...job.control,
        commitProgress: () => Promise.reject(new TypeError('the process was stopped here')),
      },
    });
    await expect(environment.deliver()).rejects.toThrow('the process was stopped here');
    expect(job.state.rows()).toMatchObject([
      { item: { states: undefined }, expiresAtSeconds: undefined },
    ]);
  });

  it('is not set while the cut is before it, as after a dead attempt with a longer cut', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1 });
    job.put('ann', { amount: 2, kind: 'close' });
    const dead = createMortalEnvironment(job, {
      state: {
        ...job.state,
        async write(scope, writes) {
          const outcomes = await job.state.write(scope, writes);
          dead.die();
          return outcomes;
        },
      },
    });
    expect(await dead.deliver(job.records())).toBe('died');
    await job.createEnvironment().deliver(job.records().slice(0, 1));
    expect(job.state.rows()).toMatchObject([
      { item: { states: undefined }, expiresAtSeconds: undefined },
    ]);
    await job.createEnvironment().deliver();
    expect(job.state.rows()[0]!.expiresAtSeconds).toBeDefined();
  });

  it('is not set on a key that has state, nor on a newer version', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    job.put('bob', { amount: 1 });
    const environment = job.createEnvironment({
      state: {
        ...job.state,
        async expireTombstones(scope, tombstones) {
          // Somebody else has written the key meanwhile.
          const { item } = job.state.rows().find((row) => row.item.key === 'ann')!;
          const newer = { ...item, version: item.version + 1 };
          await job.state.write(scope, [{ item: newer, expectedVersion: item.version }]);
          await job.state.expireTombstones(scope, tombstones);
          expect(tombstones.map(({ key }) => key)).toEqual(['ann']);
        },
      },
    });
    await environment.deliver();
    expect(job.state.rows().map((row) => row.expiresAtSeconds)).toEqual([undefined, undefined]);
  });

  it('costs no more than a warning where it cannot be set', async () => {
    const job = await createJob();
    job.put('ann', { amount: 1, kind: 'close' });
    const environment = job.createEnvironment({
      state: { ...job.state, expireTombstones: () => Promise.reject(new Error('throttled')) },
    });
    expect(await environment.deliver()).toMatchObject({ kind: 'done' });
    expect(job.telemetry.lines).toMatchObject([
      {
        level: 'warn',
        message: 'tombstones could not be given their time to live',
        fields: { tombstones: 1, error: 'throttled' },
      },
    ]);
  });
});

describe('a key without states that has a timer left', () => {
  it('may not be collected before that has fired', async () => {
    const operator = defineOperator({
      id: 'reminder',
      schema: z.object({ user: z.string(), at: z.number() }),
      key: ({ user }) => user,
      state: {},
      sinks: { entries: appendSink({ row: z.object({ total: z.number() }) }) },
      process: ({ at }, { timers, now }) => {
        timers.register({ name: 'remind', time: now() + at, domain: 'arrival' });
      },
      onTimer: ({ time }, { emit }) => {
        emit({ sink: 'entries', row: { total: time } });
      },
    });
    const job = await createJob({ operator });
    job.putRaw('ann', JSON.stringify({ user: 'ann', at: 5000 }));
    const environment = job.createEnvironment();
    await environment.deliver();
    expect(job.state.rows()).toMatchObject([
      { item: { key: 'ann', states: undefined }, expiresAtSeconds: undefined },
    ]);
    job.system.advance(5000);
    job.putRaw('bob', JSON.stringify({ user: 'bob', at: 5000 }));
    await environment.deliver();
    expect(job.entriesOf('ann')).toHaveLength(1);
    const ann = job.state.rows().find(({ item }) => item.key === 'ann');
    expect(ann).toMatchObject({ item: { timers: [] } });
    expect(ann!.expiresAtSeconds).toBeDefined();
  });
});
