import { timerTimeMax } from '../../core/timer.ts';
import { floorTo, type Window, type WindowAssigner } from './window-assigner.ts';

/** When a window tells what it has so far, before the watermark has reached its end. */
export type EarlyTrigger =
  | { readonly kind: 'events'; readonly events: number }
  | { readonly kind: 'time'; readonly stepMs: number };

/**
 * Early results after every so many events of a window.
 *
 * @throws RangeError unless it is a whole number above 0
 */
export function everyEvents(events: number): EarlyTrigger {
  if (!Number.isInteger(events) || events < 1) {
    throw new RangeError(
      `everyEvents: events is ${events}, expected a whole number from 1; leave the trigger out for no early results`,
    );
  }
  return { kind: 'events', events };
}

/**
 * Early results each time the watermark has passed another `stepMs` since the window's start, where there is something new.
 *
 * @throws RangeError unless it is a whole number above 0
 */
export function everyMs(stepMs: number): EarlyTrigger {
  if (!Number.isInteger(stepMs) || stepMs < 1 || stepMs > timerTimeMax) {
    throw new RangeError(
      `everyMs: stepMs is ${stepMs}, expected a whole number of milliseconds of event time from 1; leave the trigger out for no early results`,
    );
  }
  return { kind: 'time', stepMs };
}

/** The next time for an early result of a window, or undefined where its end comes first. */
export function nextEarlyTime(
  { start, end }: Window,
  stepMs: number,
  firedWatermark = Number.NEGATIVE_INFINITY,
): number | undefined {
  const passed = Math.max(firedWatermark - start, 0);
  const next = start + floorTo(passed, stepMs) + stepMs;
  return next < end ? next : undefined;
}

/** @throws RangeError where the trigger can never fire */
export function checkEarly(owner: string, early: EarlyTrigger, assigner: WindowAssigner): void {
  if (early.kind !== 'time' || assigner.kind === 'session' || early.stepMs < assigner.sizeMs) {
    return;
  }
  throw new RangeError(
    `${owner}: early results every ${early.stepMs} ms in windows of ${assigner.sizeMs} ms never come, expected less than the size; give a smaller step, or leave early out`,
  );
}
