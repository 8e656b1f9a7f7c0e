import type { ManifestReference } from '../../../shared/core/registry.ts';
import { manifestName, parseObjectName } from '../../../shared/runtime/object-names.ts';
import { findManifest } from './audit-manifests.ts';
import type { Stores } from './stores.ts';

export type LeftManifest = Pick<ManifestReference, 'object' | 'kind' | 'generation' | 'number'>;

/** What a job can begin with that has nothing but its bucket: the manifests that it calls complete, oldest first (C4). */
export function listLeft(stores: Stores): LeftManifest[] {
  const { job, objects } = stores;
  const left = [...objects.objects().keys()].flatMap((name): LeftManifest[] => {
    const identity = parseObjectName(job, name);
    if (identity.kind !== 'completion') return [];
    const object = manifestName(job, identity.manifest);
    const manifest = findManifest(stores, object);
    if (manifest === undefined) return [];
    const { kind, generation, number } = manifest;
    return [{ object, kind, generation, number }];
  });
  return left.sort((a, b) => a.generation - b.generation || a.number - b.number);
}
