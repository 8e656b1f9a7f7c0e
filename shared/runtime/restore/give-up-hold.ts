import type { JobPorts } from '../job-ports.ts';
import { abortHold, readJob } from './hold.ts';

/** How an acquisition of the hold began: what was chosen for it, before anything was written. */
export interface HoldChoice {
  /** Empty where none was chosen yet. */
  readonly id: string;
  /** The version of the job item that it is about. */
  readonly jobVersion: number;
}

/** How many times the job item is written against other writers. */
const triesMax = 20;

/**
 * Ends an acquisition of the hold whose outcome is not known: the one that took the hold is aborted, and one that is still on its
 * way will find another version of the job item, and lose (R1).
 *
 * @returns false where the job has flipped under it
 */
export async function giveUpHold(ports: JobPorts, choice: HoldChoice): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    if (choice.id === '' || (await ports.control.readJob(ports.job)) === undefined) return true;
    if (!(await abortHold(ports, choice.id))) return false;
    const job = await readJob(ports);
    if (job.version !== choice.jobVersion) return true;
    await ports.control.replaceJob({ ...job, version: job.version + 1 }, job.version);
  }
  return true;
}
