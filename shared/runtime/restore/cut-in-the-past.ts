import { channelId, type Channel } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Base, ChannelCut, Manifest } from '../../core/manifest.ts';
import { compareSteps, compareTexts, endOfFiring, type Position } from '../../core/position.ts';
import { isExact, type Progress, type SegmentReference } from '../../core/progress.ts';
import type { SegmentHeader } from '../../core/segment.ts';
import { timerTimeMax } from '../../core/timer.ts';
import { inheritFloors, type Watermarks } from '../../core/watermark.ts';
import type { ManifestFacts } from '../checkpoint/manifest-facts.ts';
import type { PendingWork } from '../../core/registry.ts';
import { readRegistry } from '../checkpoint/change-registry.ts';
import { completeCut, readProgressOfAll } from '../checkpoint/read-cut.ts';
import {
  completeManifest,
  countBytes,
  createManifest,
  manifestOf,
  readManifest,
  dropPending,
  registerPending,
} from '../checkpoint/take-manifest.ts';
import type { JobPorts } from '../job-ports.ts';
import { segmentName } from '../object-names.ts';
import { readSegmentHeader } from '../read-segment-header.ts';
import { readJob } from './hold.ts';

/*
 * R15, point in time: every unit that the changelog still holds is a recovery point, not checkpoints alone. For a place in the
 * past each channel is cut behind its last exact unit that does not go beyond it: all of whose records had arrived by a moment,
 * or that ends at or before a record. What comes of it is a manifest like any other, and is restored like any other; the
 * replay always runs on to where the job stands.
 */

/** It is made at once; whoever finds it older than this takes it away, ms. */
const timeoutMs = 10 * 60 * 1000;

/** Where the past is cut. */
interface PastPlace {
  /** Names its manifest. */
  readonly label: string;
  /** For people. */
  readonly text: string;
  /** True where what a channel has come to does not go beyond it. Along a channel it is true up to some unit, then false. */
  readonly isWithin: (channel: Channel, reached: Reached) => boolean;
  /** When the cut was, where that is known before, ms since the epoch. */
  readonly timeMs?: number;
}

/** How far a channel has come: with its progress, or with one of its units. */
interface Reached {
  readonly position: Position | undefined;
  readonly watermarks: Watermarks;
}

/**
 * Writes the manifest of a past moment of the job's present generation.
 *
 * @param timeMs the moment, in arrival time of the records, ms since the epoch
 * @returns object name of the manifest
 * @throws HoldfastError `invalid` where no retained manifest lies before the moment: the segments between are only kept
 *   from the oldest one on
 */
export function cutAtTime(ports: JobPorts, timeMs: number, facts: ManifestFacts): Promise<string> {
  const moment = new Date(timeMs).toISOString();
  const isWithin = (_: Channel, { watermarks }: Reached): boolean =>
    (watermarks.arrival ?? -Infinity) <= timeMs;
  return cutAt(ports, { label: `time:${moment}`, text: moment, isWithin, timeMs }, facts);
}

/** Labels are kept in the registry. */
const labelCharactersMax = 200;

/**
 * Writes the manifest of the job's present generation at given records. Shards that are not named are cut at their newest exact
 * unit; so are the children of one that is, unless it is thereby cut before its end: then they are not begun yet (C2).
 *
 * @param sequences shard id → sequence number of the last record that may be in
 * @returns object name of the manifest
 * @throws HoldfastError `invalid` for shards that the job has not read in this generation, and where no retained manifest lies
 *   at or before all of the records
 */
export async function cutAtPositions(
  ports: JobPorts,
  sequences: ReadonlyMap<string, string>,
  facts: ManifestFacts,
): Promise<string> {
  await refuseUnknown(ports, sequences);
  const isWithin = ({ shardId }: Channel, { position }: Reached): boolean => {
    const sequence = sequences.get(shardId);
    if (sequence === undefined || position === undefined) return true;
    return BigInt(position.sequence) <= BigInt(sequence);
  };
  const text = [...sequences].map(([shardId, sequence]) => `${shardId}=${sequence}`).join(', ');
  const label = `position:${text}`.slice(0, labelCharactersMax);
  return cutAt(ports, { label, text, isWithin }, facts);
}

