import type { ManifestReference } from '../../core/registry.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { JobPorts } from '../job-ports.ts';
import { completionName } from '../object-names.ts';

/**
 * Copies a complete manifest and its completion object to a second place, under the same names; the files that it lists stay
 * where they are. The completion object comes last, so that there, too, it tells whole copies from begun ones. It can be called
 * again: what stands is left alone.
 */
export async function backUpManifest(
  { objects, job }: Pick<JobPorts, 'objects' | 'job'>,
  backup: ObjectStore,
  reference: ManifestReference,
): Promise<void> {
  const completion = completionName(job, reference);
  if ((await backup.readStart(completion, 1)) !== undefined) return;
  for (const name of [reference.object, completion]) {
    const bytes = await objects.read(name);
    // Retired meanwhile, or its completion object is still to come: the next look finds out.
    if (bytes === undefined) return;
    await backup.create(name, bytes);
  }
}
