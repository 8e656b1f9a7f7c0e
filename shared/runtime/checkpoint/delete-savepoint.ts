import { HoldfastError } from '../../core/errors.ts';
import type { SortedRun } from '../../core/manifest.ts';
import type { ManifestReference } from '../../core/registry.ts';
import type { JobPorts } from '../job-ports.ts';
import { savepointPrefix } from '../object-names.ts';
import { readJob } from '../restore/hold.ts';
import { changeRegistry, readRegistry } from './change-registry.ts';
import { collectGarbage } from './collect-garbage.ts';
import { readBase, readManifest } from './take-manifest.ts';

/**
 * Deletes a savepoint, which nothing else ever does. Where a generation of the job was made from it, its manifest stays: it says
 * which segments lead there (R10), and its name can be no other savepoint's.
 *
 * @throws HoldfastError `invalid` where there is none of this name, `conflict` while somebody reads it or another manifest
 *   lists its files (C7)
 */
export async function deleteSavepoint(ports: JobPorts, label: string): Promise<void> {
  const prefix = savepointPrefix(ports.job, label);
  const registry = await readRegistry(ports);
  const found = registry.complete.find((one) => one.kind === 'savepoint' && one.label === label);
  if (found === undefined) {
    throw new HoldfastError(
      'invalid',
      `job ${ports.job} has no savepoint ${label}; list them with: holdfast savepoint list`,
    );
  }
  const user = await findUser(ports, registry.complete, found, prefix);
  if (user !== undefined) {
    throw new HoldfastError(
      'conflict',
      `savepoint ${label} cannot be deleted yet: ${user} lists its files, as the job was restored from it; it can once they have been compacted into others`,
    );
  }
  await changeRegistry(ports, (there) => {
    const pin = there.pins.find(({ object }) => object === found.object);
    if (pin !== undefined) {
      throw new HoldfastError(
        'conflict',
        `savepoint ${label} is being read by ${pin.owner} since ${new Date(pin.sinceMs).toISOString()}; wait for it`,
      );
    }
    const complete = there.complete.filter(({ object }) => object !== found.object);
    return complete.length === there.complete.length ? undefined : { ...there, complete };
  });
  // All of it that nothing needs is garbage from now on. A manifest that a generation was made from stays: it says where rows
  // count (R10).
  await collectGarbage(ports, { graceMs: Number.POSITIVE_INFINITY, dryRun: false, prefix });
}

/** Who else lists files of a savepoint. */
async function findUser(
  ports: JobPorts,
  complete: readonly ManifestReference[],
  own: ManifestReference,
  prefix: string,
): Promise<string | undefined> {
  const lists = (runs: readonly SortedRun[]): boolean =>
    runs.some(({ files }) => files.some(({ name }) => name.startsWith(prefix)));
  for (const other of complete) {
    if (other.object === own.object) continue;
    if (lists((await readManifest(ports, other.object)).runs)) return other.object;
  }
  const { generation } = await readJob(ports);
  const base = await readBase(ports, await readRegistry(ports), generation);
  return base !== undefined && lists(base.runs) ? `generation ${generation}` : undefined;
}
