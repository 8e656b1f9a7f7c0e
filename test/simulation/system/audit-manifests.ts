import { channelId } from '../../../shared/core/channel.ts';
import { decodeManifest } from '../../../shared/core/manifest-codec.ts';
import type { ChannelCut, Manifest } from '../../../shared/core/manifest.ts';
import { comparePositions, formatPosition, isPast } from '../../../shared/core/position.ts';
import {
  emptyRegistry,
  type ManifestReference,
  type Registry,
} from '../../../shared/core/registry.ts';
import { decodeRunFile } from '../../../shared/core/run-file.ts';
import { decodeSegment } from '../../../shared/core/segment.ts';
import type { StoredItem } from '../../../shared/core/stored-item.ts';
import { segmentName } from '../../../shared/runtime/object-names.ts';
import { auditPurse, historyOf } from '../engine/audit.ts';
import { tellStory, type Chapter } from '../engine/story.ts';
import type { Stores } from './stores.ts';

/*
 * What must hold of manifests: each restores to exactly its cut, from its files alone; and nothing that one lists goes while
 * it is retained, or read by somebody (C6, C7).
 */

/** When the registry has changed: what is complete from now on restores to its cut. */
export async function auditManifests(
  stores: Stores,
  before: Registry | undefined,
  next: Registry,
): Promise<string[]> {
  const known = new Set(before?.complete.map(({ object }) => object));
  const fresh = next.complete.filter(({ object }) => !known.has(object));
  const findings = await Promise.all(fresh.map((reference) => auditManifest(stores, reference)));
  return findings.flat();
}

/** When objects have gone: none of them was listed. */
export async function auditRemoval(stores: Stores, names: readonly string[]): Promise<string[]> {
  const { complete, pins } = (await stores.control.readRegistry(stores.job)) ?? emptyRegistry;
  const retained = new Set([...complete, ...pins].map(({ object }) => object));
  const findings: string[] = [];
  for (const object of retained) {
    const listed = listedBy(stores, object);
    for (const name of names) {
      if (listed.has(name)) findings.push(`${name} was deleted, which ${object} lists`);
    }
  }
  return findings;
}

/** At the end: all that is retained still restores to its cut. */
export async function auditRetained(stores: Stores): Promise<string[]> {
  const { complete } = (await stores.control.readRegistry(stores.job)) ?? emptyRegistry;
  const findings = await Promise.all(complete.map((reference) => auditManifest(stores, reference)));
  return findings.flat();
}

/** A manifest never changes: it is read once in a run. */
const manifests = new WeakMap<object, Map<string, Manifest>>();

export function findManifest({ objects, job }: Stores, object: string): Manifest | undefined {
  let known = manifests.get(objects);
  if (known === undefined) manifests.set(objects, (known = new Map<string, Manifest>()));
  const there = known.get(object);
  if (there !== undefined) return there;
  const bytes = objects.objects().get(object);
  if (bytes === undefined) return undefined;
  const manifest = decodeManifest(bytes, object, { job });
  known.set(object, manifest);
  return manifest;
}

function listedBy(stores: Stores, object: string): Set<string> {
  const manifest = findManifest(stores, object);
  if (manifest === undefined) return new Set([object]);
  const files = manifest.runs.flatMap((run) => run.files.map(({ name }) => name));
  return new Set([
    object,
    ...files,
    ...manifest.channels.flatMap((cut) => segmentsOf(manifest, cut)),
  ]);
}

function segmentsOf({ job, generation }: Manifest, { channel, segments }: ChannelCut): string[] {
  return segments.map((one) => segmentName(job, generation, channelId(channel), one));
}

async function auditManifest(stores: Stores, reference: ManifestReference): Promise<string[]> {
  const where = `${reference.kind} ${reference.number} of generation ${reference.generation}`;
  const manifest = findManifest(stores, reference.object);
  if (manifest === undefined) return [`${where} is complete and has no manifest`];
  const folded = fold(stores, manifest);
  if (folded.missing.length > 0) return [`${where} lists ${folded.missing[0]}, which is not there`];
  const findings: string[] = [];
  if (manifest.kind === 'savepoint' && !manifest.isExact) findings.push(`${where} is not exact`);
  const cuts = new Map(manifest.channels.map((cut) => [cut.channel.shardId, cut]));
  for (const [key, chapters] of tellStory(stores.stream, stores.entries)) {
    const item = folded.items.get(key);
    const covered = chapters.filter((chapter) => isCovered(chapter, cuts.get(chapter.shardId)));
    if (item === undefined) {
      // Of a deleted key nothing has to be left.
      if (covered.at(-1)?.history !== undefined) findings.push(`${where} lacks ${key}`);
      continue;
    }
    findings.push(...auditPurse(stores.operator, where, item));
    const isAhead = chapters.some(
      (chapter) => !covered.includes(chapter) && !isPast(chapter.position, item.position),
    );
    if (isAhead && !isSaid(manifest, key)) {
      findings.push(`${where} has ${key} at ${formatPosition(item.position)}, past its cut`);
      continue;
    }
    const upTo = isAhead
      ? chapters.filter(({ position }) => !isPast(position, item.position))
      : covered;
    const expected = upTo.at(-1)?.history;
    const actual = historyOf(stores, item);
    if (actual === expected) continue;
    findings.push(`${where} restores ${key} to ${actual}, expected ${expected}`);
  }
  return findings;
}

function isCovered({ position }: Chapter, cut: ChannelCut | undefined): boolean {
  return cut?.progress.position !== undefined && !isPast(position, cut.progress.position);
}

/** P4: a key that is past the cut is named. */
function isSaid({ isExact, channels }: Manifest, key: string): boolean {
  return !isExact && channels.some(({ ahead }) => ahead.some((one) => one.key === key));
}

/** The newest item of each key in the files that a manifest lists (C6). */
function fold(
  { objects }: Stores,
  manifest: Manifest,
): { readonly items: ReadonlyMap<string, StoredItem>; readonly missing: readonly string[] } {
  const newest = new Map<string, { readonly generation: number; readonly item: StoredItem }>();
  const missing: string[] = [];
  const take = (generation: number, item: StoredItem): void => {
    const known = newest.get(item.key);
    const isNewer =
      known === undefined ||
      generation > known.generation ||
      (generation === known.generation && comparePositions(item.position, known.item.position) > 0);
    if (isNewer) newest.set(item.key, { generation, item });
  };
  const read = (name: string): Uint8Array | undefined => {
    const bytes = objects.objects().get(name);
    if (bytes === undefined) missing.push(name);
    return bytes;
  };
  for (const { name } of manifest.runs.flatMap(({ files }) => files)) {
    const bytes = read(name);
    if (bytes === undefined) continue;
    for (const { generation, item } of decodeRunFile(bytes, name).entries) take(generation, item);
  }
  for (const name of manifest.channels.flatMap((cut) => segmentsOf(manifest, cut))) {
    const bytes = read(name);
    if (bytes === undefined) continue;
    for (const item of decodeSegment(bytes, name).items) take(manifest.generation, item);
  }
  const items = new Map([...newest].map(([key, { item }]) => [key, item]));
  return { items, missing };
}
