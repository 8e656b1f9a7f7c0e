import { unpackEmissions } from '../../core/emission.ts';
import { channelId } from '../../core/channel.ts';
import { isPast, type Position } from '../../core/position.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import { parseObjectName, segmentName } from '../object-names.ts';
import { readSegmentHeader } from '../read-segment-header.ts';
import type { Place } from './classify-objects.ts';
import type { RootFacts } from './gather-garbage-facts.ts';

/** Spills that are read in one collection; more wait for the next one. */
const spillsMax = 500;

/** Requests at once; what a spill has in it is in memory. */
const requestsMax = 8;

/**
 * Finds the spills (P2) that nothing needs any more.
 *
 * Who can read a spill? Items name it, and are asked for those of its emissions that are past the progress of their channel; a
 * child's first unit leaves those of its parents alone. And segments that are still to be merged or published again name it:
 * those of units that began before its last emission, since from there on a unit writes the item without it (P3). So it is passed
 * once its last emission is at or before the place where the oldest segment that stays began, and that lies at or before progress.
 * (An attempt that read progress before may look for it in vain. It was overtaken before the oldest checkpoint was cut.)
 *
 * Its number does not tell. It says at which head the attempt began; how far that attempt ran is in no name, and its key may not
 * be touched until the cut has come there, many units later, though every cut between is exact. So the spill itself is read, once
 * in its life, before it goes.
 */
export async function findPassedSpills(
  ports: JobPorts,
  facts: RootFacts,
  listed: readonly string[],
): Promise<ReadonlySet<string>> {
  const passed = new Set<string>();
  if (facts.isUnclear) return passed;
  const spills = listed.flatMap((name) => {
    const identity = parseObjectName(ports.job, name);
    return identity.kind === 'spill' && identity.generation <= facts.present
      ? [{ ...identity, name }]
      : [];
  });
  const begins = new Map<string, Promise<Begin>>();
  const oldest = createFindOldest(facts);
  let reads = 0;
  await inParallel(
    spills,
    requestsMax,
    async ({ name, generation, channelId: channel, number }) => {
      const place = { generation, channelId: channel, number: oldest(generation, channel) };
      // Its attempt began no earlier than that segment, so that all it emitted lies behind.
      if (number >= place.number) return;
      const key = `${generation}/${channel}`;
      let begin = begins.get(key);
      if (begin === undefined) begins.set(key, (begin = findBegin(ports, facts, place)));
      const from = await begin;
      if (from === 'no-segment') passed.add(name);
      if (from === 'no-segment' || from === undefined || (reads += 1) > spillsMax) return;
      const bytes = await ports.objects.read(name);
      const last = bytes && unpackEmissions(bytes).at(-1);
      if (last !== undefined && !isPast(last.position, from)) passed.add(name);
    },
  );
  return passed;
}

/** Where the oldest segment that stays began; undefined for the start of the channel, where nothing is passed. */
type Begin = Position | 'no-segment' | undefined;

async function findBegin(ports: JobPorts, facts: RootFacts, oldest: Place): Promise<Begin> {
  const { generation, channelId: channel, number } = oldest;
  const progress = generation === facts.present ? facts.progress.get(channel) : undefined;
  if (progress !== undefined && number > (progress.head?.number ?? 0)) return progress.position;
  if (number === Number.POSITIVE_INFINITY) {
    return generation < facts.present ? 'no-segment' : undefined;
  }
  // All attempts at a number began at the same place.
  const reference = { number, attempt: '' };
  const prefix = segmentName(ports.job, generation, channel, reference).slice(0, -'.seg'.length);
  const first = await ports.objects.list(prefix)[Symbol.asyncIterator]().next();
  return first.done === true
    ? undefined
    : (await readSegmentHeader(ports.objects, first.value)).from;
}

/** The number of the first segment of a channel that stays; infinite where none does. */
function createFindOldest(facts: RootFacts): (generation: number, channel: string) => number {
  const listed = new Map<string, number>();
  for (const { generation, channels } of facts.listing) {
    for (const { channel, segments } of channels) {
      const key = `${generation}/${channelId(channel)}`;
      const first = segments[0]?.number ?? Number.POSITIVE_INFINITY;
      listed.set(key, Math.min(first, listed.get(key) ?? Number.POSITIVE_INFINITY));
    }
  }
  return (generation, channel) => {
    const needed = facts.findNeeded(generation, channel).map(({ after }) => after + 1);
    const first = listed.get(`${generation}/${channel}`) ?? Number.POSITIVE_INFINITY;
    return Math.min(first, ...needed);
  };
}
