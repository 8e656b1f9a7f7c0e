import type { ShardReader } from '../../ports/shard-reader.ts';
import type { JobPorts } from '../job-ports.ts';
import { abortHold } from './hold.ts';
import { isUnborn } from './unborn-job.ts';

/** Which part of the stream's retention a hold may last: what is held must have the time to be read afterwards. */
const retentionShare = 0.5;
const hourMs = 3600 * 1000;

/**
 * R1: ends a hold whose owner has not come back for so long that records would leave the stream unread. Nobody judges by the
 * clock: the hold is over with this write, and its owner finds that out by its own next one. A job that has flipped, stands
 * still at a savepoint, or has nothing to go back to is left alone.
 *
 * @returns true where a hold was ended
 */
export async function endStaleHold(
  ports: JobPorts & { readonly reader: ShardReader },
): Promise<boolean> {
  const job = await ports.control.readJob(ports.job);
  const hold = job?.hold;
  if (job === undefined || hold === undefined) return false;
  const canBeEnded = !isUnborn(job) || hold.before !== undefined;
  if (hold.isFlipped || hold.kind === 'stopped' || !canBeEnded) return false;
  const { retentionHours } = await ports.reader.describe();
  const heldMs = ports.system.now() - hold.sinceMs;
  if (heldMs <= retentionHours * hourMs * retentionShare) return false;
  if (!(await abortHold(ports, hold.id))) return false;
  ports.telemetry.log('error', 'a hold was ended whose owner has not come back', {
    kind: hold.kind,
    owner: hold.owner,
    heldHours: Math.round(heldMs / hourMs),
  });
  return true;
}
