import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { timersPerKeyMax, type TimeDomain } from '../../../shared/core/timer.ts';
import { defineOperator } from '../../../shared/operator/operator.ts';
import { appendSink } from '../../../shared/operator/sink.ts';
import { createOperatorDriver } from '../../../shared/operator/testing/operator-driver.ts';

const timer = z.object({
  name: z.string(),
  time: z.number(),
  domain: z.enum(['event', 'arrival']).default('event'),
});
const command = z.object({
  ts: z.number(),
  register: z.array(timer).default([]),
  cancel: z.array(z.string()).default([]),
});
type Asked = z.input<typeof timer>;

/** Does what events say; each timer that fires is told, and registers what `next` says. */
function driveTimers(
  next: Readonly<Record<string, { name: string; time: number }>> = {},
  has = { eventTime: true },
) {
  const eventTime = { time: (event: { ts: number }) => event.ts, outOfOrdernessMs: 0 };
  const operator = defineOperator({
    id: 'alarms',
    schema: command,
    key: () => 'a',
    ...(has.eventTime ? { eventTime } : {}),
    state: {},
    sinks: { fired: appendSink({ row: z.object({ name: z.string(), time: z.number() }) }) },
    process({ register, cancel }, ctx) {
      for (const name of cancel) ctx.timers.cancel(name);
      for (const one of register) ctx.timers.register(one);
    },
    onTimer({ name, time }, ctx) {
      ctx.emit({ sink: 'fired', row: { name, time } });
      const following = next[name];
      if (following !== undefined) ctx.timers.register(following);
    },
  });
  const driver = createOperatorDriver(operator);
  return {
    /** Sends an event; gives the timers that fire: `name@time`. */
    send: (ts: number, register: readonly Asked[] = [], cancel: readonly string[] = []) =>
      driver
        .send({ ts, register, cancel })
        .map(({ row }) => row as Asked)
        .map(({ name, time }) => `${name}@${time}`),
    pending: () => driver.timersOf('a').map(({ name, time }) => `${name}@${time}`),
  };
}

describe('timers', () => {
  it('fire at once where their time has passed, by time and then by name', () => {
    const { send, pending } = driveTimers();
    send(1000);
    const passed = [
      { name: 'c', time: 500 },
      { name: 'later', time: 1001 },
      { name: 'b', time: 500 },
      { name: 'now', time: 1000 },
      { name: 'a', time: -7 },
    ];
    expect(send(900, passed)).toEqual(['a@-7', 'b@500', 'c@500', 'now@1000']);
    expect(pending()).toEqual(['later@1001']);
    expect(send(1001)).toEqual(['later@1001']);
  });

  it('fire behind the one that registers them, though their time is before it', () => {
    const { send } = driveTimers({
      first: { name: 'past', time: 3 },
      past: { name: 'x', time: 0 },
    });
    const two = [
      { name: 'first', time: 100 },
      { name: 'second', time: 101 },
    ];
    expect(send(50, two)).toEqual([]);
    expect(send(100_000)).toEqual(['first@100', 'past@101', 'second@101', 'x@102']);
  });

  it('are moved by being registered again, and gone when cancelled', () => {
    const { send, pending } = driveTimers();
    send(0, [
      { name: 'a', time: 10 },
      { name: 'b', time: 20 },
      { name: 'c', time: 30 },
    ]);
    send(1, [{ name: 'a', time: 25 }], ['b', 'unknown']);
    expect(pending()).toEqual(['a@25', 'c@30']);
    expect(send(30)).toEqual(['a@25', 'c@30']);
  });

  it('of both domains may have one name', () => {
    const { send, pending } = driveTimers();
    const both: TimeDomain[] = ['event', 'arrival'];
    send(
      0,
      both.map((domain) => ({ name: 'a', time: 1e13, domain })),
    );
    expect(pending()).toEqual(['a@10000000000000', 'a@10000000000000']);
    send(1, [], ['a']);
    expect(pending()).toEqual(['a@10000000000000']);
  });

  it('are refused beyond the most that a key may have', () => {
    const { send, pending } = driveTimers();
    const most = Array.from({ length: timersPerKeyMax }, (_, n) => ({ name: `t${n}`, time: 1e6 }));
    send(0, most);
    expect(() => send(1, [{ name: 'more', time: 1e6 }])).toThrow(
      'operator alarms has 10000 timers pending for one key, and no more may be',
    );
    send(2, [{ name: 't7', time: 5e5 }]);
    expect(pending()[0]).toBe('t7@500000');
    expect(pending()).toHaveLength(timersPerKeyMax);
  });

  it.each([0.5, Number.NaN, 5e15])('are refused for %d', (time) => {
    const { send } = driveTimers({ a: { name: 'bad', time } });
    expect(() => send(0, [{ name: 'a', time: 0 }])).toThrow(
      `operator alarms registers timer "bad" for ${time}, expected whole milliseconds since the epoch within ±4320000000000000`,
    );
  });

  it.each(['', 'a b', 'x'.repeat(121)])('are refused under the name %j', (name) => {
    const { send } = driveTimers();
    expect(() => send(0, [{ name, time: 1 }])).toThrow(
      `operator alarms registers timer ${JSON.stringify(name)}, expected /^[A-Za-z0-9:_-]{1,120}$/`,
    );
  });

  it('of event time are refused without event time', () => {
    const { send } = driveTimers({}, { eventTime: false });
    expect(() => send(0, [{ name: 'a', time: 1 }])).toThrow(
      'operator alarms registers event timer "a" but has no eventTime; add one, or use domain "arrival"',
    );
    expect(send(0, [{ name: 'a', time: 1, domain: 'arrival' }])).toEqual(['a@1']);
  });

  it('are refused where nothing takes them', () => {
    const deaf = defineOperator({
      id: 'deaf',
      schema: command,
      key: () => 'a',
      eventTime: { time: (event) => event.ts, outOfOrdernessMs: 0 },
      state: {},
      process: (_, ctx) => {
        ctx.timers.register({ name: 'a', time: 1 });
      },
    });
    expect(() => createOperatorDriver(deaf).send({ ts: 0 })).toThrow(
      'operator deaf registers timer "a" but has no onTimer; add one',
    );
  });
});
