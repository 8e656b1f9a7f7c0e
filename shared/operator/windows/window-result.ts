import type { Window } from './window-assigner.ts';

/**
 * - `early`: the window goes on.
 * - `fire`: the watermark has reached its end.
 * - `late-update`: an event came after that, within the allowed lateness.
 * - `flush`: the stream ended before the window did.
 */
export type ResultKind = 'fire' | 'late-update' | 'early' | 'flush';

/** What a window tells. Each result holds all events of its window so far: it replaces those before. */
export interface WindowResult<Result> {
  readonly kind: ResultKind;
  readonly window: Window;
  /** Event-time watermark at which it came, ms since the epoch, the event that caused it included. */
  readonly watermark: number;
  /** Do not change it: it may be a part of the window's state. */
  readonly result: Result;
  /** Sessions: windows of earlier results that have become part of this one, so that those results are void. */
  readonly replaces: readonly Window[];
}

/** An event that came when windows of it were over. */
export interface LateEvent<Event> {
  readonly event: Event;
  /** Its event time, ms since the epoch. */
  readonly time: number;
  readonly watermark: number;
  /**
   * The windows that went without it. Sliding windows that still took it are not among them. A session's is the window
   * that it would have had alone.
   */
  readonly missed: readonly Window[];
}
