import { HoldfastError } from '../../core/errors.ts';
import type { Job } from '../../ports/control-store.ts';
import { readManifest } from '../checkpoint/take-manifest.ts';
import { compareManifest, type RestoreCheck } from './check-restore.ts';
import { readBesides, requireCloned } from './cloned-objects.ts';
import { readJob } from './hold.ts';
import { readReservation } from './reservation.ts';
import type { RestoreOrder, RestorePorts } from './restore-order.ts';
import { isUnborn } from './unborn-job.ts';

/**
 * R12: looks for everything that stands against a clone, and changes nothing, here or there.
 *
 * @param order.copyOf object name of a manifest of the cloned job
 * @throws HoldfastError `invalid` where the job cannot begin as a clone, whatever the manifest
 */
export async function checkClone(
  ports: RestorePorts,
  { restore, copyOf }: { readonly restore: string; readonly copyOf: string },
): Promise<RestoreCheck> {
  const cloned = requireCloned(ports);
  const job = await readJob(ports);
  // An earlier execution of this clone may have let it begin, and have died since.
  const made = await readReservation(ports, job.generation);
  if (made?.restore !== restore) refuseBegun(job, restore);
  const manifest = await readManifest(cloned, copyOf);
  const objects = readBesides(ports.objects, cloned);
  const found = await compareManifest({ ...ports, objects }, manifest, job);
  if (manifest.isExact) return found;
  // C3: the outputs of keys that are past the cut would be those of the other job's code, not of this one's.
  const inexact = {
    text: 'the manifest is not exact: an attempt had died with some keys past it',
    remedy: 'clone from a savepoint, or from another checkpoint',
    isLoss: false,
  };
  return { ...found, differences: [...found.differences, inexact] };
}

/** A clone begins in a job that was born for it: state that a job has made itself is never mixed with that of another one. */
function refuseBegun(job: Job, restore: string): void {
  const { name, generation, hold } = job;
  if (!isUnborn(job)) {
    throw new HoldfastError(
      'invalid',
      `job ${name} has begun, it is in generation ${generation}; a clone begins in a job that was first deployed with cloneOf and has not run: deploy one under another name`,
    );
  }
  if (hold === undefined || hold.kind === 'unborn' || hold.owner === restore) return;
  throw new HoldfastError(
    'conflict',
    `job ${name} is about to begin by ${hold.kind} ${hold.owner} since ${new Date(hold.sinceMs).toISOString()}; wait for it, or go on with it under its name`,
  );
}

/** An order that says which manifest of the cloned job is copied. */
export type CloneOrder = RestoreOrder & { readonly copyOf: string };

export function isCloneOrder(order: RestoreOrder): order is CloneOrder {
  return order.copyOf !== undefined;
}
