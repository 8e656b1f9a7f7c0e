import type { System } from '../ports/system.ts';

/** The time that an invocation has left. */
export interface Deadline {
  /** ms; negative once it is over. */
  remainingMs(): number;
}

/** All the time that there is. */
export const noDeadline: Deadline = { remainingMs: () => Number.POSITIVE_INFINITY };

/** A deadline at a moment of the system's clock, ms since the epoch. */
export function deadlineAt(system: System, endMs: number): Deadline {
  return { remainingMs: () => endMs - system.now() };
}

/** True where a unit may still be begun. */
export function hasTimeFor(deadline: Deadline, reserveMs: number): boolean {
  return deadline.remainingMs() > reserveMs;
}
