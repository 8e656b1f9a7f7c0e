import { HoldfastError } from '../core/errors.ts';
import { timerNamePattern, timersPerKeyMax, timerTimeMax, type Timer } from '../core/timer.ts';
import type { Operator, Timers } from './operator.ts';
import { addTimer, removeTimer } from './timer-list.ts';

/** The pending timers of the key that is being processed, in the order in which they fire. */
export interface TimerCursor {
  timers: Timer[];
  /** The time of the timer that is firing; undefined in `process`. */
  firingTime: number | undefined;
}

/** The handle through which an operator reaches whatever timers the cursor points at. */
export function createTimers(operator: Operator, cursor: TimerCursor): Timers {
  return {
    register: ({ name, time, domain = 'event' }) => {
      checkTimer(operator, { name, time, domain });
      removeTimer(cursor.timers, name, domain);
      if (cursor.timers.length >= timersPerKeyMax) {
        throw refuse(
          operator,
          `has ${timersPerKeyMax} timers pending for one key, and no more may be`,
        );
      }
      // Firing goes forward: nothing can be put in front of what has fired.
      const { firingTime } = cursor;
      const earliest = firingTime === undefined ? time : Math.max(time, firingTime + 1);
      addTimer(cursor.timers, { domain, time: earliest, name });
    },
    cancel: (name, domain = 'event') => {
      removeTimer(cursor.timers, name, domain);
    },
  };
}

function checkTimer(operator: Operator, { name, time, domain }: Timer): void {
  if (operator.onTimer === undefined) {
    throw refuse(operator, `registers timer ${JSON.stringify(name)} but has no onTimer; add one`);
  }
  if (domain === 'event' && operator.eventTime === undefined) {
    throw refuse(
      operator,
      `registers event timer ${JSON.stringify(name)} but has no eventTime; add one, or use domain "arrival"`,
    );
  }
  if (!timerNamePattern.test(name)) {
    throw refuse(
      operator,
      `registers timer ${JSON.stringify(name)}, expected ${String(timerNamePattern)}`,
    );
  }
  if (!Number.isInteger(time) || Math.abs(time) > timerTimeMax) {
    throw refuse(
      operator,
      `registers timer ${JSON.stringify(name)} for ${time}, expected whole milliseconds since the epoch within ±${timerTimeMax}`,
    );
  }
}

function refuse(operator: Operator, why: string): HoldfastError {
  return new HoldfastError('invalid', `operator ${operator.id} ${why}`);
}
