import { HoldfastError } from '../../core/errors.ts';
import type { Reservation } from '../../core/reservation.ts';
import type { Job } from '../../ports/control-store.ts';
import { readReservation } from './reservation.ts';
import type { RestoreOrder, RestorePorts } from './restore-order.ts';

/** A generation that the job has flipped to. */
export interface Made {
  readonly reservation: Reservation;
  /** Undefined where it is released already. */
  readonly holdId: string | undefined;
  /** Object name of the manifest by which it can be undone; undefined where there was nothing to go back to, or it is released. */
  readonly undo: string | undefined;
}

/**
 * What an earlier call of this restore has brought to its flip.
 *
 * @throws HoldfastError `conflict` where another restore has taken it over, or the job has gone on from it since
 */
export async function findMade(
  ports: RestorePorts,
  order: RestoreOrder,
): Promise<Made | undefined> {
  const job = await ports.control.readJob(ports.job);
  if (job === undefined) return undefined;
  const { generation, hold } = job;
  const reservation = await readReservation(ports, generation);
  if (reservation?.restore !== order.restore) {
    await refuseIfOver(ports, order, job);
    return undefined;
  }
  for (let one = hold; one !== undefined; one = one.before) {
    if (one.owner !== order.restore || one === hold) continue;
    throw new HoldfastError(
      'conflict',
      `restore ${order.restore} is taken over by ${hold!.kind} ${hold!.owner}, which has to come to its end, or be given up, first`,
    );
  }
  const holdId = hold?.owner === order.restore && hold.isFlipped ? hold.id : undefined;
  return { reservation, holdId, undo: hold?.undo };
}

/** A restore that the job has gone on from to another generation is not made again by a call of it that is late. */
async function refuseIfOver(ports: RestorePorts, order: RestoreOrder, job: Job): Promise<void> {
  for (const { generation } of job.timeline) {
    const made = await readReservation(ports, generation);
    if (made?.restore !== order.restore) continue;
    throw new HoldfastError(
      'conflict',
      `restore ${order.restore} has made generation ${generation}, and job ${job.name} has gone over to generation ${job.generation} since; begin another restore to go back there`,
    );
  }
}
