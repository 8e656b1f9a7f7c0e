import { setTimeout as sleep } from 'node:timers/promises';

/** A timer's limit, some 24 days: a longer one fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Lets time pass, ms; rejects with the signal's reason as soon as it is aborted. */
export type Pause = (durationMs: number, signal: AbortSignal) => Promise<void>;

/** Time that goes so many times as fast as it does. */
export function pauseAtSpeed(speed: number): Pause {
  if (!(speed > 0)) {
    throw new Error(`state machines have the speed ${speed}, expected a number above 0`);
  }
  return (durationMs, signal) => pause(durationMs / speed, signal);
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let restMs = durationMs;
  while (restMs > 0) {
    const partMs = Math.min(restMs, TIMER_MS_MAX);
    await sleep(partMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    restMs -= partMs;
  }
}

/** The promise's result; rejects with the signal's reason as soon as it is aborted. What runs goes on unheard. */
export async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
