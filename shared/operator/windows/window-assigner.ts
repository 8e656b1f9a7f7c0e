import { timerTimeMax } from '../../core/timer.ts';

/** A span of event time, ms since the epoch: `start` belongs to it, `end` does not. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** Windows of one size, one after the other. */
export interface TumblingWindows {
  readonly kind: 'tumbling';
  readonly sizeMs: number;
  readonly offsetMs: number;
}

/** Windows of one size, of which one begins with each slide; they overlap. */
export interface SlidingWindows {
  readonly kind: 'sliding';
  readonly sizeMs: number;
  readonly slideMs: number;
}

/** Windows as long as events go on: each ends a gap after its last event. */
export interface SessionWindows {
  readonly kind: 'session';
  readonly gapMs: number;
}

/** Which windows an event belongs to. A contract: another one needs a new operator id. */
export type WindowAssigner = TumblingWindows | SlidingWindows | SessionWindows;

/**
 * Each event belongs to one window: [offset + n × size, offset + (n + 1) × size).
 *
 * @param offsetMs moves all windows, as a time zone does @default 0
 * @throws RangeError unless the size is a whole number above 0, and the offset a whole number less than the size away from 0
 */
export function tumbling(sizeMs: number, offsetMs = 0): TumblingWindows {
  checkDuration('tumbling', 'sizeMs', sizeMs);
  if (!Number.isInteger(offsetMs) || Math.abs(offsetMs) >= sizeMs) {
    throw new RangeError(
      `tumbling: offsetMs is ${offsetMs}, expected a whole number of milliseconds between -sizeMs and sizeMs, ${sizeMs}; take the remainder`,
    );
  }
  return { kind: 'tumbling', sizeMs, offsetMs };
}

/**
 * Each event belongs to about size ÷ slide windows, [n × slide, n × slide + size), and is added to each of them.
 *
 * @throws RangeError unless both are whole numbers above 0 and the slide is at most the size
 */
export function sliding(sizeMs: number, slideMs: number): SlidingWindows {
  checkDuration('sliding', 'sizeMs', sizeMs);
  checkDuration('sliding', 'slideMs', slideMs);
  if (slideMs > sizeMs) {
    throw new RangeError(
      `sliding: slideMs is ${slideMs}, expected at most sizeMs, ${sizeMs}: events between two windows would be lost; slide less, or filter them before and use tumbling`,
    );
  }
  return { kind: 'sliding', sizeMs, slideMs };
}

/**
 * Events that are less than a gap apart belong to one window, [first, last + gap). An event that joins two windows makes
 * them one.
 *
 * @throws RangeError unless the gap is a whole number above 0
 */
export function session(gapMs: number): SessionWindows {
  checkDuration('session', 'gapMs', gapMs);
  return { kind: 'session', gapMs };
}

/** The windows of an event, earliest first; of a session the window that it would have alone. */
export function windowsAt(assigner: WindowAssigner, time: number): Window[] {
  switch (assigner.kind) {
    case 'tumbling': {
      const start = floorTo(time - assigner.offsetMs, assigner.sizeMs) + assigner.offsetMs;
      return [{ start, end: start + assigner.sizeMs }];
    }
    case 'sliding': {
      const { sizeMs, slideMs } = assigner;
      const windows: Window[] = [];
      for (let start = floorTo(time, slideMs); start + sizeMs > time; start -= slideMs) {
        windows.push({ start, end: start + sizeMs });
      }
      return windows.reverse();
    }
    case 'session':
      return [{ start: time, end: time + assigner.gapMs }];
  }
}

/** Most windows that one event can belong to. */
export function windowsPerEvent(assigner: WindowAssigner): number {
  return assigner.kind === 'sliding' ? Math.ceil(assigner.sizeMs / assigner.slideMs) : 1;
}

/** The last multiple of a step at or before a time. */
export function floorTo(time: number, step: number): number {
  const rest = time % step;
  return time - (rest < 0 ? rest + step : rest);
}

function checkDuration(builder: string, name: string, value: number): void {
  if (Number.isInteger(value) && value > 0 && value <= timerTimeMax) return;
  throw new RangeError(
    `${builder}: ${name} is ${value}, expected a whole number of milliseconds from 1 to ${timerTimeMax}; give it in milliseconds`,
  );
}
