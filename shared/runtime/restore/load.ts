import { channelId, identifyKey } from '../../core/channel.ts';
import {
  emissionsPast,
  packEmissions,
  unpackEmissions,
  type Emission,
} from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import { findOwner } from '../../core/key-cuts.ts';
import type { ChannelCut, Manifest, StateFile } from '../../core/manifest.ts';
import { pack, unpack } from '../../core/pack.ts';
import { crc32c } from '../../core/crc32c.ts';
import { isExact, type Progress } from '../../core/progress.ts';
import type { Reservation } from '../../core/reservation.ts';
import { decodeRunFile, type RunEntry } from '../../core/run-file.ts';
import { encodeSegment } from '../../core/segment.ts';
import type { StoredItem } from '../../core/stored-item.ts';
import type { Hint, HintStore } from '../../ports/hint-store.ts';
import type { StateScope, StateStore } from '../../ports/state-store.ts';
import { mustSpill, type SpillObject } from '../build-item.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import { segmentName, spillName } from '../object-names.ts';

/*
 * R5: the state of a manifest is loaded into a reserved generation. Everything is only ever created, and always the same: a
 * loader that dies is started again, and a late twin of it finds its work done.
 */

/** Where a generation's state goes. */
export interface LoadPorts extends JobPorts {
  readonly state: StateStore;
  readonly hints: HintStore;
}

export interface LoadedFile {
  readonly keys: number;
  readonly tombstones: number;
  readonly bytes: number;
}

/** Items of one request round. */
const itemsAtOnce = 500;

/** Channels whose progress is created at once. */
const channelsAtOnce = 16;

/** Loads one run file of the generation's base. */
export async function loadFile(
  ports: LoadPorts,
  reservation: Reservation,
  manifest: Manifest,
  file: StateFile,
): Promise<LoadedFile> {
  const { operator } = file;
  if (isGone(reservation, operator)) return { keys: 0, tombstones: 0, bytes: 0 };
  const scope: StateScope = { job: ports.job, generation: reservation.generation, operator };
  const loaded = (await readStateFile(ports, file)).map((entry) =>
    makeLoaded(reservation, manifest, file, entry),
  );
  for (let at = 0; at < loaded.length; at += itemsAtOnce) {
    const some = loaded.slice(at, at + itemsAtOnce);
    for (const { spill } of some) {
      if (spill !== undefined) await ports.objects.create(spill.name, spill.bytes);
    }
    // One that is there already is what an earlier attempt of this very load has written.
    await ports.state.write(
      scope,
      some.map(({ item }) => ({ item, expectedVersion: undefined })),
    );
    await ports.hints.insert(
      scope,
      some.flatMap(({ item }) => hintsOf(item)),
    );
  }
  return { keys: file.keys, tombstones: file.tombstones, bytes: file.bytes };
}

/**
 * Creates the progress of every channel, fenced by the hold (R5). Each begins its chain of segments with one that holds no
 * items and names the keys that are ahead (P4).
 */
export async function loadChannels(
  ports: LoadPorts,
  reservation: Reservation,
  manifest: Manifest,
  holdId: string,
): Promise<void> {
  const channels = manifest.channels.filter(
    ({ channel }) => !isGone(reservation, channel.operator),
  );
  await inParallel(channels, channelsAtOnce, async (cut) => {
    const progress = await plantProgress(ports, reservation.generation, cut, holdId);
    await ports.control.createProgress(ports.job, cut.channel, progress);
  });
}

/** The same for every loader: a twin's object is this one to the byte. */
const seedAttempt = 'seed';

async function plantProgress(
  ports: LoadPorts,
  generation: number,
  { channel, progress, ahead }: ChannelCut,
  holdId: string,
): Promise<Progress> {
  const planted: Progress = {
    ...progress,
    generation,
    version: 1,
    attempt: seedAttempt,
    head: undefined,
    // Another generation may tell time otherwise (P11).
    timeRules: undefined,
    fence: holdId,
  };
  if (progress.position === undefined) return planted;
  const id = channelId(channel);
  const bytes = encodeSegment({
    header: {
      channel: id,
      generation,
      number: 1,
      attempt: seedAttempt,
      from: undefined,
      to: progress.position,
      chain: [],
      ahead,
      watermarks: progress.watermarks,
      entries: 0,
    },
    items: [],
  });
  const head = { number: 1, attempt: seedAttempt, bytes: bytes.length, crc: crc32c(bytes) };
  await ports.objects.create(segmentName(ports.job, generation, id, head), bytes);
  return { ...planted, head };
}

