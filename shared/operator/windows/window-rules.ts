import { timerTimeMax } from '../../core/timer.ts';
import { over, type Aggregator } from '../aggregator.ts';
import { listUnmergeable, toAggregator, type Aggregation } from './aggregation.ts';
import { checkEarly, type EarlyTrigger } from './early-trigger.ts';
import { windowsPerEvent, type WindowAssigner } from './window-assigner.ts';

/** An aggregate of something that is read from each event. */
export type OverEvents<In> = <Value, Accumulator, Out>(
  select: (event: In) => Value,
  aggregator: Aggregator<Value, Accumulator, Out>,
) => Aggregator<In, Accumulator, Out>;

/** How events become windows, windows results, and when. */
export interface WindowOptions<In, Computed extends Aggregation<In>> {
  /** `tumbling(…)`, `sliding(…)` or `session(…)`. */
  readonly window: WindowAssigner;
  /**
   * What to compute of a window: one aggregator of the event, or several by name. For sessions they need `merge`. Called
   * once; `over` is the one of aggregator.ts and knows the event's type: `(over) => over((flight) => flight.delay, mean())`.
   */
  readonly aggregate: (over: OverEvents<In>) => Computed;
  /**
   * How long after the watermark has passed its end a window still takes events, ms. Its state is kept as long.
   *
   * @default 0
   */
  readonly allowedLatenessMs?: number;
  /**
   * `everyEvents(…)` or `everyMs(…)`.
   *
   * @default none: nothing is told before the end
   */
  readonly early?: EarlyTrigger;
  /**
   * Most windows that a key may hold at a time, those within their lateness included: from 1 to 5,000. The event that
   * would open one more is refused.
   *
   * @default 1000
   */
  readonly maxWindowsPerKey?: number;
}

/** Options that have been checked. */
export interface WindowRules<In> {
  readonly owner: string;
  readonly assigner: WindowAssigner;
  readonly aggregator: Aggregator<In, unknown, unknown>;
  readonly latenessMs: number;
  readonly early: EarlyTrigger | undefined;
  readonly maxWindowsPerKey: number;
}

/** Each window has at most two timers, and a key at most 10,000. */
const windowsPerKeyMax = 5000;

/** @throws RangeError with value, rule and remedy for what cannot work */
export function readWindowRules<In, Computed extends Aggregation<In>>(
  owner: string,
  options: WindowOptions<In, Computed>,
): WindowRules<In> {
  const { early, allowedLatenessMs = 0, maxWindowsPerKey = 1000 } = options;
  const assigner = options.window as WindowAssigner | undefined;
  if (assigner === undefined) throw withoutWindow(owner, options.allowedLatenessMs);
  checkWhole(owner, 'allowedLatenessMs', allowedLatenessMs, 0, timerTimeMax);
  checkWhole(owner, 'maxWindowsPerKey', maxWindowsPerKey, 1, windowsPerKeyMax);
  const needed = windowsPerEvent(assigner);
  if (needed > maxWindowsPerKey) {
    throw new RangeError(
      `${owner}: an event belongs to ${needed} windows, expected at most maxWindowsPerKey, ${maxWindowsPerKey}; let the windows slide further, or raise it (up to ${windowsPerKeyMax})`,
    );
  }
  const aggregate = options.aggregate(over);
  const unmergeable = assigner.kind === 'session' ? listUnmergeable(aggregate) : [];
  if (unmergeable.length > 0) {
    const which = unmergeable.map((name) => ` ${name}`.trimEnd()).join(',');
    throw new RangeError(
      `${owner}: aggregate${which} has no merge, expected one since sessions merge; give the aggregator a merge(a, b), or use another window`,
    );
  }
  if (early !== undefined) checkEarly(owner, early, assigner);
  return {
    owner,
    assigner,
    aggregator: toAggregator<In>(aggregate),
    latenessMs: allowedLatenessMs,
    early,
    maxWindowsPerKey,
  };
}

function withoutWindow(owner: string, allowedLatenessMs: number | undefined): RangeError {
  const lateness =
    allowedLatenessMs === undefined
      ? ''
      : `allowedLatenessMs is ${allowedLatenessMs}, but lateness is that of a window: `;
  return new RangeError(
    `${owner}: ${lateness}window is undefined, expected tumbling(…), sliding(…) or session(…); give one, or use defineOperator`,
  );
}

function checkWhole(owner: string, name: string, value: number, from: number, to: number): void {
  if (Number.isInteger(value) && value >= from && value <= to) return;
  throw new RangeError(
    `${owner}: ${name} is ${value}, expected a whole number from ${from} to ${to}`,
  );
}
