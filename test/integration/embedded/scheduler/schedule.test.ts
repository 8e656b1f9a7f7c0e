import { describe, expect, it, onTestFinished } from 'vitest';

import type { InvocationResult } from '../../../../localstack/embedded/lambda/invocation-result.ts';
import type { ScheduleSettings } from '../../../../localstack/embedded/scheduler/schedule-settings.ts';
import {
  assertScheduleSpeed,
  startSchedule,
  type EmbeddedSchedule,
  type ScheduleHost,
} from '../../../../localstack/embedded/scheduler/schedule.ts';
import { pollUntilTrue } from '../poll-until.ts';

const success: InvocationResult = { kind: 'success', requestId: 'r', payload: 'null' };
const failed: InvocationResult = {
  kind: 'failed',
  reason: 'function-error',
  requestId: 'r',
  errorType: 'RangeError',
  errorMessage: 'out of range',
  logTail: [],
};
const throttled: InvocationResult = {
  kind: 'rejected',
  reason: 'throttled',
  requestId: 'r',
  errorMessage: 'Rate exceeded',
};
const tooLarge: InvocationResult = { ...throttled, reason: 'payload-too-large' };

type Answer = (event: string, call: number) => InvocationResult | Promise<InvocationResult>;

/** A schedule whose function is given; by default it ticks every minute, at the speed of AWS, and retries at once. */
function start(
  answer: Answer,
  changes: Partial<Omit<ScheduleHost, 'settings'>> & {
    readonly settings?: Partial<ScheduleSettings>;
  } = {},
) {
  const events: string[] = [];
  const lines: string[] = [];
  const settings: ScheduleSettings = {
    intervalMs: 60_000,
    isEnabled: true,
    input: undefined,
    retryAttemptsMax: 3,
    eventAgeMsMax: 3_600_000,
    ...changes.settings,
  };
  const schedule: EmbeddedSchedule = startSchedule({
    logicalId: 'Timer',
    name: 'timer',
    arn: 'arn:aws:scheduler:us-east-1:000000000000:schedule/default/timer',
    functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:tested',
    place: { region: 'us-east-1', accountId: '000000000000' },
    speed: 0,
    pace: { retryDelayMsMin: 0, retryDelayMsMax: 0 },
    invoke: async (event) => answer(event, events.push(event)),
    nowMs: () => Date.UTC(2030, 0, 2, 3, 4, 5, 678),
    log: (line) => lines.push(line),
    ...changes,
    settings,
  });
  onTestFinished(() => schedule.stop());
  return { schedule, events, lines };
}