/** A run file whose bytes are those that the manifest promises. */
export async function readStateFile(
  { objects }: Pick<JobPorts, 'objects'>,
  file: StateFile,
): Promise<readonly RunEntry[]> {
  const bytes = await objects.read(file.name);
  if (bytes === undefined) {
    throw new HoldfastError('corrupt', `state file ${file.name} is not in the bucket`);
  }
  if (bytes.length !== file.bytes || crc32c(bytes) !== file.crc) {
    throw new HoldfastError(
      'corrupt',
      `state file ${file.name} has ${bytes.length} bytes and not the checksum that its manifest promises for ${file.bytes}`,
    );
  }
  return decodeRunFile(bytes, file.name).entries;
}

/** True for an operator that the manifest has and the generation has not. */
export function isGone({ dropped }: Reservation, operator: string): boolean {
  return dropped.some((one) => one.operator === operator && one.state === undefined);
}

/** The item that a key begins the generation with, and the object that has to stand before it (P2). */
export interface LoadedItem {
  readonly item: StoredItem;
  readonly spill: SpillObject | undefined;
}

/** The same for every loader, to the byte. */
export function makeLoaded(
  reservation: Reservation,
  manifest: Manifest,
  file: StateFile,
  entry: RunEntry,
): LoadedItem {
  const { states, ...rest } = entry.item;
  const kept = keepStates(reservation, file, states);
  const bare = { ...rest, states: kept, emissions: undefined, spills: [] };
  const pending = findPending(manifest, file, entry.item);
  if (pending === undefined) return { item: bare, spill: undefined };
  const { emissions, channel } = pending;
  const packed = packEmissions(emissions);
  const item = { ...bare, emissions: packed };
  if (!mustSpill(item, packed)) return { item, spill: undefined };
  const { hash } = identifyKey(item.key);
  const { job, generation } = reservation;
  const name = spillName(job, generation, channel, { number: 1, id: `${seedAttempt}-${hash}` });
  const last = emissions[emissions.length - 1]!.position;
  const spills = [{ name, bytes: packed.length, crc: crc32c(packed), last }];
  return { item: { ...bare, spills }, spill: { name, bytes: packed } };
}

function keepStates(
  { dropped }: Reservation,
  { operator }: StateFile,
  states: Uint8Array | undefined,
): Uint8Array | undefined {
  if (states === undefined || !dropped.some((one) => one.operator === operator)) return states;
  const kept = Object.entries(unpack(states) as Record<string, unknown>).filter(
    ([name]) => !dropped.some((one) => one.operator === operator && one.state === name),
  );
  return kept.length === 0 ? undefined : pack(Object.fromEntries(kept));
}

/** P2: what is past the cut was not published by it. What lies before is in the sinks, and is no item's business any more. */
function findPending(
  manifest: Manifest,
  { operator }: StateFile,
  { key, emissions }: StoredItem,
): { readonly emissions: readonly Emission[]; readonly channel: string } | undefined {
  if (emissions === undefined || manifest.isExact) return undefined;
  const owner = findOwner(manifest.channels, operator, key);
  if (owner === undefined || isExact(owner.progress)) return undefined;
  const pending = emissionsPast(unpackEmissions(emissions), owner.progress.position);
  return pending.length === 0
    ? undefined
    : { emissions: pending, channel: channelId(owner.channel) };
}

/** Where the timers of an item are found (P12). */
export function hintsOf({ key, timers }: StoredItem): Hint[] {
  if (timers.length === 0) return [];
  const { hash: keyHash } = identifyKey(key);
  return timers.map(({ domain, time }) => ({ domain, time, key, keyHash }));
}
