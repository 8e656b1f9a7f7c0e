import { emptyRegistry, type ManifestReference, type Registry } from '../../core/registry.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import type { JobPorts } from '../job-ports.ts';
import {
  completionName,
  jobPrefix,
  manifestName,
  manifestsPrefix,
  parseObjectName,
} from '../object-names.ts';
import { findManifest } from './find-manifest.ts';
import { compareManifests } from './take-manifest.ts';

/**
 * R11: makes the registry of a job again whose tables were lost. S3 alone tells which manifests are complete (C4), and which
 * numbers have been given. A registry that is there stays.
 *
 * @param counting where the manifests that count stand: those that only some other store of `ports` has are not taken up
 */
export async function rebuildRegistry(
  ports: JobPorts,
  counting: ObjectStore = ports.objects,
): Promise<Registry> {
  const known = await ports.control.readRegistry(ports.job);
  if (known !== undefined) return known;
  const registry: Registry = {
    ...emptyRegistry,
    version: 1,
    complete: await findComplete(ports, counting),
    nextNumber: (await findHighestNumber(ports)) + 1,
  };
  await ports.control.writeRegistry(ports.job, registry);
  return (await ports.control.readRegistry(ports.job)) ?? registry;
}

/** The complete manifests that S3 has, oldest first. */
export async function findComplete(
  ports: JobPorts,
  counting: ObjectStore = ports.objects,
): Promise<ManifestReference[]> {
  const found: ManifestReference[] = [];
  for (const kind of ['checkpoint', 'savepoint', 'undo'] as const) {
    for await (const name of counting.list(manifestsPrefix(ports.job, kind))) {
      const identity = parseObjectName(ports.job, name);
      if (identity.kind !== 'completion') continue;
      const object = manifestName(ports.job, identity.manifest);
      const manifest = await findManifest(ports, object);
      if (manifest === undefined) {
        // Whoever came late has marked it when it had been collected: nothing lists it, and nothing of it counts.
        ports.telemetry.log('warn', 'a manifest that was complete is gone', { object });
        continue;
      }
      const { generation, number, label, totalBytes, isExact, writtenAtMs } = manifest;
      found.push({
        ...{ kind, generation, number, object, label, isExact },
        bytes: totalBytes,
        completedAtMs:
          (await readCompletion(ports, completionName(ports.job, identity.manifest))) ??
          writtenAtMs,
      });
    }
  }
  return found.sort(compareManifests);
}

async function readCompletion({ objects }: JobPorts, name: string): Promise<number | undefined> {
  const bytes = await objects.read(name);
  if (bytes === undefined) return undefined;
  try {
    const { completedAtMs } = JSON.parse(new TextDecoder().decode(bytes)) as {
      completedAtMs?: unknown;
    };
    return typeof completedAtMs === 'number' ? completedAtMs : undefined;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    // That it stands says that the manifest is complete; what is in it is for people.
    return undefined;
  }
}

/** The highest number that a manifest, a base or a compaction has: objects under it may stand. */
async function findHighestNumber({ objects, job }: JobPorts): Promise<number> {
  let highest = 0;
  for (const folder of ['checkpoints', 'undo', 'bases', 'compactions']) {
    for await (const name of objects.list(`${jobPrefix(job)}${folder}/`)) {
      const identity = parseObjectName(job, name);
      if ('number' in identity) highest = Math.max(highest, identity.number);
      if ('manifest' in identity && 'number' in identity.manifest) {
        highest = Math.max(highest, identity.manifest.number);
      }
    }
  }
  return highest;
}
