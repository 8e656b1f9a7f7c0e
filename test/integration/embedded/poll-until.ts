import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again and again until the answer is not undefined. The time limit only ends a test that hangs. */
export async function pollUntil<Value>(
  what: string,
  ask: () => Value | undefined | Promise<Value | undefined>,
): Promise<Value> {
  const giveUpAtMs = performance.now() + 60_000;
  while (performance.now() < giveUpAtMs) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(10);
  }
  throw new Error(`still waiting for ${what}`);
}

/** Resolves when the statement has become true. */
export async function pollUntilTrue(what: string, ask: () => boolean): Promise<void> {
  await pollUntil(what, () => (ask() ? true : undefined));
}

/** True while a process of this id runs. One that has ended and was not collected yet does not run. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // No /proc on this system, or the process has ended since.
    return !existsSync('/proc/self');
  }
}
