import { createHash } from 'node:crypto';
import { channelId, type Channel } from '../../shared/core/channel.ts';
import { packEmissions } from '../../shared/core/emission.ts';
import { hashKey, keyGroupOf } from '../../shared/core/key-group.ts';
import type { ChannelCut, Manifest, SortedRun, StateFile } from '../../shared/core/manifest.ts';
import { encodeManifest } from '../../shared/core/manifest-codec.ts';
import { pack } from '../../shared/core/pack.ts';
import { crc32c } from '../../shared/core/crc32c.ts';
import { compareTexts, type Position } from '../../shared/core/position.ts';
import type { SegmentReference } from '../../shared/core/progress.ts';
import { encodeRunFile } from '../../shared/core/run-file.ts';
import { chainReferencesMax, encodeSegment } from '../../shared/core/segment.ts';
import { describeRunFile } from '../../shared/core/state-file.ts';
import { itemBytes, type StoredItem } from '../../shared/core/stored-item.ts';
import { noWatermarks } from '../../shared/core/watermark.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import { manifestName, runFileName, segmentName } from '../../shared/runtime/object-names.ts';

/*
 * The state of a job that has run for long, as its files: an old run with every key, younger runs with some of them anew,
 * and segments with what came last. Files are written one by one, so that a state may be larger than memory; they are the
 * same for the same shape.
 */

export interface LargeStateShape {
  readonly keys: number;
  /** Of each key's state. */
  readonly stateBytes: number;
  /** What part of the keys each run has, oldest first; the first one has all. */
  readonly runShares: readonly number[];
  /** Segments of each shard. */
  readonly segments: number;
  readonly keysOfSegment: number;
}

export interface LargeState {
  readonly manifest: Manifest;
  /** Of each key once: keys, states and emissions before compression, bytes. */
  readonly stateBytes: number;
  /** Entries of all files, and their bytes before compression. */
  readonly entries: number;
  readonly entryBytes: number;
  /** Bytes of all files. */
  readonly fileBytes: number;
}

export const benchJob = 'bench';
export const benchOperator = 'counts';
export const keyGroups = 128;

const shards = 4;
const groupsOfShard = keyGroups / shards;

/** Files of a run end behind the entry with which they reach this size, as those of a compaction do. */
const fileBytesMax = 16 * 1024 * 1024;

/** The number of the checkpoint; those of the compactions that made the runs lie below. */
const checkpointNumber = 100;

/** The manifest's object. */
export const largeManifestName = manifestName(benchJob, {
  kind: 'checkpoint',
  generation: 1,
  number: checkpointNumber,
});

/** Writes a state into a store. */
export async function writeLargeState(
  objects: ObjectStore,
  shape: LargeStateShape,
): Promise<LargeState> {
  const groups = groupKeys(shape.keys);
  const total = { stateBytes: 0, entries: 0, entryBytes: 0, fileBytes: 0 };
  const runs: SortedRun[] = [];
  for (const [at, share] of shape.runShares.entries()) {
    const age = shape.runShares.length - at;
    const run = await writeRun(objects, shape, { groups, share, age });
    runs.push({ files: run.files });
    addTo(total, run);
    if (at === 0) total.stateBytes = run.entryBytes;
  }
  const channels: ChannelCut[] = [];
  for (let shard = 0; shard < shards; shard += 1) {
    const own = groups.slice(shard * groupsOfShard, (shard + 1) * groupsOfShard);
    const { cut, ...written } = await writeSegments(objects, shape, shard, own);
    channels.push(cut);
    addTo(total, written);
  }
  const manifest = makeManifest(shape, runs, channels, total.fileBytes);
  await objects.create(largeManifestName, encodeManifest(manifest));
  return { manifest, ...total };
}

type Written = Pick<LargeState, 'entries' | 'entryBytes' | 'fileBytes'>;

function addTo(total: { -readonly [Name in keyof Written]: number }, written: Written): void {
  total.entries += written.entries;
  total.entryBytes += written.entryBytes;
  total.fileBytes += written.fileBytes;
}

/** The keys of each key group, in order. */
function groupKeys(keys: number): readonly (readonly string[])[] {
  const groups = Array.from({ length: keyGroups }, (): string[] => []);
  for (let at = 0; at < keys; at += 1) {
    const key = `customer-${String(at).padStart(8, '0')}`;
    groups[keyGroupOf(hashKey(key), keyGroups)]!.push(key);
  }
  for (const group of groups) group.sort(compareTexts);
  return groups;
}

async function writeRun(
  objects: ObjectStore,
  shape: LargeStateShape,
  {
    groups,
    share,
    age,
  }: {
    readonly groups: readonly (readonly string[])[];
    readonly share: number;
    readonly age: number;
  },
): Promise<Written & { readonly files: readonly StateFile[] }> {
  const files: StateFile[] = [];
  const written = { entries: 0, entryBytes: 0, fileBytes: 0 };
  let items: StoredItem[] = [];
  let bytes = 0;
  const put = async (isLast: boolean): Promise<void> => {
    const origin = { job: benchJob, operator: benchOperator, isLast };
    const entries = items.map((item) => ({ generation: 1, item }));
    const encoded = encodeRunFile(origin, entries).bytes;
    const name = runFileName(benchJob, checkpointNumber - age, files.length + 1);
    await objects.create(name, encoded);
    const { file } = describeRunFile(encoded, name);
    files.push(file);
    addTo(written, { entries: items.length, entryBytes: countBytes(items), fileBytes: file.bytes });
    items = [];
    bytes = 0;
  };
  const stride = Math.round(1 / share);
  for (const [keyGroup, keys] of groups.entries()) {
    for (let at = 0; at < keys.length; at += stride) {
      if (bytes >= fileBytesMax) await put(false);
      const item = makeItem(shape, { keyGroup, key: keys[at]! }, -age);
      items.push(item);
      bytes += itemBytes(item);
    }
  }
  await put(true);
  return { ...written, files };
}

