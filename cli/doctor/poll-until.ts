import { setTimeout as sleep } from 'node:timers/promises';
import { PreparationError } from './judge-failure.ts';

export interface Patience {
  readonly limitMs: number;
  /** @default 250 */
  readonly pauseMs?: number;
}

/** Asks again and again. @returns whether the answer was yes within the limit */
export async function waitFor(
  isSo: () => Promise<boolean>,
  { limitMs, pauseMs = 250 }: Patience,
): Promise<boolean> {
  const endMs = Date.now() + limitMs;
  for (;;) {
    if (await isSo()) return true;
    if (Date.now() >= endMs) return false;
    await sleep(pauseMs);
  }
}

/** @throws PreparationError where the answer was not yes within the limit */
export async function pollUntil(
  isSo: () => Promise<boolean>,
  { what, ...patience }: Patience & { readonly what: string },
): Promise<void> {
  if (await waitFor(isSo, patience)) return;
  throw new PreparationError(`waited ${patience.limitMs / 1_000} s for ${what}`);
}
