import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  count,
  max,
  mean,
  min,
  over,
  reduce,
  sum,
  type Aggregator,
} from '../../../../shared/operator/aggregator.ts';
import { appendSink } from '../../../../shared/operator/sink.ts';
import { createOperatorDriver } from '../../../../shared/operator/testing/operator-driver.ts';
import { topN } from '../../../../shared/operator/top-n.ts';
import { toAggregator, type Aggregation } from '../../../../shared/operator/windows/aggregation.ts';
import { session, tumbling } from '../../../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../../../shared/operator/windows/windowed-operator.ts';
import type {
  OverEvents,
  WindowOptions,
} from '../../../../shared/operator/windows/window-rules.ts';

const flight = z.object({ ts: z.number(), to: z.string(), delay: z.number() });
type Flight = z.output<typeof flight>;

/** Runs flights through one window and gives its results. */
function compute<Computed extends Aggregation<Flight>>(
  flights: readonly Flight[],
  aggregate: (over: OverEvents<Flight>) => Computed,
  window: WindowOptions<Flight, Computed>['window'] = tumbling(1000),
): unknown[] {
  const operator = defineWindowedOperator({
    id: 'flights',
    schema: flight,
    key: () => 'all',
    eventTime: { time: (event) => event.ts, outOfOrdernessMs: 1000 },
    window,
    aggregate,
    sinks: { results: appendSink({ row: z.object({ result: z.unknown() }) }) },
    onResult({ result }, ctx) {
      ctx.emit({ sink: 'results', row: { result } });
    },
    onLate() {
      throw new Error('no flight of these tests is late');
    },
  });
  const driver = createOperatorDriver(operator);
  for (const one of flights) driver.send(one);
  driver.advanceWatermark(10_000);
  return driver.outputs('results').map(({ row }) => (row as { result: unknown }).result);
}

const flights: readonly Flight[] = [
  { ts: 5, to: 'SFO', delay: 10 },
  { ts: 25, to: 'LAX', delay: -4 },
  { ts: 15, to: 'JFK', delay: 30 },
];

describe('an aggregation', () => {
  it('may be one aggregator', () => {
    expect(compute(flights, () => count())).toEqual([3]);
  });

  it('may be several, each under its name', () => {
    const results = compute(flights, (overFlights) => ({
      flights: count(),
      total: overFlights((one) => one.delay, sum()),
      mean: overFlights((one) => one.delay, mean()),
      least: overFlights((one) => one.delay, min()),
      most: overFlights((one) => one.delay, max()),
      worst: topN(2, (one: Flight) => one.delay),
      delays: overFlights((one) => one.delay, topN(2)),
      route: overFlights(
        (one) => one.to,
        reduce((soFar, to) => `${soFar}-${to}`),
      ),
    }));
    expect(results).toEqual([
      {
        flights: 3,
        total: 36,
        mean: 12,
        least: -4,
        most: 30,
        worst: [flights[2], flights[0]],
        delays: [30, 10],
        route: 'SFO-LAX-JFK',
      },
    ]);
  });

  it('merges where sessions do, the earlier session first', () => {
    const results = compute(
      flights,
      (overFlights) => ({
        flights: count(),
        total: overFlights((one) => one.delay, sum()),
        mean: overFlights((one) => one.delay, mean()),
        least: overFlights((one) => one.delay, min()),
        most: overFlights((one) => one.delay, max()),
        delays: overFlights((one) => one.delay, topN(2)),
        route: overFlights(
          (one) => one.to,
          reduce((soFar, to) => `${soFar}-${to}`),
        ),
      }),
      // The flight of 15 joins those of 5 and 25.
      session(11),
    );
    expect(results).toEqual([
      {
        flights: 3,
        total: 36,
        mean: 12,
        least: -4,
        most: 30,
        delays: [30, 10],
        route: 'SFO-LAX-JFK',
      },
    ]);
  });

  it("may be the user's own, of a class, too", () => {
    class Spread implements Aggregator<number, number[], number> {
      create(): number[] {
        return [];
      }
      add(all: number[], input: number): number[] {
        return [...all, input];
      }
      result(all: number[]): number {
        return this.#spread(all);
      }
      merge(a: number[], b: number[]): number[] {
        return [...a, ...b];
      }
      #spread(all: number[]): number {
        return Math.max(...all) - Math.min(...all);
      }
    }
    const spread = new Spread();
    const read = (one: Flight): number => one.delay;
    expect(compute(flights, () => over(read, spread))).toEqual([34]);
    expect(compute(flights, () => over(read, spread), session(11))).toEqual([34]);
  });

  it('begins what is new to a window that is held already', () => {
    const before = toAggregator<number>({ inputs: count() });
    const now = toAggregator<number>({ inputs: count(), most: max() });
    const held = before.add(before.create(), 50);
    expect(now.result(now.add(held, 20))).toEqual({ inputs: 2, most: 20 });
    expect(now.result(before.add(before.create(), 50))).toEqual({ inputs: 1, most: -Infinity });
  });
});

describe('topN', () => {
  it('keeps the highest, of equals the earlier first', () => {
    const top = topN(3, (one: readonly [string, number]) => one[1]);
    const inputs = [
      ['a', 1],
      ['b', 2],
      ['c', 2],
      ['d', 0],
      ['e', 2],
    ] as const;
    const kept = inputs.reduce((soFar, one) => top.add(soFar, one), top.create());
    expect(top.result(kept).map(([name]) => name)).toEqual(['b', 'c', 'e']);
  });

  it('merges as if all had come one after the other', () => {
    const top = topN(2);
    const a = [5, 1].reduce((soFar, one) => top.add(soFar, one), top.create());
    const b = [7, 3].reduce((soFar, one) => top.add(soFar, one), top.create());
    expect(top.merge?.(a, b)).toEqual([7, 5]);
  });

  it.each([0, -1, 1.5, 1001])('refuses to keep %d', (n) => {
    expect(() => topN(n)).toThrow(
      new RangeError(
        `topN keeps ${n}, expected a whole number from 1 to 1000; they are stored with the key`,
      ),
    );
  });

  it('refuses an input without a score', () => {
    const top = topN(2, (one: { delay?: number }) => Number(one.delay));
    expect(() => top.add([], {})).toThrow(/score NaN, expected a number/);
  });
});

describe('merging', () => {
  it('leaves an accumulator as it is where the other is empty', () => {
    const longest = reduce((a: string, b: string) => (b.length > a.length ? b : a));
    const some = longest.add(longest.create(), 'text');
    expect(longest.merge?.(some, longest.create())).toEqual(['text']);
    expect(longest.merge?.(longest.create(), some)).toEqual(['text']);
    expect(longest.result(longest.create())).toBeUndefined();
  });
});
