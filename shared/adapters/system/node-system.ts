import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../../ports/system.ts';

/** The clock and the dice of this process. */
export const nodeSystem: System = {
  now: () => Date.now(),
  randomId: () => randomBytes(16).toString('hex'),
  randomVersion: () => randomBytes(5).readUIntBE(0, 5),
  sleep: async (ms) => {
    await sleep(ms);
  },
};
