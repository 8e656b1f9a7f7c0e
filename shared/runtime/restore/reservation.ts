import { HoldfastError } from '../../core/errors.ts';
import { decodeReservation, encodeReservation, type Reservation } from '../../core/reservation.ts';
import type { JobPorts } from '../job-ports.ts';
import { reservationName } from '../object-names.ts';

type ObjectsOfJob = Pick<JobPorts, 'objects' | 'job'>;

/** What a generation was made from; undefined for the first one. */
export async function readReservation(
  { objects, job }: ObjectsOfJob,
  generation: number,
): Promise<Reservation | undefined> {
  const name = reservationName(job, generation);
  const bytes = await objects.read(name);
  return bytes === undefined ? undefined : decodeReservation(bytes, name);
}

/** What the generations on the way from one to the first were made from, beginning with it; the first has nothing. */
export async function readWay(ports: ObjectsOfJob, generation: number): Promise<Reservation[]> {
  const way: Reservation[] = [];
  for (let next = generation; next > 1;) {
    const made = await readReservation(ports, next);
    if (made === undefined) break;
    way.push(made);
    next = made.parent;
  }
  return way;
}

/** How many numbers are tried against other restores. */
const triesMax = 1000;

/**
 * R4: takes the next number of a generation, for ever. Asked again under the same hold, a restore gets the number that it has;
 * under another one, the job has gone on meanwhile, and what was loaded before is fenced by a hold that is over.
 *
 * @param present the job's generation: the number is above it
 */
export async function reserveGeneration(
  ports: ObjectsOfJob,
  present: number,
  wanted: Omit<Reservation, 'generation' | 'job'>,
): Promise<Reservation> {
  // Numbers are taken without gaps, so that a twin meets ours on the way.
  for (let generation = present + 1; generation <= present + triesMax; generation += 1) {
    const reservation = { ...wanted, job: ports.job, generation };
    const name = reservationName(ports.job, generation);
    const outcome = await ports.objects.create(name, encodeReservation(reservation));
    if (outcome === 'created') return reservation;
    const there = await readReservation(ports, generation);
    if (there?.restore === wanted.restore && there.hold === wanted.hold) return there;
  }
  throw new HoldfastError(
    'conflict',
    `no number for a generation of job ${ports.job} could be had from ${present + 1} on; other restores are at work, try again`,
  );
}
