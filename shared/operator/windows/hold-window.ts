import { HoldfastError } from '../../core/errors.ts';
import type { Timers } from '../operator.ts';
import type { MapState } from '../state.ts';
import type { HeldWindow } from './held-window.ts';
import type { Window } from './window-assigner.ts';
import type { WindowRules } from './window-rules.ts';

/** What windows need of the key that is being processed. */
export interface WindowScope {
  readonly key: string;
  /** The state that `heldWindows()` declares. */
  readonly windows: MapState<HeldWindow>;
  readonly timers: Timers;
  /** Event-time watermark, ms since the epoch, the current event included. */
  readonly watermark: number;
  /** The watermark up to which timers have fired: without the current event. Undefined before the first. */
  readonly firedWatermark: number | undefined;
}

/** A window that takes an event. */
export interface Holding {
  readonly held: HeldWindow;
  /** It is new, or reaches further than before, and has no timers. */
  readonly isMoved: boolean;
}

/** Timers of windows begin with these; a key has one of each for a window. */
export const endTimer = 'window:';
export const earlyTimer = 'early:';

/** Until when a window takes events and is kept, ms since the epoch. */
export function keptUntil(rules: Pick<WindowRules<never>, 'latenessMs'>, { end }: Window): number {
  return end + rules.latenessMs;
}

/** Finds or opens the window for an event, merged with what it touches; undefined where it is over. */
export function holdWindow(
  rules: WindowRules<never>,
  wanted: Window,
  scope: WindowScope,
): Holding | undefined {
  if (rules.assigner.kind === 'session') {
    const joined = findOverlaps(wanted, scope);
    if (joined.length > 0) return joinSessions(rules, wanted, joined, scope);
  }
  if (keptUntil(rules, wanted) <= scope.watermark) return undefined;
  const known = scope.windows.get(nameWindow(wanted));
  if (known !== undefined) return { held: known, isMoved: false };
  return { held: openWindow(rules, wanted, scope), isMoved: true };
}

/** Lets go of a window and its timers. */
export function dropWindow(window: Window, { windows, timers }: WindowScope): void {
  windows.delete(nameWindow(window));
  timers.cancel(endTimer + nameWindow(window));
  timers.cancel(earlyTimer + nameWindow(window));
}

export function nameWindow({ start }: Pick<Window, 'start'>): string {
  return String(start);
}

/**
 * Sessions that share time with a window, by start. Those that it only touches do not: an event at the very end of a
 * session may be on time when that has fired already.
 */
function findOverlaps({ start, end }: Window, { windows }: WindowScope): HeldWindow[] {
  const found: HeldWindow[] = [];
  for (const [, held] of windows.entries()) {
    if (held.start < end && start < held.end) found.push(held);
  }
  return found.sort((a, b) => a.start - b.start);
}

/** Sessions are never over while they are held, however late the event that joins them. */
function joinSessions(
  rules: WindowRules<never>,
  wanted: Window,
  joined: readonly HeldWindow[],
  scope: WindowScope,
): Holding {
  const [first, ...others] = joined as [HeldWindow, ...HeldWindow[]];
  const start = Math.min(first.start, wanted.start);
  const end = Math.max(wanted.end, ...joined.map((one) => one.end));
  if (others.length === 0 && start === first.start && end === first.end) {
    return { held: first, isMoved: false };
  }
  for (const one of joined) dropWindow(one, scope);
  const { aggregator } = rules;
  const held: HeldWindow = {
    start,
    end,
    stage: joined.some((one) => one.stage === 'flushed') ? 'flushed' : 'open',
    unreported: joined.reduce((total, one) => total + one.unreported, 0),
    accumulator: others.reduce<unknown>(
      (merged, one) => aggregator.merge?.(merged, one.accumulator),
      first.accumulator,
    ),
    reported: joined.flatMap((one) => one.reported),
  };
  scope.windows.set(nameWindow(held), held);
  return { held, isMoved: true };
}

function openWindow(
  rules: WindowRules<never>,
  { start, end }: Window,
  { key, windows }: WindowScope,
): HeldWindow {
  const { owner, aggregator, maxWindowsPerKey } = rules;
  if (windows.size >= maxWindowsPerKey) {
    throw new HoldfastError(
      'invalid',
      `${owner}, key ${JSON.stringify(key)}: window [${start}, ${end}) would be one more than the ${windows.size} that the key holds, expected at most maxWindowsPerKey, ${maxWindowsPerKey}; allow less lateness, take larger windows, or raise it`,
    );
  }
  const held: HeldWindow = {
    start,
    end,
    stage: 'open',
    unreported: 0,
    accumulator: aggregator.create(),
    reported: [],
  };
  windows.set(nameWindow(held), held);
  return held;
}
