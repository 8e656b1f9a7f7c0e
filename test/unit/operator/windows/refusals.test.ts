import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { count, type Aggregator } from '../../../../shared/operator/aggregator.ts';
import { everyEvents, everyMs } from '../../../../shared/operator/windows/early-trigger.ts';
import {
  session,
  sliding,
  tumbling,
  type WindowAssigner,
} from '../../../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../../../shared/operator/windows/windowed-operator.ts';
import { createWindowing } from '../../../../shared/operator/windows/windowing.ts';
import { driveSums, summingOperator } from './summing-operator.ts';

const unmergeable: Aggregator<unknown, number, number> = {
  create: () => 0,
  add: (accumulator) => accumulator + 1,
  result: (accumulator) => accumulator,
};

describe('a windowed operator', () => {
  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a lateness of %d',
    (allowedLatenessMs) => {
      expect(() => summingOperator({ window: tumbling(10), allowedLatenessMs })).toThrow(
        new RangeError(
          `operator sums: allowedLatenessMs is ${allowedLatenessMs}, expected a whole number from 0 to 4320000000000000`,
        ),
      );
    },
  );

  it('refuses lateness without a window', () => {
    const window = undefined as unknown as WindowAssigner;
    expect(() => summingOperator({ window, allowedLatenessMs: 5 })).toThrow(
      new RangeError(
        'operator sums: allowedLatenessMs is 5, but lateness is that of a window: window is undefined, expected tumbling(…), sliding(…) or session(…); give one, or use defineOperator',
      ),
    );
  });

  it('does not compile with lateness without a window, and is refused all the same', () => {
    const aggregate = () => count();
    expect(() =>
      // @ts-expect-error -- there is no window
      createWindowing('sums', { aggregate, allowedLatenessMs: 5 }),
    ).toThrow(/^sums: allowedLatenessMs is 5, but lateness is that of a window/);
  });

  it('refuses to have no window', () => {
    const window = undefined as unknown as WindowAssigner;
    expect(() => summingOperator({ window })).toThrow(
      /^operator sums: window is undefined, expected/,
    );
  });

  it('refuses sessions of an aggregate that cannot merge', () => {
    const window = session(10);
    expect(() => createWindowing('sums', { window, aggregate: () => unmergeable })).toThrow(
      new RangeError(
        'sums: aggregate has no merge, expected one since sessions merge; give the aggregator a merge(a, b), or use another window',
      ),
    );
    const aggregate = () => ({ a: unmergeable, n: count(), b: unmergeable });
    expect(() => createWindowing('sums', { window, aggregate })).toThrow(
      /aggregate a, b has no merge/,
    );
    expect(() => createWindowing('sums', { window: tumbling(10), aggregate })).not.toThrow();
  });

  it.each([0, 5001, 1.5])('refuses to hold %d windows of a key', (maxWindowsPerKey) => {
    expect(() => summingOperator({ window: tumbling(10), maxWindowsPerKey })).toThrow(
      `operator sums: maxWindowsPerKey is ${maxWindowsPerKey}, expected a whole number from 1 to 5000`,
    );
  });

  it('refuses windows that slide so little that one event would open too many', () => {
    expect(() => summingOperator({ window: sliding(5000, 1) })).toThrow(
      'operator sums: an event belongs to 5000 windows, expected at most maxWindowsPerKey, 1000; let the windows slide further, or raise it (up to 5000)',
    );
  });

  it('refuses early results that never come', () => {
    expect(() => summingOperator({ window: tumbling(10), early: everyMs(10) })).toThrow(
      'operator sums: early results every 10 ms in windows of 10 ms never come, expected less than the size; give a smaller step, or leave early out',
    );
    expect(() => summingOperator({ window: session(10), early: everyMs(10) })).not.toThrow();
  });

  it.each([0, -1, 2.5])('refuses early results every %d events or ms', (step) => {
    expect(() => everyEvents(step)).toThrow(/^everyEvents: events is .* leave the trigger out/);
    expect(() => everyMs(step)).toThrow(/^everyMs: stepMs is .* leave the trigger out/);
  });

  it("refuses an event time's rule as defineOperator does", () => {
    expect(() => summingOperator({ window: tumbling(10), outOfOrdernessMs: -1 })).toThrow(
      /outOfOrdernessMs is -1/,
    );
    expect(() =>
      defineWindowedOperator({
        id: 'Sums',
        schema: z.object({ ts: z.number() }),
        key: () => 'a',
        eventTime: { time: (event) => event.ts, outOfOrdernessMs: 0 },
        window: tumbling(10),
        aggregate: () => count(),
        onResult: () => undefined,
        onLate: () => undefined,
      }),
    ).toThrow(/operator id is "Sums"/);
  });
});

describe('a key', () => {
  it('holds no more windows than it may, and keeps those that it has', () => {
    const { send, advance, held } = driveSums({
      window: tumbling(10),
      outOfOrdernessMs: 1000,
      maxWindowsPerKey: 2,
    });
    send(5, 1);
    send(15, 2);
    expect(() => send(25, 4)).toThrow(
      'operator sums, key "a": window [20, 30) would be one more than the 2 that the key holds, expected at most maxWindowsPerKey, 2; allow less lateness, take larger windows, or raise it',
    );
    expect(held()).toEqual(['[0, 10)', '[10, 20)']);
    expect(send(16, 8)).toEqual([]);
    expect(advance(10)).toEqual(['fire [0, 10) = 1 @ 10']);
    expect(send(25, 4)).toEqual([]);
    expect(held()).toEqual(['[10, 20)', '[20, 30)']);
  });
});
