import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createMemoryAppendSink } from '../../../shared/adapters/memory/memory-sink.ts';
import { hashKey } from '../../../shared/core/key-group.ts';
import { defineOperator, type Operator } from '../../../shared/operator/operator.ts';
import { appendSink } from '../../../shared/operator/sink.ts';
import { hintPartitions } from '../../../shared/ports/hint-store.ts';
import { aggregate } from '../core/aggregate-fixture.ts';
import { createJob, deliverUntilDone, encodeJson, firstShard, type Job } from './job-fixture.ts';

/** Registers the timers that an event names; each tells when it fires. Events are never out of order. */
function alarmClock(): Operator {
  return defineOperator({
    id: 'alarms',
    schema: z.object({
      user: z.string(),
      at: z.number(),
      alarms: z.record(z.string(), z.number()).default({}),
    }),
    key: (event) => event.user,
    eventTime: { time: (event) => event.at, outOfOrdernessMs: 0 },
    state: {},
    sinks: { entries: appendSink({ row: z.object({ rings: z.string() }) }) },
    process(event, ctx) {
      for (const [name, time] of Object.entries(event.alarms)) ctx.timers.register({ name, time });
    },
    onTimer({ name, time }, ctx) {
      ctx.emit({ sink: 'entries', row: { rings: `${ctx.key} ${name}@${time}~${ctx.watermark}` } });
    },
  });
}

const secondShard = 'shardId-000000000001';
// By hash: two in the lower half, the first of them behind the second, and one in the upper half.
const [low, lowToo, high] = ['ann', 'k7', 'dan'];

async function createAlarmJob(shards: number) {
  // The clock is looked at behind each record and each timer.
  const job = await createJob({
    operator: alarmClock(),
    shards,
    settings: { clockCheckSteps: 1, drainAfterMs: 0 },
  });
  const entries = createMemoryAppendSink();
  const sinks = new Map([...job.sinks, ['entries', entries]] as const);
  return {
    job,
    /** What has rung, in no particular order. */
    rings: () => entries.rows().map(({ value }) => (value as { rings: string }).rings),
    createEnvironment: () => job.createEnvironment({ sinks }),
  };
}

const event = (user: string, at: number, alarms: Record<string, number> = {}) =>
  encodeJson({ user, at, alarms });

/** Time for so many looks at the clock, and none after that. */
const timeFor = (looks: number) => {
  let left = looks;
  return () => (left-- > 0 ? 60_000 : 0);
};

describe('a timer that its record registers for a time that has passed', () => {
  it('fires though the unit ended right behind the record and somebody late has removed its hint', async () => {
    const { job, rings, createEnvironment } = await createAlarmJob(1);
    job.putRaw(low, event(low, 200));
    job.putRaw(low, event(low, 200, { bell: 150, gong: 150 }));
    const outcome = await createEnvironment().deliver(job.records(), { remainingMs: timeFor(2) });
    expect(outcome).toMatchObject({ kind: 'handBack' });
    expect(job.progress()).toMatchObject({
      position: { sequence: job.records()[1]!.sequence },
      firing: 'none',
    });
    expect(rings()).toEqual([]);
    // Whoever committed the first record may remove hints at any time up to 200.
    await forgetHints(job, createEnvironment);
    await deliverUntilDone(createEnvironment(), job.records());
    expect(rings()).toEqual([`${low} bell@150~200`, `${low} gong@150~200`]);
    expect(job.progress()).toMatchObject({ firing: undefined, aheadMax: undefined });
  });

  it('fires though the unit after that ended between two such timers', async () => {
    const { job, rings, createEnvironment } = await createAlarmJob(1);
    job.putRaw(low, event(low, 200));
    job.putRaw(low, event(low, 200, { bell: 150, gong: 150 }));
    await createEnvironment().deliver(job.records(), { remainingMs: timeFor(2) });
    await forgetHints(job, createEnvironment);
    await createEnvironment().deliver(job.records(), { remainingMs: timeFor(2) });
    expect(rings()).toEqual([`${low} bell@150~200`]);
    await forgetHints(job, createEnvironment);
    await deliverUntilDone(createEnvironment(), job.records());
    expect(rings()).toEqual([`${low} bell@150~200`, `${low} gong@150~200`]);
  });
});

describe('after shards were merged', () => {
  it('a timer that is due by what its key saw before fires behind an aggregated record of several keys', async () => {
    const { job, rings, createEnvironment } = await createAlarmJob(2);
    expect(hashKey(lowToo) < hashKey(low) && hashKey(low) < hashKey(high)).toBe(true);
    job.putRaw(low, event(low, 200));
    const child = job.stream.merge(firstShard, secondShard);
    job.putRaw(
      low,
      aggregate([
        { partitionKey: low, data: event(low, 100, { bell: 150 }) },
        { partitionKey: high, data: event(high, 101) },
      ]),
    );
    job.putRaw(high, event(high, 102));
    await createEnvironment().deliver(job.records(child).slice(0, 1), { shardId: child });
    expect(rings()).toEqual([`${low} bell@150~200`]);
  });

  it('a timer that is due by what other keys saw before is not taken for fired', async () => {
    const { job, rings, createEnvironment } = await createAlarmJob(2);
    job.putRaw(low, event(low, 100));
    job.putRaw(high, event(high, 200));
    const child = job.stream.merge(firstShard, secondShard);
    job.putRaw(low, event(low, 100, { bell: 150 }));
    job.putRaw(high, event(high, 100, { gong: 120, horn: 121 }));
    job.putRaw(high, event(high, 160));
    const records = job.records(child);
    await createEnvironment().deliver(records.slice(0, 1), { shardId: child });
    // This unit ends between two timers, past all keys before theirs, and the next one goes on there.
    const remainingMs = timeFor(3);
    await createEnvironment().deliver(records.slice(1, 2), { shardId: child, remainingMs });
    expect(job.progress(child)).toMatchObject({ firing: { key: high, name: 'e:gong' } });
    await createEnvironment().deliver(records.slice(1, 2), { shardId: child });
    expect(job.progress(child)).toMatchObject({ firing: undefined });
    await deliverUntilDone(createEnvironment(), records.slice(2), { shardId: child });
    expect(rings().sort()).toEqual(
      [`${low} bell@150~160`, `${high} gong@120~200`, `${high} horn@121~200`].sort(),
    );
  });
});

/** What a late removal may have done at worst. */
async function forgetHints(
  job: Job,
  createEnvironment: () => ReturnType<Job['createEnvironment']>,
): Promise<void> {
  const { hints } = createEnvironment().runtime;
  const scope = { job: 'demo', generation: job.progress()!.generation, operator: 'alarms' };
  const all = { from: '0'.repeat(32), to: 'f'.repeat(32) };
  for (let partition = 0; partition < hintPartitions; partition += 1) {
    const { due } = await hints.findDue(scope, partition, 'event', 200, all);
    await hints.remove(scope, due);
  }
}
