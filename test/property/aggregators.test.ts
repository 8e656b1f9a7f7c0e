import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { pack, unpack } from '../../shared/core/pack.ts';
import { seededRandom } from '../../shared/core/random.ts';
import {
  count,
  max,
  mean,
  min,
  reduce,
  sum,
  type Aggregator,
} from '../../shared/operator/aggregator.ts';
import { distinct } from '../../shared/operator/aggregators/distinct.ts';
import { quantiles } from '../../shared/operator/aggregators/quantiles.ts';
import { defineOperator } from '../../shared/operator/operator.ts';
import { appendSink } from '../../shared/operator/sink.ts';
import { aggregatingState } from '../../shared/operator/state.ts';
import { createOperatorDriver } from '../../shared/operator/testing/operator-driver.ts';
import { topN } from '../../shared/operator/top-n.ts';
import { session } from '../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../shared/operator/windows/windowed-operator.ts';

type AnyAggregator = Aggregator<number, unknown, unknown>;

const aggregators: readonly [name: string, aggregator: AnyAggregator][] = (
  [
    ['sum', sum()],
    ['count', count()],
    ['min', min()],
    ['max', max()],
    ['mean', mean()],
    ['reduce', reduce((a: number, b: number) => a + b)],
    ['topN', topN(3)],
    ['distinct', distinct()],
    ['quantiles', quantiles([0, 0.25, 0.5, 0.99])],
  ] as const
).map(([name, aggregator]) => [name, aggregator as unknown as AnyAggregator]);

/** Inputs in numbers that fill buffers, registers and centroids, from few values or many. */
const inputs = fc
  .record({
    seed: fc.nat(),
    length: fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 1500 })),
    values: fc.constantFrom(3, 200, 1e9),
    shape: fc.constantFrom('random', 'rising', 'falling', 'fractions'),
  })
  .map(({ seed, length, values, shape }) => {
    const random = seededRandom(String(seed));
    const drawn = Array.from({ length }, () => Math.floor((random() - 0.5) * values));
    if (shape === 'rising') drawn.sort((a, b) => a - b);
    if (shape === 'falling') drawn.sort((a, b) => b - a);
    return shape === 'fractions' ? drawn.map((value) => value / 7) : drawn;
  });

function store(accumulator: unknown): unknown {
  return unpack(pack(accumulator));
}

function foldPlainly(aggregator: AnyAggregator, all: readonly number[]): unknown {
  return all.reduce<unknown>((acc, one) => aggregator.add(acc, one), aggregator.create());
}

/** Folds, and stores and loads the accumulator before the inputs at the cuts, as a crash or a cold start does. */
function foldWithCuts(
  aggregator: AnyAggregator,
  all: readonly number[],
  cuts: ReadonlySet<number>,
): unknown {
  let accumulator = aggregator.create();
  all.forEach((input, at) => {
    if (cuts.has(at)) accumulator = store(accumulator);
    accumulator = aggregator.add(accumulator, input);
  });
  return accumulator;
}

const cuts = fc.oneof(
  fc.array(fc.nat({ max: 1500 }), { maxLength: 30 }).map((at) => new Set(at)),
  fc.constant(new Set(Array.from({ length: 1500 }, (_, at) => at))),
);

describe.each(aggregators)('%s', (_name, aggregator) => {
  it('gives the same bytes wherever its accumulator was stored in between', () => {
    fc.assert(
      fc.property(inputs, cuts, (all, at) => {
        const plain = foldPlainly(aggregator, all);
        const cut = foldWithCuts(aggregator, all, at);
        expect(pack(cut)).toEqual(pack(plain));
        expect(aggregator.result(store(cut))).toEqual(aggregator.result(plain));
      }),
      { numRuns: 40 },
    );
  });

  it('merges to the same bytes whether the parts have been stored or not', () => {
    fc.assert(
      fc.property(inputs, inputs, inputs, (a, b, after) => {
        const { merge } = aggregator as Required<AnyAggregator>;
        const fold = (all: readonly number[]) => foldPlainly(aggregator, all);
        const append = (accumulator: unknown) =>
          after.reduce<unknown>((acc, one) => aggregator.add(acc, one), accumulator);
        const plain = append(merge(fold(a), fold(b)));
        const stored = append(store(merge(store(fold(a)), store(fold(b)))));
        expect(pack(stored)).toEqual(pack(plain));
        expect(aggregator.result(stored)).toEqual(aggregator.result(plain));
      }),
      { numRuns: 40 },
    );
  });

  it('tells the result without changing what follows', () => {
    fc.assert(
      fc.property(inputs, (all) => {
        let read = aggregator.create();
        for (const input of all.slice(0, 300)) {
          aggregator.result(read);
          read = aggregator.add(read, input);
        }
        expect(pack(read)).toEqual(pack(foldPlainly(aggregator, all.slice(0, 300))));
      }),
      { numRuns: 20 },
    );
  });
});

