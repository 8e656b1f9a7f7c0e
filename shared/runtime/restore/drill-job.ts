import { HoldfastError } from '../../core/errors.ts';
import type { Reservation } from '../../core/reservation.ts';
import { readManifest } from '../checkpoint/take-manifest.ts';
import type { Deadline } from '../deadline.ts';
import {
  emptyGeneration,
  refusePresent,
  type Deletion,
  type DeletionPorts,
} from './delete-generation.ts';
import { readJob } from './hold.ts';
import { readReservation, reserveGeneration } from './reservation.ts';
import { listDropped } from './restore-steps.ts';
import type { RestoreOrder, RestorePorts } from './restore-order.ts';

/*
 * R13: a drill goes the way of a restore up to the comparison, beside the running job. Its number is burnt, and what it has
 * loaded is deleted. It loads keys and no progress: nothing can ever run in its generation.
 */

/** Takes a number that no job will ever be in. */
export async function reserveForDrill(
  ports: RestorePorts,
  { restore, manifest: object }: Pick<RestoreOrder, 'restore' | 'manifest'>,
  base: string,
): Promise<Reservation> {
  const job = await readJob(ports);
  const manifest = await readManifest(ports, object);
  return reserveGeneration(ports, Math.max(job.generation, manifest.generation), {
    parent: manifest.generation,
    manifest: object,
    restore,
    hold: restore,
    base,
    forks: [],
    left: [],
    dropped: await listDropped(ports, job, manifest),
  });
}

/**
 * Deletes what a drill has loaded, of operators that are no more deployed, too.
 *
 * @throws HoldfastError `invalid` where the generation is not the drill's own
 */
export async function deleteDrill(
  ports: DeletionPorts,
  drill: { readonly restore: string; readonly generation: number },
  deadline: Deadline,
  from?: Deletion['next'],
): Promise<Deletion> {
  const { restore, generation } = drill;
  const job = await readJob(ports);
  refusePresent(job, generation);
  const reservation = await readReservation(ports, generation);
  if (reservation?.restore !== restore) {
    throw new HoldfastError(
      'invalid',
      `generation ${generation} belongs to ${reservation?.restore ?? 'nobody'}, not to drill ${restore}; its state stays`,
    );
  }
  const manifest = await readManifest(ports, reservation.manifest);
  const operators = [
    ...new Set([...manifest.operators.map(({ id }) => id), ...job.operators]),
  ].sort();
  const scope = { generation, operators, maxParallelism: manifest.maxParallelism };
  return emptyGeneration(ports, scope, deadline, from);
}
