import type { Hold, Job } from '../../ports/control-store.ts';
import type { JobPorts } from '../job-ports.ts';
import { readWay } from './reservation.ts';

/**
 * R10: the generations that a restore leaves behind, as far as they can have taken rows from those that it goes back to: all that
 * the job was in since every row of the new one's way was last known to be there. It was when the newest generation on that way
 * was released. One whose hold is taken over before its release (R1) was not.
 *
 * @returns `all` where the tables were lost: nothing is known of the sinks
 */
export async function findLeft(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  { hold, timeline }: Pick<Job, 'hold' | 'timeline'>,
  parent: number,
): Promise<readonly number[] | 'all'> {
  const flips: Hold[] = [];
  for (let one = hold; one !== undefined; one = one.before) {
    if (one.isFlipped) flips.push(one);
  }
  if (hold?.undo === undefined || flips.some(({ undo }) => undo === undefined)) return 'all';
  const known = timeline.map(({ generation }) => generation);
  const unreleased = known.slice(known.length - flips.length);
  const made = await readWay(ports, parent);
  const way = new Set([parent, ...made.map((one) => one.parent)]);
  const whole = Math.max(...[...way].filter((one) => !unreleased.includes(one)));
  return known.filter((one) => one > whole && !way.has(one));
}
