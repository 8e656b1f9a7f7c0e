import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../../shared/core/errors.ts';
import type { StateStore } from '../../../shared/ports/state-store.ts';
import { createJob, firstShard, type Job } from './job-fixture.ts';
import { observe } from './observe.ts';

/** An environment whose calls of every port are noted. */
const observed = (job: Job) => {
  const calls: string[] = [];
  const environment = job.createEnvironment({
    state: observe('state', job.state, calls),
    control: observe('control', job.control, calls),
    objects: observe('objects', job.objects, calls),
    reader: observe('reader', job.reader, calls),
  });
  return { calls, ...environment };
};

const putAndDeliver = (
  job: Job,
  environment: ReturnType<typeof observed>,
  user: string,
  amount: number,
) => {
  job.put(user, { amount });
  environment.calls.length = 0;
  return environment.deliver(job.records().slice(-1));
};

/** State whose next so many writes are throttled away. */
const refusingWrites = (job: Job): { state: StateStore; refuse(writes: number): void } => {
  let left = 0;
  return {
    refuse(writes) {
      left = writes;
    },
    state: {
      ...job.state,
      write(scope, writes) {
        left -= 1;
        if (left < 0) return job.state.write(scope, writes);
        return Promise.reject(new HoldfastError('unavailable', 'the table throttles'));
      },
    },
  };
};

describe('the warm path', () => {
  it('reads nothing but progress and writes state, segment and progress', async () => {
    const job = await createJob();
    const environment = observed(job);
    await putAndDeliver(job, environment, 'ann', 1);
    expect(await putAndDeliver(job, environment, 'ann', 2)).toMatchObject({
      counters: { cacheHits: 1, keysLoaded: 0 },
    });
    expect(environment.calls).toEqual([
      'control.readProgress',
      'state.write',
      'objects.create',
      'control.commitProgress',
    ]);
    expect(job.entriesOf('ann')).toEqual([1, 3]);
  });

  it('loads a key that it has not seen, and no other', async () => {
    const job = await createJob();
    const environment = observed(job);
    await putAndDeliver(job, environment, 'ann', 1);
    expect(await putAndDeliver(job, environment, 'bob', 2)).toMatchObject({
      counters: { cacheHits: 0, keysLoaded: 1 },
    });
  });

  it('serves further units of one batch, too', async () => {
    const job = await createJob({ settings: { unitRecordsMax: 1 } });
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    const environment = observed(job);
    expect(await environment.deliver()).toMatchObject({
      counters: { keysLoaded: 1, cacheHits: 2 },
    });
    expect(environment.calls.filter((call) => call === 'state.load')).toHaveLength(1);
  });
});

describe('the warm cache', () => {
  it('is dropped after somebody else’s commit', async () => {
    const job = await createJob();
    const environment = observed(job);
    await putAndDeliver(job, environment, 'ann', 1);
    job.put('ann', { amount: 2 });
    await job.createEnvironment().deliver();
    expect(await putAndDeliver(job, environment, 'ann', 3)).toMatchObject({
      counters: { cacheHits: 0, keysLoaded: 1 },
    });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });

  it('is dropped after somebody else’s commit of other keys alone', async () => {
    const job = await createJob();
    const environment = observed(job);
    await putAndDeliver(job, environment, 'ann', 1);
    job.put('bob', { amount: 2 });
    await job.createEnvironment().deliver();
    await putAndDeliver(job, environment, 'ann', 3);
    expect(environment.calls).toContain('state.load');
  });

  it('is dropped after an invocation that threw', async () => {
    const job = await createJob();
    let isBroken = false;
    const calls: string[] = [];
    const environment = job.createEnvironment({
      state: observe('state', job.state, calls),
      objects: {
        ...job.objects,
        create: (name, bytes) =>
          isBroken ? Promise.reject(new TypeError('broken')) : job.objects.create(name, bytes),
      },
    });
    job.put('ann', { amount: 1 });
    await environment.deliver();
    isBroken = true;
    job.put('ann', { amount: 2 });
    await expect(environment.deliver()).rejects.toThrow('broken');
    isBroken = false;
    calls.length = 0;
    await environment.deliver();
    expect(calls).toContain('state.load');
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.totals()).toEqual({ ann: 3 });
  });

  it('is dropped after a write was refused: its states have run and are not what is stored', async () => {
    const job = await createJob();
    const { state, refuse } = refusingWrites(job);
    const environment = job.createEnvironment({ state });
    job.put('ann', { amount: 1 });
    await environment.deliver();
    job.put('ann', { amount: 2 });
    refuse(1);
    expect(await environment.deliver()).toMatchObject({ kind: 'handBack' });
    expect(await environment.deliver()).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3]);
    expect(job.statesOf('ann')).toMatchObject({ total: 3 });
  });

  it('is dropped where a parent’s write was refused while its child was draining it', async () => {
    const job = await createJob({ settings: { drainAfterMs: 0 } });
    const { state, refuse } = refusingWrites(job);
    const environment = job.createEnvironment({ state });
    job.put('ann', { amount: 1 });
    await environment.deliver();
    job.put('ann', { amount: 2 });
    const children = job.stream.split(firstShard);
    job.put('ann', { amount: 3 });
    const child = children.find((shardId) => job.records(shardId).length > 0)!;
    refuse(1);
    const deliverChild = () => environment.deliver(job.records(child), { shardId: child });
    expect(await deliverChild()).toMatchObject({ kind: 'handBack' });
    expect(await deliverChild()).toMatchObject({ kind: 'done' });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });

  it('holds no more bytes than it may: what was used least lately goes first', async () => {
    const job = await createJob({ settings: { cacheBytesMax: 3000 } });
    const environment = observed(job);
    for (const user of ['a', 'b', 'c', 'd', 'e', 'f'])
      await putAndDeliver(job, environment, user, 1);
    expect(await putAndDeliver(job, environment, 'f', 2)).toMatchObject({
      counters: { cacheHits: 1, keysLoaded: 0 },
    });
    expect(await putAndDeliver(job, environment, 'a', 2)).toMatchObject({
      counters: { cacheHits: 0, keysLoaded: 1 },
    });
    expect(job.totals()).toEqual({ a: 3, b: 1, c: 1, d: 1, e: 1, f: 3 });
  });

  it('is no part of the result where it holds nothing at all', async () => {
    const job = await createJob({ settings: { cacheBytesMax: 0, unitRecordsMax: 1 } });
    for (const amount of [1, 2, 3]) job.put('ann', { amount });
    expect(await job.createEnvironment().deliver()).toMatchObject({ counters: { cacheHits: 0 } });
    expect(job.entriesOf('ann')).toEqual([1, 3, 6]);
  });
});