async function writeSegments(
  objects: ObjectStore,
  shape: LargeStateShape,
  shard: number,
  groups: readonly (readonly string[])[],
): Promise<Written & { readonly cut: ChannelCut }> {
  const channel = channelOf(shard);
  const places = groups.flatMap((keys, at) =>
    keys.map((key) => ({ keyGroup: shard * groupsOfShard + at, key })),
  );
  const stride = Math.max(1, Math.floor(places.length / shape.keysOfSegment));
  const segments: SegmentReference[] = [];
  const written = { entries: 0, entryBytes: 0, fileBytes: 0 };
  for (let number = 1; number <= shape.segments; number += 1) {
    const items = places
      .filter((_, at) => at % stride === number % stride)
      .map((place) => makeItem(shape, place, number));
    const attempt = `attempt-${number}`;
    const bytes = encodeSegment({
      header: {
        channel: channelId(channel),
        generation: 1,
        number,
        attempt,
        from: positionAt(number - 1),
        to: positionAt(number),
        chain: segments.slice(-chainReferencesMax).reverse(),
        ahead: [],
        watermarks: noWatermarks,
        entries: items.length,
      },
      items,
    });
    const reference = { number, attempt, bytes: bytes.length, crc: crc32c(bytes) };
    await objects.create(segmentName(benchJob, 1, channelId(channel), reference), bytes);
    segments.push(reference);
    addTo(written, {
      entries: items.length,
      entryBytes: countBytes(items),
      fileBytes: bytes.length,
    });
  }
  return { ...written, cut: makeCut(channel, shard, segments) };
}

/** Half of a state are hex digits, which zstd makes half as long, as it does with most that people store. */
function makeItem(
  { stateBytes }: LargeStateShape,
  place: { readonly keyGroup: number; readonly key: string },
  unit: number,
): StoredItem {
  const digits = createHash('shake256', { outputLength: stateBytes >> 1 })
    .update(`${place.key}/${unit}`)
    .digest('hex');
  const position = positionAt(unit);
  const total = Number.parseInt(digits.slice(0, 6), 16);
  // The last row of a view is kept with the key (R10).
  const row = { position, index: 0, sink: 'totals', row: '-', value: { total } };
  return {
    ...place,
    version: 1000 + unit,
    position,
    arrivalMs: startMs + unit * 1000,
    states: pack({ total, notes: digits }),
    emissions: packEmissions([row]),
    spills: [],
    timers: [],
  };
}

function countBytes(items: readonly StoredItem[]): number {
  return items.reduce(
    (sum, { key, states, emissions }) =>
      sum + key.length + (states?.length ?? 0) + (emissions?.length ?? 0),
    0,
  );
}

const startMs = Date.UTC(2025, 0, 1);

/** The position of the last record of a unit; those of the runs lie before unit 0. */
function positionAt(unit: number): Position {
  return { sequence: (49n * 10n ** 54n + 1000n * BigInt(unit + 1000)).toString(), sub: 0 };
}

function channelOf(shard: number): Channel {
  const stream = { name: 'events', createdAtMs: startMs };
  return {
    operator: benchOperator,
    stream,
    shardId: `shardId-${String(shard).padStart(12, '0')}`,
  };
}

function makeCut(
  channel: Channel,
  shard: number,
  segments: readonly SegmentReference[],
): ChannelCut {
  const size = (1n << 128n) / BigInt(shards);
  const hash = (value: bigint): string => value.toString(16).padStart(32, '0');
  const from = BigInt(shard) * size;
  const head = segments.at(-1);
  return {
    channel,
    ahead: [],
    segments,
    progress: {
      generation: 1,
      version: 1 + segments.length,
      position: positionAt(segments.length),
      attempt: head?.attempt ?? 'none',
      head,
      aheadMax: undefined,
      isFinished: false,
      range: { from: hash(from), to: hash(from + size - 1n) },
      parentIds: [],
      committedAtMs: startMs,
      checkedAtMs: startMs,
      watermarks: noWatermarks,
      floors: [],
      firing: undefined,
      earliest: { event: undefined, arrival: undefined },
      timeRules: undefined,
      fence: undefined,
    },
  };
}

function makeManifest(
  { keys }: LargeStateShape,
  runs: readonly SortedRun[],
  channels: readonly ChannelCut[],
  totalBytes: number,
): Manifest {
  return {
    job: benchJob,
    kind: 'checkpoint',
    generation: 1,
    number: checkpointNumber,
    label: '',
    note: '',
    maxParallelism: keyGroups,
    operators: [
      {
        id: benchOperator,
        states: [
          { name: 'total', kind: 'value', version: 1 },
          { name: 'notes', kind: 'value', version: 1 },
        ],
        sinks: [{ name: 'totals', kind: 'upsert' }],
        timeRules: '',
      },
    ],
    channels,
    runs,
    isExact: true,
    tags: {},
    triggeredAtMs: startMs,
    readAtMs: startMs,
    writtenAtMs: startMs,
    newBytes: totalBytes,
    totalBytes,
    keysInRuns: keys,
  };
}
