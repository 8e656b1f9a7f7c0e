import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOperatorDriver } from '../../shared/operator/testing/operator-driver.ts';
import { everyEvents, everyMs } from '../../shared/operator/windows/early-trigger.ts';
import {
  session,
  sliding,
  tumbling,
  type Window,
  type WindowAssigner,
} from '../../shared/operator/windows/window-assigner.ts';
import { endOfStreamMs } from '../../shared/operator/windows/windowing.ts';
import { summingOperator } from '../unit/operator/windows/summing-operator.ts';

interface Measured {
  readonly key: string;
  readonly ts: number;
  readonly value: number;
}

interface Summed extends Window {
  readonly key: string;
  readonly sum: number;
}

const outOfOrdernessMs = 20;

/** Events of two keys in an order that is at most `outOfOrdernessMs` behind the latest. */
const events = fc
  .array(
    fc.record({
      key: fc.constantFrom('a', 'b'),
      ts: fc.integer({ min: -50, max: 300 }),
      value: fc.integer({ min: -100, max: 100 }),
      delay: fc.integer({ min: 0, max: outOfOrdernessMs }),
    }),
    { maxLength: 60 },
  )
  .map((all): Measured[] =>
    all
      // Who is sent by ts + delay meets nobody later than that.
      .sort((a, b) => a.ts + a.delay - (b.ts + b.delay))
      .map(({ key, ts, value }) => ({ key, ts, value })),
  );

const early = fc.option(
  fc.oneof(
    fc.integer({ min: 1, max: 5 }).map(everyEvents),
    fc.integer({ min: 1, max: 4 }).map(everyMs),
  ),
  { nil: undefined },
);

const latenessMs = fc.constantFrom(0, 1, 15);

type Settings = Pick<Parameters<typeof summingOperator>[0], 'early' | 'allowedLatenessMs'>;

const settings: fc.Arbitrary<Settings> = fc
  .tuple(early, latenessMs)
  .map(([trigger, allowedLatenessMs]) =>
    trigger === undefined ? { allowedLatenessMs } : { early: trigger, allowedLatenessMs },
  );

interface Row extends Window {
  readonly kind: string;
  readonly sum: number;
  readonly replaces: readonly Window[];
}

interface Driven {
  readonly key: string;
  readonly row: Row;
}

/** Runs all events, then ends the stream by a heartbeat. */
function drive(window: WindowAssigner, sent: readonly Measured[], rest: Settings) {
  const driver = createOperatorDriver(summingOperator({ window, outOfOrdernessMs, ...rest }));
  for (const event of sent) driver.send(event);
  driver.advanceWatermark(endOfStreamMs);
  const results = driver
    .outputs('results')
    .map(({ key, row }): Driven => ({ key, row: row as Row }));
  const final = results.filter(({ row }) => row.kind === 'fire' || row.kind === 'flush');
  return { driver, results, final: final.map(toSummed).sort(compareSummed) };
}

function toSummed({ key, row }: Driven): Summed {
  return { key, start: row.start, end: row.end, sum: row.sum };
}

function compareSummed(a: Summed, b: Summed): number {
  return a.key.localeCompare(b.key) || a.start - b.start;
}

/** Each window that any event is in, found by trying every start. */
function sumOffline(sent: readonly Measured[], sizeMs: number, slideMs: number, offsetMs: number) {
  const sums: Summed[] = [];
  for (const key of ['a', 'b']) {
    for (let n = -1000; n < 1000; n += 1) {
      const start = offsetMs + n * slideMs;
      const end = start + sizeMs;
      const inside = sent.filter((one) => one.key === key && start <= one.ts && one.ts < end);
      if (inside.length === 0) continue;
      sums.push({ key, start, end, sum: inside.reduce((total, one) => total + one.value, 0) });
    }
  }
  return sums;
}

/** Sorts the events of each key and cuts where the next is a gap or more away. */
function cutOffline(sent: readonly Measured[], gapMs: number): Summed[] {
  return ['a', 'b'].flatMap((key) => {
    const sorted = sent.filter((one) => one.key === key).sort((a, b) => a.ts - b.ts);
    const sessions: Summed[] = [];
    for (const { ts, value } of sorted) {
      const last = sessions.at(-1);
      if (last === undefined || ts - (last.end - gapMs) >= gapMs) {
        sessions.push({ key, start: ts, end: ts + gapMs, sum: value });
      } else {
        sessions[sessions.length - 1] = { ...last, end: ts + gapMs, sum: last.sum + value };
      }
    }
    return sessions;
  });
}

