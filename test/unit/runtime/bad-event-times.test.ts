import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createMemoryAppendSink } from '../../../shared/adapters/memory/memory-sink.ts';
import { timerTimeMax } from '../../../shared/core/timer.ts';
import { defineOperator, type Operator } from '../../../shared/operator/operator.ts';
import { appendSink } from '../../../shared/operator/sink.ts';
import { createJob, encodeJson, type Job } from './job-fixture.ts';

const outOfOrdernessMs = 10;
const dayMs = 24 * 3600 * 1000;
const arrivalMs = Date.UTC(2025, 0, 1);

/** Says what the watermark was at each event, and when its timer, due at 2000, fires. */
function clock(maxFutureSkewMs?: number): Operator {
  return defineOperator({
    id: 'clock',
    schema: z.object({ user: z.string(), at: z.union([z.number(), z.string()]).optional() }),
    key: (event) => event.user,
    eventTime: {
      time: ({ at }) => {
        if (at === 'throw') throw new Error('no such calendar');
        return Number(at);
      },
      outOfOrdernessMs,
      ...(maxFutureSkewMs === undefined ? {} : { maxFutureSkewMs }),
    },
    state: {},
    sinks: { entries: appendSink({ row: z.object({ note: z.string() }) }) },
    process(event, ctx) {
      ctx.timers.register({ name: 'alarm', time: 2000 });
      ctx.emit({
        sink: 'entries',
        row: { note: `${String(event.at)}~${ctx.watermark ?? 'none'}` },
      });
    },
    onTimer(timer, ctx) {
      ctx.emit({ sink: 'entries', row: { note: `alarm@${timer.time}~${ctx.watermark}` } });
    },
  });
}

/** A job of the clock, and what it has said. */
async function createClockJob(maxFutureSkewMs?: number) {
  const job = await createJob({ operator: clock(maxFutureSkewMs) });
  const entries = createMemoryAppendSink();
  const environment = job.createEnvironment({
    sinks: new Map([...job.sinks, ['entries', entries]]),
  });
  const notes = () => entries.rows().map(({ value }) => (value as { note: string }).note);
  return { job, environment, notes };
}

const put = (job: Job, at?: unknown): void => {
  job.putRaw('ann', encodeJson({ user: 'ann', at }));
};

const badTimes: [string, unknown, string, string][] = [
  ['is missing', undefined, 'bad-event-time', "the event's time is NaN"],
  ['is no number', 'yesterday', 'bad-event-time', "the event's time is NaN"],
  ['is infinite', 'Infinity', 'bad-event-time', "the event's time is Infinity"],
  ['is infinitely long ago', '-Infinity', 'bad-event-time', "the event's time is -Infinity"],
  ['is more than a date can hold', timerTimeMax + 1000, 'bad-event-time', 'within ±'],
  ['is longer ago than a date can hold', -timerTimeMax - 1000, 'bad-event-time', 'within ±'],
  ['lies 975 years ahead', Date.UTC(3000, 0, 1), 'bad-event-time', 'raise maxFutureSkewMs'],
  [
    'lies a millisecond too far ahead',
    arrivalMs + dayMs + 1,
    'bad-event-time',
    '86400001 ms after',
  ],
  ['cannot be told', 'throw', 'undecodable', 'no such calendar'],
];

describe('an event whose time', () => {
  it.each(badTimes)(
    '%s is a dead letter, says nothing of time, and blocks nobody',
    async (...bad) => {
      const [, at, reason, message] = bad;
      const { job, environment, notes } = await createClockJob();
      put(job, 1000);
      put(job, at);
      put(job, 1010);
      expect(await environment.deliver()).toMatchObject({ kind: 'done' });
      expect(job.progress()).toMatchObject({
        position: { sequence: job.records().at(-1)!.sequence },
        watermarks: { event: 1000 },
        earliest: { event: 2000 },
      });
      expect(notes()).toEqual(['1000~none', '1010~990']);
      expect(job.deadLetters()).toMatchObject([
        { key: 'ann', partitionKey: 'ann', reason, data: job.records()[1]!.data, arrivalMs },
      ]);
      expect(job.deadLetters()[0]!.message).toContain(message);

      // Time goes on by the next event that can be believed.
      put(job, 2010);
      await environment.deliver(job.records().slice(3));
      expect(notes().slice(2)).toEqual(['2010~1000', 'alarm@2000~2000']);
    },
  );

  it('comes alone is a dead letter, and the watermark stays unknown', async () => {
    const { job, environment } = await createClockJob();
    put(job);
    expect(await environment.deliver()).toMatchObject({ kind: 'done' });
    expect(job.deadLetters()).toHaveLength(1);
    expect(job.progress()!.watermarks.event).toBeUndefined();
  });
});

describe('an event time', () => {
  it('may lie as far ahead as the operator allows', async () => {
    const { job, environment } = await createClockJob(5000);
    put(job, arrivalMs + 5000);
    put(job, arrivalMs + 5001);
    await environment.deliver();
    expect(job.deadLetters()).toMatchObject([{ data: job.records()[1]!.data }]);
    expect(job.progress()!.watermarks.event).toBe(arrivalMs + 5000 - outOfOrdernessMs);
  });

  it('counts in whole milliseconds', async () => {
    const { job, environment } = await createClockJob();
    put(job, 1000.9);
    put(job, -0.5);
    await environment.deliver();
    expect(job.deadLetters()).toEqual([]);
    expect(job.progress()!.watermarks.event).toBe(990);
  });
});
