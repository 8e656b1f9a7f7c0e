import { channelId, type Channel } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Base, ChannelCut, Manifest } from '../../core/manifest.ts';
import { isExact, type Progress, type SegmentReference } from '../../core/progress.ts';
import type { AheadKey } from '../../core/segment.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import { segmentName } from '../object-names.ts';
import { readSegmentHeader } from '../read-segment-header.ts';

/** Requests at once. */
const requestsMax = 32;

/** Progress of a channel, as it was read. */
export interface ReadChannel {
  readonly channel: Channel;
  readonly progress: Progress;
}

export interface Cut {
  readonly channels: readonly ChannelCut[];
  readonly isExact: boolean;
}

/**
 * Reads the progress of every channel of a generation such that the set is closed under lineage (C2): with a channel all its
 * ancestors are in it, finished. Nothing is stopped for it: each progress is a recovery point by itself.
 */
export async function readProgressOfAll(
  { control, job }: Pick<JobPorts, 'control' | 'job'>,
  generation: number,
): Promise<ReadChannel[]> {
  const found = new Map<string, ReadChannel>();
  const read = async (channel: Channel): Promise<boolean> => {
    const progress = await control.readProgress(job, generation, channel);
    if (progress !== undefined) found.set(channelId(channel), { channel, progress });
    return progress !== undefined;
  };
  const channels = await control.listChannels(job, generation);
  const are = await inParallel(channels, requestsMax, read);
  const lost = channels.find((_, at) => are[at] === false);
  if (lost !== undefined) throw lostProgress(job, generation, lost);
  // A child is born after its parents are finished: who was read before that, or listed before it was there, says so now.
  const open = [...found.values()];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const shardId of one.progress.parentIds) {
      const parent = { ...one.channel, shardId };
      const id = channelId(parent);
      if (found.get(id)?.progress.isFinished === true) continue;
      // One that has no progress had left the stream before the job began.
      if (await read(parent)) open.push(found.get(id)!);
    }
  }
  assertClosed(found);
  return [...found.values()].sort((a, b) => (channelId(a.channel) < channelId(b.channel) ? -1 : 1));
}

function lostProgress(job: string, generation: number, channel: Channel): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `channel ${channelId(channel)} of job ${job} is listed in generation ${generation} but has no progress; items were removed by hand, restore from a checkpoint`,
  );
}

/** P9 makes it so; a cut that is not closed would restore a child beside records of its parent. */
function assertClosed(found: ReadonlyMap<string, ReadChannel>): void {
  for (const { channel, progress } of found.values()) {
    for (const shardId of progress.parentIds) {
      const parent = found.get(channelId({ ...channel, shardId }));
      if (parent === undefined || parent.progress.isFinished) continue;
      throw new HoldfastError(
        'internal',
        `channel ${channelId(channel)} has progress, but its parent ${shardId} is not finished`,
      );
    }
  }
}

/**
 * Adds to what was read the keys that are ahead and the segments that no run holds. The manifest before helps to find
 * them: only what was committed since then is looked for.
 */
export async function completeCut(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  read: readonly ReadChannel[],
  base: Base | undefined,
  before: Manifest | undefined,
): Promise<Cut> {
  const compacted = new Map(base?.compacted.map(({ channel, number }) => [channel, number]));
  const known = new Map(before?.channels.map((cut) => [channelId(cut.channel), cut]));
  const channels = await inParallel(read, requestsMax, async ({ channel, progress }) => {
    const id = channelId(channel);
    const segments = await findSegments(ports, id, progress, {
      after: compacted.get(id) ?? 0,
      known: before?.generation === progress.generation ? (known.get(id)?.segments ?? []) : [],
    });
    return { channel, progress, ahead: await readAhead(ports, id, progress), segments };
  });
  return { channels, isExact: read.every(({ progress }) => isExact(progress)) };
}

async function readAhead(
  { objects, job }: Pick<JobPorts, 'objects' | 'job'>,
  id: string,
  progress: Progress,
): Promise<readonly AheadKey[]> {
  // Inside a firing keys at the cut can be among them (P12).
  const hasNone = isExact(progress) && progress.firing === undefined;
  if (hasNone || progress.head === undefined) return [];
  const name = segmentName(job, progress.generation, id, progress.head);
  return (await readSegmentHeader(objects, name)).ahead;
}

/** C5: the committed segments of a channel, oldest first, behind number `after`. Each header names many of those before it. */
async function findSegments(
  { objects, job }: Pick<JobPorts, 'objects' | 'job'>,
  id: string,
  { generation, head }: Progress,
  { after, ...hint }: { readonly after: number; readonly known: readonly SegmentReference[] },
): Promise<readonly SegmentReference[]> {
  // A manifest with runs of its own may list none of those that the base does not hold.
  const known = (hint.known[0]?.number ?? Infinity) <= after + 1 ? hint.known : [];
  const found: SegmentReference[] = [];
  const last = known.at(-1)?.number ?? 0;
  let next = head;
  while (next !== undefined && next.number > Math.max(after, last)) {
    found.push(next);
    if (next.number - 1 <= Math.max(after, last)) break;
    const { chain } = await readSegmentHeader(objects, segmentName(job, generation, id, next));
    const earlier = chain.filter(({ number }) => number > Math.max(after, last));
    // The oldest that this header names has a header of its own, which names those before it.
    found.push(...earlier.slice(0, -1));
    next = earlier.at(-1);
  }
  const segments = [...known, ...found.reverse()].filter(({ number }) => number > after);
  assertUnbroken(id, segments, after, head);
  return segments;
}

function assertUnbroken(
  id: string,
  segments: readonly SegmentReference[],
  after: number,
  head: SegmentReference | undefined,
): void {
  const isWhole =
    segments.every(({ number }, at) => number === after + 1 + at) &&
    (segments.at(-1)?.number ?? after) === Math.max(head?.number ?? 0, after);
  if (isWhole) return;
  throw new HoldfastError(
    'corrupt',
    `channel ${id}: the segments ${segments.map(({ number }) => number).join(', ')} are not all from ${after + 1} to ${head?.number ?? 'none'}`,
  );
}