async function refuseUnknown(
  ports: JobPorts,
  sequences: ReadonlyMap<string, string>,
): Promise<void> {
  const { generation } = await readJob(ports);
  const channels = await ports.control.listChannels(ports.job, generation);
  const known = new Set(channels.map(({ shardId }) => shardId));
  const unknown = [...sequences.keys()].filter((shardId) => !known.has(shardId));
  if (unknown.length === 0) return;
  throw new HoldfastError(
    'invalid',
    `job ${ports.job} has not read ${unknown.join(', ')} in generation ${generation}; it has read ${[...known].sort(compareTexts).join(', ') || 'nothing'}`,
  );
}

async function cutAt(ports: JobPorts, place: PastPlace, facts: ManifestFacts): Promise<string> {
  const { generation } = await readJob(ports);
  // C7: before anything is read, so that nothing of it goes.
  const pending = await registerPending(ports, {
    ...{ kind: 'checkpoint', generation, timeoutMs },
    label: place.label,
  });
  try {
    return await cutFor(ports, pending, place, facts);
  } catch (thrown) {
    await dropPending(ports, pending.id);
    throw thrown;
  }
}

async function cutFor(
  ports: JobPorts,
  pending: PendingWork,
  place: PastPlace,
  facts: ManifestFacts,
): Promise<string> {
  const { generation } = pending;
  const start = await findStart(ports, generation, place);
  const read = await readProgressOfAll(ports, generation);
  const { channels } = await completeCut(ports, read, baseOf(start), start);
  const cut: ChannelCut[] = [];
  for (const channel of channels) {
    const past = await cutChannel(ports, channel, start, place);
    if (past !== undefined) cut.push(past);
  }
  const closed = closeCut(cut, new Set(channels.map(({ channel }) => channelId(channel))));
  const manifest = await createManifest(ports, manifestOf(ports.job, pending), {
    ...start,
    ...facts,
    kind: 'checkpoint',
    number: pending.number,
    label: pending.label,
    channels: closed,
    isExact: true,
    triggeredAtMs: pending.sinceMs,
    readAtMs: place.timeMs ?? findLastArrival(closed) ?? pending.sinceMs,
    writtenAtMs: ports.system.now(),
    newBytes: 0,
    totalBytes: countBytes({ ...start, channels: closed }),
  });
  const complete = await completeManifest(ports, pending, manifest);
  if (complete !== undefined) return complete.object;
  throw new HoldfastError(
    'conflict',
    `the manifest of ${place.text} was taken away before it was complete; try again`,
  );
}

