import { compareSteps, compareTexts, type FiringStep } from './position.ts';

/**
 * What a timer waits for: `event`, the channel's event-time watermark, or `arrival`, the latest arrival in the channel.
 * Neither is a wall clock: both are functions of the records so far.
 */
export type TimeDomain = 'event' | 'arrival';

/** A timer of one key; it lives in the key's item (P12). A key has at most one of a domain, time and name. */
export interface Timer {
  readonly domain: TimeDomain;
  /** ms since the epoch, a whole number. */
  readonly time: number;
  readonly name: string;
}

/** Names of timers: 1 to 120 of letters, digits, ":", "_" and "-". */
export const timerNamePattern = /^[A-Za-z0-9:_-]{1,120}$/;

/** Greatest distance of a timer from 1970, ms: what a date can hold. */
export const timerTimeMax = 8.64e15 / 2;

/** Most timers that one key may have pending. */
export const timersPerKeyMax = 10_000;

/** The order in which the timers of a key fire: by time, then by the name under which they are told apart. */
export function compareTimers(a: Timer, b: Timer): number {
  return a.time - b.time || compareTexts(timerStepName(a), timerStepName(b));
}

/** The timer's name in positions and ids; says the domain, too. */
export function timerStepName({ domain, name }: Omit<Timer, 'time'>): string {
  return `${domain === 'event' ? 'e' : 'a'}:${name}`;
}

/** Behind all timers of a key. */
export function endOfKey({ keyHash, key }: { keyHash: string; key: string }): FiringStep {
  return { keyHash, key, time: timerTimeMax, name: '' };
}

/** True where the timers of a key that are due behind a record have all fired once firing has come to a step. */
export function hasFiredKey(key: { keyHash: string; key: string }, firing: FiringStep): boolean {
  return compareSteps(endOfKey(key), firing) <= 0;
}

export type PackedTimer = [domain: 0 | 1, time: number, name: string];

export function packTimer({ domain, time, name }: Timer): PackedTimer {
  return [domain === 'event' ? 0 : 1, time, name];
}

export function unpackTimer([domain, time, name]: PackedTimer): Timer {
  return { domain: domain === 0 ? 'event' : 'arrival', time, name };
}
