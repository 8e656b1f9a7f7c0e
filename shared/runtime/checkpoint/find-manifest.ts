import type { Base, Manifest } from '../../core/manifest.ts';
import { decodeBase, decodeManifest } from '../../core/manifest-codec.ts';
import type { PendingWork } from '../../core/registry.ts';
import type { JobPorts } from '../job-ports.ts';
import { manifestName } from '../object-names.ts';

/** The manifest of this name; undefined where none stands. */
export async function findManifest(
  { objects, job }: Pick<JobPorts, 'objects' | 'job'>,
  name: string,
): Promise<Manifest | undefined> {
  const bytes = await objects.read(name);
  return bytes === undefined ? undefined : decodeManifest(bytes, name, { job });
}

/** The base of this name; undefined where none stands. */
export async function findBase(
  { objects, job }: Pick<JobPorts, 'objects' | 'job'>,
  name: string,
): Promise<Base | undefined> {
  const bytes = await objects.read(name);
  return bytes === undefined ? undefined : decodeBase(bytes, name, { job });
}

/** Where the manifest of pending work will stand; undefined for a compaction, which has none. */
export function pendingManifestName(
  job: string,
  { kind, generation, number, label }: PendingWork,
): string | undefined {
  if (kind === 'compaction') return undefined;
  return kind === 'savepoint'
    ? manifestName(job, { kind, label })
    : manifestName(job, { kind, generation, number });
}
