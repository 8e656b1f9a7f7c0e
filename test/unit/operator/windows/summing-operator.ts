import * as z from 'zod';
import { sum } from '../../../../shared/operator/aggregator.ts';
import type { Operator } from '../../../../shared/operator/operator.ts';
import { appendSink } from '../../../../shared/operator/sink.ts';
import {
  createOperatorDriver,
  type OperatorDriver,
} from '../../../../shared/operator/testing/operator-driver.ts';
import type { EarlyTrigger } from '../../../../shared/operator/windows/early-trigger.ts';
import type { WindowAssigner } from '../../../../shared/operator/windows/window-assigner.ts';
import { defineWindowedOperator } from '../../../../shared/operator/windows/windowed-operator.ts';

const measurement = z.object({
  key: z.string().default('a'),
  ts: z.number(),
  value: z.number().default(1),
  isLast: z.boolean().default(false),
});

const span = z.object({ start: z.number(), end: z.number() });

const sinks = {
  results: appendSink({
    row: z.object({
      kind: z.string(),
      start: z.number(),
      end: z.number(),
      watermark: z.number(),
      sum: z.number(),
      replaces: z.array(span),
    }),
  }),
  late: appendSink({
    row: z.object({
      ts: z.number(),
      value: z.number(),
      watermark: z.number(),
      missed: z.array(span),
    }),
  }),
};

/** Sums values in windows; by default events may be 5 ms out of order, and there is no lateness. */
export function summingOperator(options: {
  readonly window: WindowAssigner;
  readonly outOfOrdernessMs?: number;
  readonly allowedLatenessMs?: number;
  readonly early?: EarlyTrigger;
  readonly maxWindowsPerKey?: number;
}): Operator {
  const { outOfOrdernessMs = 5, ...windowed } = options;
  return defineWindowedOperator({
    ...windowed,
    id: 'sums',
    schema: measurement,
    key: (event) => event.key,
    eventTime: { time: (event) => event.ts, outOfOrdernessMs },
    aggregate: (over) => over((event) => event.value, sum()),
    isEndOfStream: (event) => event.isLast,
    sinks,
    onResult({ kind, window, watermark, result, replaces }, ctx) {
      const row = { kind, ...window, watermark, sum: result, replaces: [...replaces] };
      ctx.emit({ sink: 'results', row });
    },
    onLate({ event, watermark, missed }, ctx) {
      const row = { ts: event.ts, value: event.value, watermark, missed: [...missed] };
      ctx.emit({ sink: 'late', row });
    },
  });
}

/** A driven summing operator that tells results as text: `fire [0, 10) = 55 @ 10`. */
export interface DrivenSums {
  readonly driver: OperatorDriver;
  /** Sends an event of key `a`; gives what it caused. */
  send(ts: number, value?: number): string[];
  /** Ends the stream of key `a`. */
  end(ts: number): string[];
  advance(watermark: number): string[];
  /** The windows that key `a` holds, by start: `[0, 10)`. */
  held(): string[];
}

interface ResultRow {
  readonly kind?: string;
  readonly start: number;
  readonly end: number;
  readonly watermark: number;
  readonly sum: number;
  readonly replaces: readonly { readonly start: number; readonly end: number }[];
}

interface LateRow {
  readonly ts: number;
  readonly watermark: number;
  readonly missed: readonly { readonly start: number; readonly end: number }[];
}

export function driveSums(options: Parameters<typeof summingOperator>[0]): DrivenSums {
  const driver = createOperatorDriver(summingOperator(options));
  const tell = (outputs: readonly { sink: string; row: unknown }[]) =>
    outputs.map(({ sink, row }) =>
      sink === 'late' ? describeLate(row as LateRow) : describeResult(row as ResultRow),
    );
  return {
    driver,
    send: (ts, value = 1) => tell(driver.send({ ts, value })),
    end: (ts) => tell(driver.send({ ts, isLast: true })),
    advance: (watermark) => tell(driver.advanceWatermark(watermark)),
    held: () => {
      const windows = driver.stateOf('a')['windows'] as Map<string, Span> | undefined;
      return [...(windows ?? new Map<string, Span>()).values()].map(describeSpan).sort();
    },
  };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function describeSpan({ start, end }: Span): string {
  return `[${start}, ${end})`;
}

function describeResult(row: ResultRow): string {
  const { kind, watermark, sum: total, replaces } = row;
  const text = `${kind} ${describeSpan(row)} = ${total} @ ${watermark}`;
  return replaces.length === 0 ? text : `${text} replaces ${replaces.map(describeSpan).join(' ')}`;
}

function describeLate({ ts, watermark, missed }: LateRow): string {
  return `late ${ts} @ ${watermark} missed ${missed.map(describeSpan).join(' ')}`;
}