describe('windows over events out of order within the bound', () => {
  it('sum tumbling windows as a computation of the whole does, each once and none late', () => {
    const windows = fc
      .integer({ min: 5, max: 60 })
      .chain((size) => fc.tuple(fc.constant(size), fc.integer({ min: 1 - size, max: size - 1 })));
    fc.assert(
      fc.property(events, windows, settings, (sent, [size, offset], rest) => {
        const { driver, final, results } = drive(tumbling(size, offset), sent, rest);
        expect(final).toEqual(sumOffline(sent, size, size, offset));
        expect(driver.outputs('late')).toEqual([]);
        expect(results.filter(({ row }) => row.kind === 'late-update')).toEqual([]);
        expect(driver.keys()).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });

  it('sum sliding windows as a computation of the whole does, each once and none late', () => {
    const windows = fc
      .integer({ min: 5, max: 60 })
      .chain((size) => fc.tuple(fc.constant(size), fc.integer({ min: 3, max: size })));
    fc.assert(
      fc.property(events, windows, settings, (sent, [size, slide], rest) => {
        const { driver, final } = drive(sliding(size, slide), sent, rest);
        expect(final).toEqual(sumOffline(sent, size, slide, 0));
        expect(driver.outputs('late')).toEqual([]);
        expect(driver.keys()).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });

  it('cut and merge sessions as a computation of the whole does, each once and none late', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 40 }), settings, (sent, gap, rest) => {
        const { driver, final } = drive(session(gap), sent, rest);
        expect(final).toEqual(cutOffline(sent, gap));
        expect(driver.outputs('late')).toEqual([]);
        expect(driver.keys()).toEqual([]);
        expect(driver.timersOf('a')).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

describe('windows over events in any order, all within the lateness', () => {
  const anyOrder = events.chain((sent) =>
    fc.shuffledSubarray(sent, { minLength: sent.length, maxLength: sent.length }),
  );

  /** What a reader has who takes each result for its window and drops those that it replaces. */
  function readLast(results: readonly Driven[]): Summed[] {
    const rows = new Map<string, Summed>();
    for (const { key, row } of results) {
      for (const { start, end } of row.replaces) rows.delete(`${key} ${start} ${end}`);
      rows.set(`${key} ${row.start} ${row.end}`, toSummed({ key, row }));
    }
    return [...rows.values()].sort(compareSummed);
  }

  it('end with the results of the whole', () => {
    const windows = fc.oneof(
      fc.record({ size: fc.integer({ min: 5, max: 60 }), slide: fc.integer({ min: 3, max: 5 }) }),
      fc.record({ gap: fc.integer({ min: 1, max: 40 }) }),
    );
    fc.assert(
      fc.property(anyOrder, windows, early, (sent, window, trigger) => {
        const assigner = 'gap' in window ? session(window.gap) : sliding(window.size, window.slide);
        const rest = {
          allowedLatenessMs: 1000,
          ...(trigger === undefined ? {} : { early: trigger }),
        };
        const { driver, results } = drive(assigner, sent, rest);
        expect(driver.outputs('late')).toEqual([]);
        expect(readLast(results)).toEqual(
          'gap' in window
            ? cutOffline(sent, window.gap)
            : sumOffline(sent, window.size, window.slide, 0),
        );
        expect(driver.keys()).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('count each event once: in its window, or among the late ones', () => {
    fc.assert(
      fc.property(anyOrder, fc.integer({ min: 5, max: 40 }), latenessMs, (sent, size, lateness) => {
        const { driver, results } = drive(tumbling(size), sent, { allowedLatenessMs: lateness });
        const counted = readLast(results).reduce((total, { sum }) => total + sum, 0);
        const late = driver.outputs('late').map(({ row }) => (row as { value: number }).value);
        const all = sent.reduce((total, { value }) => total + value, 0);
        expect(counted + late.reduce((total, value) => total + value, 0)).toBe(all);
      }),
      { numRuns: 80 },
    );
  });
});
