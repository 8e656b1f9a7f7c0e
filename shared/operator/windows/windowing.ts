import { timerTimeMax } from '../../core/timer.ts';
import type { FiredTimer } from '../operator.ts';
import type { AggregationResult, Aggregation } from './aggregation.ts';
import { nextEarlyTime } from './early-trigger.ts';
import type { HeldWindow } from './held-window.ts';
import {
  dropWindow,
  earlyTimer,
  endTimer,
  holdWindow,
  keptUntil,
  nameWindow,
  type Holding,
  type WindowScope,
} from './hold-window.ts';
import { windowsAt, type Window } from './window-assigner.ts';
import type { ResultKind, WindowResult } from './window-result.ts';
import { readWindowRules, type WindowOptions, type WindowRules } from './window-rules.ts';

/**
 * A watermark that ends event time: a heartbeat at this time, put into each shard behind the last record of a bounded
 * stream, flushes all windows of all keys and frees their state.
 */
export const endOfStreamMs = timerTimeMax;

/**
 * Windows over a state and the timers of a key, for operators that do more than windows; others take
 * `defineWindowedOperator`. All of it is a function of the events and the watermark.
 */
export interface Windowing<In, Result> {
  /** Adds an event to its windows. Returns those that are over and went without it. */
  add(
    event: In,
    time: number,
    scope: WindowScope,
    report: (result: WindowResult<Result>) => void,
  ): readonly Window[];
  /** Takes a timer that fired. False where it is not one of these windows. */
  fire(
    timer: FiredTimer,
    scope: WindowScope,
    report: (result: WindowResult<Result>) => void,
  ): boolean;
  /** Closes all open windows of the key, earliest first. What still comes for them gives late updates. */
  flush(scope: WindowScope, report: (result: WindowResult<Result>) => void): void;
}

/** A result that is not typed yet. */
type Report = (result: WindowResult<unknown>) => void;

/**
 * @param owner what errors call it
 * @throws RangeError for options that cannot work
 */
export function createWindowing<In, Computed extends Aggregation<In>>(
  owner: string,
  options: WindowOptions<In, Computed>,
): Windowing<In, AggregationResult<Computed>> {
  const rules = readWindowRules(owner, options);
  // The one place where results are not typed: the rules hold what the options computed.
  const windowing: Windowing<In, unknown> = {
    add(event, time, scope, report) {
      const missed: Window[] = [];
      for (const window of windowsAt(rules.assigner, time)) {
        const holding = holdWindow(rules, window, scope);
        if (holding === undefined) missed.push(window);
        else addToWindow(rules, holding, event, scope, report);
      }
      return missed;
    },
    fire: (timer, scope, report) => fireTimer(rules, timer, scope, report),
    flush(scope, report) {
      const open = [...scope.windows.entries()].map(([, held]) => held);
      open.sort((a, b) => a.start - b.start);
      for (const held of open) {
        if (held.stage !== 'open') continue;
        closeWindow(rules, held, 'flush', scope, report);
        scope.timers.register(timerOf(endTimer, held, keptUntil(rules, held)));
      }
    },
  };
  return windowing as Windowing<In, AggregationResult<Computed>>;
}

function addToWindow<In>(
  rules: WindowRules<In>,
  { held, isMoved }: Holding,
  event: In,
  scope: WindowScope,
  report: Report,
): void {
  held.accumulator = rules.aggregator.add(held.accumulator, event);
  held.unreported += 1;
  const isOver = held.end <= scope.watermark;
  if (isOver || held.stage === 'flushed') {
    if (isOver) held.stage = 'fired';
    if (isMoved) scope.timers.register(timerOf(endTimer, held, keptUntil(rules, held)));
    reportWindow(rules, held, 'late-update', scope, report);
    return;
  }
  if (isMoved) scope.timers.register(timerOf(endTimer, held, held.end));
  triggerEarly(rules, held, scope, report);
}

function triggerEarly<In>(
  rules: WindowRules<In>,
  held: HeldWindow,
  scope: WindowScope,
  report: Report,
): void {
  const { early } = rules;
  if (early === undefined) return;
  if (early.kind === 'events') {
    if (held.unreported >= early.events) reportWindow(rules, held, 'early', scope, report);
    return;
  }
  // Gives the same time again while the timer is pending, even if this event makes it due; a session that has grown may
  // only now reach one.
  const time = nextEarlyTime(held, early.stepMs, scope.firedWatermark);
  if (time !== undefined) scope.timers.register(timerOf(earlyTimer, held, time));
}

function fireTimer<In>(
  rules: WindowRules<In>,
  timer: FiredTimer,
  scope: WindowScope,
  report: Report,
): boolean {
  const prefix = [endTimer, earlyTimer].find((one) => timer.name.startsWith(one));
  if (prefix === undefined) return false;
  const held = scope.windows.get(timer.name.slice(prefix.length));
  if (held === undefined) return true;
  if (prefix === earlyTimer) {
    // Where the watermark has jumped over the end as well, the final result follows at once.
    if (held.end > scope.watermark) reportWindow(rules, held, 'early', scope, report);
    return true;
  }
  if (held.stage === 'open') {
    closeWindow(rules, held, scope.watermark >= endOfStreamMs ? 'flush' : 'fire', scope, report);
  }
  const until = keptUntil(rules, held);
  if (timer.time >= until) dropWindow(held, scope);
  else scope.timers.register(timerOf(endTimer, held, until));
  return true;
}

/** Gives a window's final result. It stays for late events. */
function closeWindow<In>(
  rules: WindowRules<In>,
  held: HeldWindow,
  kind: 'fire' | 'flush',
  scope: WindowScope,
  report: Report,
): void {
  held.stage = kind === 'fire' ? 'fired' : 'flushed';
  scope.timers.cancel(earlyTimer + nameWindow(held));
  reportWindow(rules, held, kind, scope, report);
}

function reportWindow<In>(
  rules: WindowRules<In>,
  held: HeldWindow,
  kind: ResultKind,
  { watermark }: WindowScope,
  report: Report,
): void {
  const { start, end } = held;
  const window = { start, end };
  const replaces = held.reported.filter((one) => one.start !== start || one.end !== end);
  held.unreported = 0;
  if (rules.assigner.kind === 'session') held.reported = [window];
  const result = rules.aggregator.result(held.accumulator);
  report({ kind, window, watermark, result, replaces });
}

function timerOf(prefix: string, held: HeldWindow, time: number): { name: string; time: number } {
  return { name: prefix + nameWindow(held), time };
}
