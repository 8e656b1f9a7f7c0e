import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS_MAX = 600;
const INTERVAL_MS = 25;

/** Asks for a resource's status until it is ACTIVE. */
export async function waitUntilActive(
  what: string,
  readStatus: () => Promise<string | undefined>,
): Promise<void> {
  let status: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    status = await readStatus();
    if (status === 'ACTIVE') return;
    await sleep(INTERVAL_MS);
  }
  throw new Error(
    `${what} has status ${status} after ${ATTEMPTS_MAX} looks, expected ACTIVE; look at the emulator's log`,
  );
}