describe('distinct', () => {
  it('keeps a function of the set of inputs, whatever their order, repetition and merges', () => {
    const aggregator = distinct();
    const fold = (all: readonly number[]) =>
      all.reduce((acc, one) => aggregator.add(acc, one), aggregator.create());
    fc.assert(
      fc.property(inputs, fc.nat({ max: 1500 }), fc.nat({ max: 300 }), (all, cut, again) => {
        const parts = [all.slice(cut), all.slice(0, cut)].map((part) =>
          fold([...part, ...part.slice(0, again)]),
        );
        const merged = parts.reduce((a, b) => aggregator.merge?.(a, b) ?? a);
        expect(merged).toEqual(fold(all));
        expect(aggregator.result(merged)).toBe(aggregator.result(fold([...new Set(all)].sort())));
      }),
      { numRuns: 60 },
    );
  });
});

const visit = z.object({ key: z.string(), ts: z.number(), visitor: z.number() });
const counted = z.object({
  visitors: z.number(),
  quartiles: z.array(z.number()),
  start: z.number(),
});

describe('distinct and quantiles in operators', () => {
  it('need no clock and no dice, and survive being stored after every event', () => {
    const operator = defineOperator({
      id: 'visits',
      schema: visit,
      key: (event) => event.key,
      state: {
        visitors: aggregatingState(distinct()),
        quartiles: aggregatingState(quantiles([0.25, 0.5, 0.75])),
      },
      process(event, ctx) {
        ctx.state.visitors.add(event.visitor);
        ctx.state.quartiles.add(event.visitor);
      },
    });
    const driver = createOperatorDriver(operator);
    for (let n = 0; n < 700; n += 1) driver.send({ key: 'a', ts: n, visitor: n });
    const { visitors, quartiles } = driver.stateOf('a');
    expect(distinct().result(visitors as Uint8Array) / 700).toBeCloseTo(1, 1);
    expect(pack(quartiles).length).toBeLessThan(5000);
  });

  it('merge with sessions as one session of all would be', () => {
    const operator = (gapMs: number) =>
      defineWindowedOperator({
        id: 'sessions',
        schema: visit,
        key: (event) => event.key,
        eventTime: { time: (event) => event.ts, outOfOrdernessMs: 100_000 },
        window: session(gapMs),
        aggregate: (over) => ({
          visitors: over((event) => event.visitor, distinct()),
          quartiles: over((event) => event.visitor, quantiles([0.25, 0.5, 0.75])),
        }),
        sinks: { results: appendSink({ row: counted }) },
        onResult({ window, result }, ctx) {
          const { visitors, quartiles: all } = result;
          const row = { start: window.start, visitors, quartiles: [...all] };
          ctx.emit({ sink: 'results', row });
        },
        onLate: () => expect.unreachable(),
      });
    const driver = createOperatorDriver(operator(10));
    // A session for each of the even ones, which the odd ones then join to one.
    const times = [0, 1].flatMap((rest) =>
      Array.from({ length: 100 }, (_, n) => (2 * n + rest) * 9),
    );
    for (const ts of times) driver.send({ key: 'a', ts, visitor: ts % 150 });
    driver.advanceWatermark(1_000_000);
    expect(driver.outputs('results').map(({ row }) => row)).toEqual([
      { start: 0, visitors: 50, quartiles: [36, expect.closeTo(73, 0), 111] },
    ]);
  });
});
