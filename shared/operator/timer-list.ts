import { compareTimers, timerStepName, type TimeDomain, type Timer } from '../core/timer.ts';

/*
 * The pending timers of a key as a list in the order in which they fire. Whoever fires one takes it out of the list
 * himself; all else goes through here. Windows can have thousands of timers for a key, so that none of this looks at each.
 */

/** Timers by name and domain, for lists that are long. It may still know some that have fired. */
const indexes = new WeakMap<readonly Timer[], Map<string, Timer>>();

/** Up to here looking at each is faster, and most keys never have more. */
const unindexedMax = 64;

/** Puts a timer into its place. The list has none of its name and domain. */
export function addTimer(timers: Timer[], timer: Timer): void {
  timers.splice(findPlace(timers, timer), 0, timer);
  readIndex(timers)?.set(timerStepName(timer), timer);
}

/** Takes a timer out, if there is one of this name and domain. */
export function removeTimer(timers: Timer[], name: string, domain: TimeDomain): void {
  const at = findTimer(timers, name, domain);
  if (at >= 0) timers.splice(at, 1);
}

function findTimer(timers: readonly Timer[], name: string, domain: TimeDomain): number {
  const index = readIndex(timers);
  if (index === undefined) {
    return timers.findIndex((timer) => timer.name === name && timer.domain === domain);
  }
  const known = index.get(timerStepName({ name, domain }));
  if (known === undefined) return -1;
  const at = findPlace(timers, known);
  return timers[at] === known ? at : -1;
}

/** The first place whose timer does not fire before this one. */
function findPlace(timers: readonly Timer[], timer: Timer): number {
  let low = 0;
  let high = timers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareTimers(timers[middle]!, timer) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Once a list has an index, it has one for good: what is added while it is short must be in there, too. */
function readIndex(timers: readonly Timer[]): Map<string, Timer> | undefined {
  const index = indexes.get(timers);
  if (index !== undefined || timers.length <= unindexedMax) return index;
  const made = new Map(timers.map((timer) => [timerStepName(timer), timer]));
  indexes.set(timers, made);
  return made;
}
