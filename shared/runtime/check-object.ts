import { decodePlan } from '../core/compaction-plan.ts';
import { HoldfastError } from '../core/errors.ts';
import { decodeBase, decodeManifest } from '../core/manifest-codec.ts';
import { decodeReservation } from '../core/reservation.ts';
import { decodeRunFile } from '../core/run-file.ts';
import { decodeSegment } from '../core/segment.ts';
import type { ObjectCheck } from './fallback-store.ts';
import { parseObjectName } from './object-names.ts';

/**
 * Checks an object of a job by what its name says that it is: every format has checksums over all of its bytes. Spilled emissions
 * have theirs in the items that name them, so that here they pass, as does what is unknown.
 */
export function createObjectCheck(job: string): ObjectCheck {
  return (name, bytes) => {
    switch (parseObjectName(job, name).kind) {
      case 'manifest':
      case 'cut':
        decodeManifest(bytes, name, { job });
        return;
      case 'base':
        decodeBase(bytes, name, { job });
        return;
      case 'plan':
        decodePlan(bytes, name, { job });
        return;
      case 'reservation':
        decodeReservation(bytes, name);
        return;
      case 'run':
      case 'savepoint-file':
        decodeRunFile(bytes, name);
        return;
      case 'segment':
        decodeSegment(bytes, name);
        return;
      case 'completion':
        checkCompletion(name, bytes);
        return;
      case 'job-marker':
      case 'spill':
      case 'unknown':
    }
  };
}

function checkCompletion(name: string, bytes: Uint8Array): void {
  if (/^\{"completedAtMs":\d+\}$/.test(new TextDecoder().decode(bytes))) return;
  throw new HoldfastError('corrupt', `completion object ${name} does not say when it was written`);
}
