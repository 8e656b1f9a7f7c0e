import { HoldfastError } from '../../core/errors.ts';
import type { StateFile } from '../../core/manifest.ts';
import { crc32c } from '../../core/crc32c.ts';
import type { ManifestReference } from '../../core/registry.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import { hasObject, hasObjectBelow } from '../has-object.ts';
import type { JobPorts } from '../job-ports.ts';
import { completionName, reservationName, savepointPrefix } from '../object-names.ts';
import { readWay } from '../restore/reservation.ts';
import { findManifest } from './find-manifest.ts';

/*
 * The backup holds copies under the same names: of each manifest, with what says that it is complete and where its generation
 * comes from, and of the files of savepoints, which are theirs alone. The files of checkpoints are not copied from here: a segment
 * is put for each committed unit, and most are merged away a little later. Replication of the bucket into the backup keeps names,
 * so that what it brings is found there, too.
 */

/** No file is begun with less time than this left, ms. */
const reserveMs = 20_000;

/**
 * Copies a complete manifest into the backup, a savepoint with its files. The completion object comes last, so that there, too,
 * it tells whole copies from begun ones. It can be called again, and beside itself: what stands is left alone.
 *
 * @returns false where there was no time for all of it
 * @throws HoldfastError `corrupt` where a file of a savepoint is not what its manifest promises: it is not copied
 */
export async function backUp(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  backup: ObjectStore,
  reference: ManifestReference,
  deadline: Deadline,
): Promise<boolean> {
  const completion = completionName(ports.job, reference);
  if (await hasObject(backup, completion)) return true;
  const manifest = await findManifest(ports, reference.object);
  // Retired meanwhile.
  if (manifest === undefined) return true;
  if (reference.kind === 'savepoint') {
    for (const file of manifest.runs.flatMap(({ files }) => files)) {
      if (await hasObject(backup, file.name)) continue;
      if (!hasTimeFor(deadline, reserveMs)) return false;
      await backup.create(file.name, await readFile(ports.objects, file));
    }
  }
  await copyWay(ports, backup, manifest.generation);
  for (const name of [reference.object, completion]) {
    const bytes = await ports.objects.read(name);
    // Retired meanwhile, or its completion object is still to come: the next look finds out.
    if (bytes === undefined) return true;
    await backup.create(name, bytes);
  }
  return true;
}

/**
 * Refuses a name under which the backup has something: nothing is ever deleted there, and a copy of another savepoint would be
 * taken for that of the new one.
 */
export async function refuseCopied(
  { backup, job }: Pick<JobPorts, 'backup' | 'job'>,
  label: string,
): Promise<void> {
  const prefix = savepointPrefix(job, label);
  if (backup === undefined || !(await hasObjectBelow(backup, prefix))) return;
  throw new HoldfastError(
    'conflict',
    `the backup still has a copy of an earlier savepoint ${label} of job ${job}, in ${prefix}; choose another name, or delete the copy there first`,
  );
}

/** The oldest first, so that one that is there tells that all before it are. */
async function copyWay(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  backup: ObjectStore,
  generation: number,
): Promise<void> {
  if (generation === 1 || (await hasObject(backup, reservationName(ports.job, generation)))) return;
  for (const made of (await readWay(ports, generation)).reverse()) {
    const name = reservationName(ports.job, made.generation);
    const bytes = await ports.objects.read(name);
    if (bytes !== undefined) await backup.create(name, bytes);
  }
}

async function readFile(objects: ObjectStore, file: StateFile): Promise<Uint8Array> {
  const bytes = await objects.read(file.name);
  if (bytes !== undefined && bytes.length === file.bytes && crc32c(bytes) === file.crc) {
    return bytes;
  }
  throw new HoldfastError(
    'corrupt',
    `state file ${file.name} is missing, or not what its manifest promises; it is not copied into the backup, make another savepoint`,
  );
}