function findLastArrival(cut: readonly ChannelCut[]): number | undefined {
  const times = cut.flatMap(({ progress }) => progress.watermarks.arrival ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** The newest exact manifest of the generation that goes nowhere beyond a place. */
async function findStart(
  ports: JobPorts,
  generation: number,
  { isWithin, text }: PastPlace,
): Promise<Manifest> {
  const { complete } = await readRegistry(ports);
  const candidates = complete.filter((one) => one.generation === generation && one.isExact);
  for (const { object } of candidates.toReversed()) {
    const manifest = await readManifest(ports, object);
    if (manifest.channels.every(({ channel, progress }) => isWithin(channel, progress)))
      return manifest;
  }
  throw new HoldfastError(
    'invalid',
    `job ${ports.job} has no exact manifest of generation ${generation} from before ${text}; the oldest one is the earliest that it can be restored to: holdfast checkpoint list`,
  );
}

/** As if the manifest's runs were the newest base. */
function baseOf(manifest: Manifest): Base {
  return {
    job: manifest.job,
    generation: manifest.generation,
    runs: manifest.runs,
    compacted: manifest.channels.map(({ channel, progress, segments }) => ({
      channel: channelId(channel),
      number: (segments[0]?.number ?? (progress.head?.number ?? 0) + 1) - 1,
    })),
  };
}

/** A channel behind its last exact unit within a place; undefined where it had none yet. */
async function cutChannel(
  ports: JobPorts,
  { channel, progress, segments }: ChannelCut,
  start: Manifest,
  { isWithin }: PastPlace,
): Promise<ChannelCut | undefined> {
  const id = channelId(channel);
  const before = start.channels.find((one) => channelId(one.channel) === id);
  const known = before?.progress.head?.number ?? 0;
  const headerOf = (reference: SegmentReference): Promise<SegmentHeader> =>
    readSegmentHeader(ports.objects, segmentName(ports.job, start.generation, id, reference));
  const later = segments.filter(({ number }) => number > known);
  // Positions and arrival times only go up along a channel: the last unit is found by halves.
  let low = 0;
  let high = later.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { to: position, watermarks } = await headerOf(later[middle]!);
    if (isWithin(channel, { position, watermarks })) low = middle + 1;
    else high = middle;
  }
  for (let at = low - 1; at >= 0; at -= 1) {
    const header = await headerOf(later[at]!);
    if (header.ahead.length > 0) continue;
    const head = later[at]!;
    // Nothing else can tell that the shard ended there.
    const isLast = head.number === progress.head?.number && isExact(progress);
    if (isLast) return { channel, progress, ahead: [], segments };
    const kept = segments.filter(({ number }) => number <= head.number);
    return { channel, progress: rewind(progress, header, head), ahead: [], segments: kept };
  }
  return before;
}

/** The progress of a channel as it was behind an earlier unit, as far as it matters. */
function rewind(
  progress: Progress,
  { to, watermarks }: SegmentHeader,
  head: SegmentReference,
): Progress {
  return {
    ...progress,
    position: to,
    head,
    aheadMax: undefined,
    isFinished: false,
    watermarks,
    checkedAtMs: watermarks.arrival ?? 0,
    firing: firingAt(to),
    // Not known of the past: before all timers that there may be.
    earliest: { event: -timerTimeMax, arrival: -timerTimeMax },
  };
}

/** What is left to fire is told by the timers that the state has; a cursor that is too early does no harm. */
function firingAt({ step }: Position): Progress['firing'] {
  if (step === undefined) return 'none';
  return compareSteps(step, endOfFiring) === 0 ? undefined : step;
}

/**
 * C2: what is begun behind an ancestor that is not read to its end, as of that moment, is not begun yet. A channel that had no unit
 * by then is in no cut, and stands between its parents and its children all the same. Children take over the watermarks that
 * their parents have in this cut.
 *
 * @param known ids of all channels of the generation
 */
function closeCut(cut: readonly ChannelCut[], known: ReadonlySet<string>): ChannelCut[] {
  let closed = [...cut];
  for (;;) {
    const all = new Map(closed.map((one) => [channelId(one.channel), one]));
    const parentsOf = ({ channel, progress }: ChannelCut): ChannelCut[] =>
      progress.parentIds.flatMap((shardId) => all.get(channelId({ ...channel, shardId })) ?? []);
    const isOpen = (id: string): boolean =>
      known.has(id) && all.get(id)?.progress.isFinished !== true;
    const next = closed.filter(({ channel, progress }) =>
      progress.parentIds.every((shardId) => !isOpen(channelId({ ...channel, shardId }))),
    );
    if (next.length === closed.length) {
      return closed.map((one) => {
        const floors = parentsOf(one).flatMap(({ progress }) =>
          inheritFloors(one.progress.range, progress),
        );
        return { ...one, progress: { ...one.progress, floors } };
      });
    }
    closed = next;
  }
}
