import { isHoldfastError } from '../../core/errors.ts';
import { checkClone, type CloneOrder } from './check-clone.ts';
import { refuseRestore } from './check-restore.ts';
import { unpinCloned } from './copy-manifest.ts';
import { readJob } from './hold.ts';
import type { RestorePorts } from './restore-order.ts';
import { isUnborn } from './unborn-job.ts';

/**
 * R12: refuses a clone that cannot be. An earlier execution of it may have died behind its pin in the cloned job; where the job has
 * begun since, nothing is copied into it any more, and the pin goes with the refusal. As long as the job has not begun the pin stays:
 * what stands against the clone may pass, or a twin that was let through may be copying.
 *
 * @throws HoldfastError `invalid` where the job cannot begin as this clone, `conflict` where it cannot now
 */
export async function validateClone(ports: RestorePorts, order: CloneOrder): Promise<void> {
  try {
    refuseRestore(await checkClone(ports, order), order);
  } catch (thrown) {
    const isRefused = isHoldfastError(thrown, 'invalid');
    if (isRefused && !isUnborn(await readJob(ports))) await unpinCloned(ports, order);
    throw thrown;
  }
}
