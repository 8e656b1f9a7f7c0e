import { describeThrown } from '../../core/errors.ts';
import type { System } from '../../ports/system.ts';
import { defaultRetryPolicy, pauseAfter, type RetryPolicy } from '../system/backoff.ts';

/** How many requests of one call are under way at once. */
export const requestsInFlightMax = 8;

/** No call goes round more often than this, even if each round settles something. */
const roundsMax = 64;

export interface Rounds {
  readonly system: System;
  /** How many things there are to settle; they are numbered from 0. */
  readonly count: number;
  /** How many of them fit into one request. */
  readonly requestSize: number;
  /** Sends one request and notes what it settles; returns the numbers that have to be asked for again. */
  readonly send: (numbers: readonly number[]) => Promise<readonly number[]>;
  /** The error for what is still not settled where the bound is reached. */
  readonly giveUp: (unsettled: number) => Error;
  readonly policy?: RetryPolicy | undefined;
}

/**
 * Settles things in requests of a fixed size, several at once; what was not served is asked for again in the next
 * round, after a pause. Rounds that settle nothing are bounded by the policy, all rounds by 64.
 *
 * Where a request throws, no more are begun, but those under way are awaited: nothing happens after the call.
 */
export async function sendInRounds(rounds: Rounds): Promise<void> {
  const policy = rounds.policy ?? defaultRetryPolicy;
  let open = Array.from({ length: rounds.count }, (_, number) => number);
  let idleRounds = 0;
  for (let round = 0; open.length > 0; round += 1) {
    if (idleRounds >= policy.attemptsMax || round >= roundsMax) throw rounds.giveUp(open.length);
    if (round > 0) await pauseAfter(rounds.system, idleRounds, policy);
    const again = await sendRound(open, rounds);
    idleRounds = again.length < open.length ? 0 : idleRounds + 1;
    open = again;
  }
}

async function sendRound(
  numbers: readonly number[],
  { requestSize, send }: Rounds,
): Promise<number[]> {
  const again: number[] = [];
  let failure: Error | undefined;
  let next = 0;
  const sendUntilDone = async (): Promise<void> => {
    while (next < numbers.length && failure === undefined) {
      const from = next;
      next += requestSize;
      try {
        again.push(...(await send(numbers.slice(from, next))));
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(describeThrown(error));
      }
    }
  };
  const requests = Math.min(requestsInFlightMax, Math.ceil(numbers.length / requestSize));
  await Promise.all(Array.from({ length: requests }, sendUntilDone));
  if (failure !== undefined) throw failure;
  return again;
}
