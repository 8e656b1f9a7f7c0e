import type { System } from '../../ports/system.ts';

/** How often and how patiently something is tried. */
export interface RetryPolicy {
  /** How many tries in a row may bring nothing, the first included. */
  readonly attemptsMax: number;
  /** The longest pause after the first try; it doubles with each. */
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
}

/** About three seconds in all: longer than a short throttle, shorter than an invocation can wait. */
export const defaultRetryPolicy: RetryPolicy = {
  attemptsMax: 8,
  firstPauseMs: 25,
  pauseMsMax: 1_000,
};

/**
 * Pauses after a try that brought nothing, for a random time up to the bound, so that those who were refused together
 * do not come back together.
 *
 * @param attempt counts from 0
 */
export async function pauseAfter(
  system: System,
  attempt: number,
  policy: RetryPolicy,
): Promise<void> {
  const boundMs = Math.min(policy.pauseMsMax, policy.firstPauseMs * 2 ** attempt);
  await system.sleep((system.randomVersion() / 2 ** 40) * boundMs);
}

/** Runs `attempt` until it returns, throws what is not worth another try, or the policy is exhausted. */
export async function retry<Result>(
  system: System,
  attempt: () => Promise<Result>,
  isWorthAnother: (error: unknown) => boolean,
  policy: RetryPolicy = defaultRetryPolicy,
): Promise<Result> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tried + 1 >= policy.attemptsMax || !isWorthAnother(error)) throw error;
    }
    await pauseAfter(system, tried, policy);
  }
}
