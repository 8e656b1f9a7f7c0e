import { HoldfastError } from '../../core/errors.ts';
import { listManifestFiles } from '../checkpoint/manifest-objects.ts';
import { readManifest } from '../checkpoint/take-manifest.ts';
import { createObjectCheck } from '../check-object.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import { createFallbackStore, type FallbackStore } from '../fallback-store.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import { completionName, reservationName } from '../object-names.ts';
import { readWay } from './reservation.ts';

/*
 * Reading from the backup. It is asked for, never done by itself: what is damaged in the primary is for somebody to hear of. Each
 * object is looked at by itself, the manifest, where its generation comes from, and every file, so that a backup in which some are
 * missing is of use for the others.
 */

/** Ports that read from the backup what is missing or damaged in the primary. */
export type FallbackPorts<Ports extends JobPorts = JobPorts> = Ports & {
  readonly objects: FallbackStore;
};

/** @throws HoldfastError `invalid` where the job has no backup */
export function readingBackup<Ports extends JobPorts>(ports: Ports): FallbackPorts<Ports> {
  const { objects, backup, job } = ports;
  if (backup === undefined) {
    throw new HoldfastError(
      'invalid',
      `job ${job} has no backup to read from; give it one (checkpointing.backup of StreamJob), deploy it, and put there what there is of copies`,
    );
  }
  return { ...ports, objects: createFallbackStore(objects, backup, createObjectCheck(job)) };
}

/** Undefined for ports that read from the primary alone. */
export function fallbackOf({ objects }: Pick<JobPorts, 'objects'>): FallbackStore | undefined {
  return 'locate' in objects ? (objects as FallbackStore) : undefined;
}

/** What was found of the copies of some objects. */
export interface CopyReport {
  /** How many were looked at. */
  readonly objects: number;
  /** Those of which the backup alone has a sound copy. */
  readonly fellBack: readonly string[];
  /** Those of which nobody has. */
  readonly lost: readonly string[];
  /** The object from which to go on; undefined where all were looked at. */
  readonly next: number | undefined;
}

/** Objects that are read at once, each whole. */
const objectsAtOnce = 8;

/** None is begun with less time than this left, ms. */
const reserveMs = 20_000;

/**
 * Reads everything that a restore from a manifest needs, and tells where a sound copy of each object is. It changes nothing.
 *
 * @throws HoldfastError where no copy of the manifest itself can be read
 */
export async function checkCopies(
  ports: FallbackPorts,
  manifest: string,
  deadline: Deadline,
  from = 0,
): Promise<CopyReport> {
  const names = await listNeeded(ports, manifest);
  const report = { objects: 0, fellBack: [] as string[], lost: [] as string[] };
  for (let at = from; at < names.length; at += objectsAtOnce) {
    if (!hasTimeFor(deadline, reserveMs)) return { ...report, next: at };
    const some = names.slice(at, at + objectsAtOnce);
    const places = await inParallel(some, objectsAtOnce, (name) => ports.objects.locate(name));
    report.objects += some.length;
    report.fellBack.push(...some.filter((_, index) => places[index] === 'backup'));
    report.lost.push(
      ...some.filter((_, index) => places[index] === 'damaged' || places[index] === 'nowhere'),
    );
  }
  return { ...report, next: undefined };
}

/** @throws HoldfastError `corrupt` with everything of which no sound copy is left */
export function refuseLost(manifest: string, lost: readonly string[], more = 0): void {
  if (lost.length === 0) return;
  throw new HoldfastError(
    'corrupt',
    `${manifest} cannot be restored from: of ${lost.length + more} objects there is a sound copy neither in the bucket nor in the backup: ${lost.join(', ')}${more > 0 ? `, and ${more} more` : ''}; bring them back, or take another manifest`,
  );
}

/**
 * Puts back into the primary what stays needed after a restore: the manifest, what says that it is complete, and where its
 * generation comes from. Files are not put back: the restore merges them into others. Nothing is to do for ports that do not read
 * from a backup.
 */
export async function bringBackManifest(ports: JobPorts, name: string): Promise<void> {
  const objects = fallbackOf(ports);
  if (objects === undefined) return;
  const manifest = await readManifest(ports, name);
  const completion = completionName(ports.job, manifest);
  for (const one of [...(await listWay(ports, manifest.generation)), name, completion]) {
    await objects.repair(one);
  }
}

async function listNeeded(ports: JobPorts, name: string): Promise<string[]> {
  const manifest = await readManifest(ports, name);
  const way = await listWay(ports, manifest.generation);
  return [name, ...way, ...listManifestFiles(ports.job, manifest)];
}

/** Where a reservation on the way is missing everywhere, the way ends with its name. */
async function listWay(ports: JobPorts, generation: number): Promise<string[]> {
  const way = await readWay(ports, generation);
  const numbers = [generation, ...way.map(({ parent }) => parent)].filter((one) => one > 1);
  return numbers.map((one) => reservationName(ports.job, one));
}