describe('a schedule', () => {
  it('is due as soon as it is there, and only once within its interval', async () => {
    const { schedule, events } = start(() => success, { speed: 1 });
    await pollUntilTrue('the first run', () => events.length === 1);
    await schedule.stop();
    expect(schedule.stats()).toEqual({ runs: 1, retries: 0, failures: 0, skips: 0 });
  });

  it('is due again and again, faster if it is told to be', async () => {
    const { schedule, events } = start(() => success, { speed: 6_000 });
    await pollUntilTrue('five runs', () => events.length >= 5);
    expect(schedule.stats()).toMatchObject({ retries: 0, failures: 0 });
    expect(schedule.intervalMs).toBe(60_000);
  });

  it.each([
    ['at speed 0', { speed: 0 }],
    ['when it is disabled', { speed: 6_000, settings: { isEnabled: false } }],
  ])('never is due %s, and runs by hand', async (_, changes) => {
    const { schedule, events } = start(() => success, changes);
    expect(await schedule.fire()).toEqual({ attempts: 1, result: success });
    expect(await schedule.fire()).toEqual({ attempts: 1, result: success });
    await schedule.stop();
    expect(events).toHaveLength(2);
  });

  it('is due after a wait that no timer of Node can hold', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const { schedule, events } = start(() => success, {
      speed: 1,
      settings: { intervalMs: 365 * 86_400_000 },
    });
    await pollUntilTrue('the first run', () => events.length === 1);
    // A timer of more than 2^31 ms would be over at once; a few turns of the loop would show it.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setTimeout(done, 1));
    await schedule.stop();
    expect(events).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it('goes on beside a run that hangs, up to four at once', async () => {
    const hanging = Promise.withResolvers<InvocationResult>();
    const { schedule, events, lines } = start(() => hanging.promise, { speed: 6_000 });
    await pollUntilTrue('a skipped time', () => schedule.stats().skips > 0);
    expect(events).toHaveLength(4);
    expect(lines).toContain('not run this time: 4 runs are still under way');
    hanging.resolve(success);
    await pollUntilTrue('a fifth run', () => events.length > 4);
  });

  it('waits for its runs when it stops, and begins none any more', async () => {
    const hanging = Promise.withResolvers<InvocationResult>();
    const { schedule, events } = start(() => hanging.promise);
    const fired = schedule.fire();
    let hasStopped = false;
    const stopping = schedule.stop().then(() => (hasStopped = true));
    await new Promise((done) => setImmediate(done));
    expect(hasStopped).toBe(false);
    hanging.resolve(failed);
    expect(await fired).toEqual({ attempts: 1, result: failed });
    await stopping;
    await expect(schedule.fire()).rejects.toThrow('schedule timer cannot run: the local AWS');
    expect(events).toHaveLength(1);
  });

  it('does not wait for the pause before a retry when it stops', async () => {
    const pace = { retryDelayMsMin: 3_600_000, retryDelayMsMax: 3_600_000 };
    const { schedule, events } = start(() => failed, { pace });
    const fired = schedule.fire();
    await pollUntilTrue('the first attempt', () => events.length === 1);
    await schedule.stop();
    expect((await fired).result).toEqual(failed);
  });
});

describe('a run of a schedule', () => {
  it('tries a function that fails twice more, as Lambda does', async () => {
    const { schedule, events, lines } = start(() => failed);
    expect(await schedule.fire()).toEqual({ attempts: 3, result: failed });
    expect(events).toHaveLength(3);
    expect(schedule.stats()).toEqual({ runs: 1, retries: 2, failures: 1, skips: 0 });
    expect(lines).toEqual(['given up after 3 attempts: RangeError: out of range']);
  });

  it('ends with the attempt that succeeds', async () => {
    const { schedule } = start((_, call) => (call < 3 ? failed : success));
    expect(await schedule.fire()).toEqual({ attempts: 3, result: success });
    expect(schedule.stats()).toEqual({ runs: 1, retries: 2, failures: 0, skips: 0 });
  });

  it.each([0, 3, 185])(
    'tries one that is throttled %d times more, as its policy says',
    async (max) => {
      const { schedule } = start(() => throttled, { settings: { retryAttemptsMax: max } });
      expect(await schedule.fire()).toEqual({ attempts: max + 1, result: throttled });
    },
  );

  it('counts what is refused and what fails apart', async () => {
    const answers = [throttled, failed, throttled, failed, throttled, failed, success];
    const { schedule } = start((_, call) => answers[call - 1]!);
    expect(await schedule.fire()).toEqual({ attempts: 6, result: failed });
  });

  it('gives up on an event that has grown too old', async () => {
    let now = 0;
    const { schedule } = start(() => throttled, {
      settings: { retryAttemptsMax: 185, eventAgeMsMax: 60_000 },
      nowMs: () => (now += 20_000),
    });
    expect((await schedule.fire()).attempts).toBe(3);
  });

  it('does not try again what will never be taken', async () => {
    const { schedule } = start(() => tooLarge);
    expect(await schedule.fire()).toEqual({ attempts: 1, result: tooLarge });
  });
});

describe('the event of a run', () => {
  it('is the input with what it asks to know filled in', async () => {
    const input = JSON.stringify({
      arn: '<aws.scheduler.schedule-arn>',
      due: '<aws.scheduler.scheduled-time>',
      id: '<aws.scheduler.execution-id>',
      attempt: '<aws.scheduler.attempt-number>',
      other: 7,
    });
    const { schedule, events } = start((_, call) => (call === 2 ? success : failed), {
      settings: { input },
    });
    await schedule.fire();
    await schedule.fire();
    const read = events.map((event) => JSON.parse(event) as Record<string, unknown>);
    expect(read[0]).toEqual({
      arn: 'arn:aws:scheduler:us-east-1:000000000000:schedule/default/timer',
      due: '2030-01-02T03:04:05Z',
      id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      attempt: '1',
      other: 7,
    });
    expect(read.map(({ attempt }) => attempt)).toEqual(['1', '2', '1', '2', '3']);
    expect(new Set(read.map(({ id }) => id)).size).toBe(2);
    expect(read[1]!['id']).toBe(read[0]!['id']);
  });

  it('is that of a scheduled rule where there is no input', async () => {
    const { schedule, events } = start(() => success);
    await schedule.fire();
    expect(JSON.parse(events[0]!)).toMatchObject({
      source: 'aws.scheduler',
      'detail-type': 'Scheduled Event',
      account: '000000000000',
      region: 'us-east-1',
      time: '2030-01-02T03:04:05Z',
      resources: [schedule.arn],
      detail: '{}',
    });
  });
});

describe('the speed of schedules', () => {
  it.each([0, 0.5, 1, 6_000])('may be %d', (speed) => {
    expect(() => assertScheduleSpeed(speed)).not.toThrow();
  });

  it.each([-1, Number.NaN, Infinity])('cannot be %d', (speed) => {
    expect(() => assertScheduleSpeed(speed)).toThrow(
      `scheduleSpeed is ${speed}, expected how many times as fast as on AWS schedules tick, 0 for never`,
    );
  });
});
