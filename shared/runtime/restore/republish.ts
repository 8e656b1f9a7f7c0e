import {
  channelId,
  foreignKeyOf,
  identifyKey,
  isForeignKey,
  originOf,
  type Channel,
} from '../../core/channel.ts';
import { emissionId, unpackEmissions, type Emission } from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import { comparePositions, isPast, type Position } from '../../core/position.ts';
import type { Progress, SegmentReference } from '../../core/progress.ts';
import type { Reservation } from '../../core/reservation.ts';
import { decodeSegment } from '../../core/segment.ts';
import type { StoredItem } from '../../core/stored-item.ts';
import type { SinkRow, SweptSink } from '../../ports/sink.ts';
import { readManifest } from '../checkpoint/take-manifest.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import type { JobPorts } from '../job-ports.ts';
import { segmentName } from '../object-names.ts';
import { readReservation, readWay } from './reservation.ts';

/*
 * R10: a restore can bring back what an earlier one had abandoned (an undo does nothing else). Rows of that time may have been
 * swept. Their outputs are in the segments, and are written once more, under the new generation.
 */

/** A stretch of one channel whose rows did not count before the flip and count after it. */
export interface Stretch {
  readonly channel: Channel;
  readonly progress: Progress;
  /** Rows past this, up to and with the position of `progress`. */
  readonly after: Position | undefined;
  /** Whether it ends at the first segment that is not in the bucket. */
  readonly isAsFarAsKept: boolean;
}

/**
 * What the new generation brings back: everything on its way to the first that a generation that is left behind has taken away.
 * Rows that it did not count were swept, or replaced by its own; and what it has brought back itself is under its number, which
 * does not count any more.
 */
export async function findStretches(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  reservation: Reservation,
): Promise<Stretch[]> {
  if (reservation.left.length === 0) return [];
  const isTaken = await findTakenByAll(ports, reservation, new Map());
  const stretches: Stretch[] = [];
  for (const { manifest } of [reservation, ...(await readWay(ports, reservation.parent))]) {
    const { generation, channels } = await readManifest(ports, manifest);
    for (const { channel, progress } of channels) {
      if (progress.position === undefined || progress.head === undefined) continue;
      const taken = isTaken(generation, channelId(channel));
      if (taken === undefined || !isPast(progress.position, taken.after)) continue;
      stretches.push({ channel, progress, ...taken });
    }
  }
  return stretches;
}

/** Says which rows of a channel in a generation may be gone; undefined for none. */
type Taken = (
  generation: number,
  channel: string,
) => Pick<Stretch, 'after' | 'isAsFarAsKept'> | undefined;

/**
 * R11: with the tables every row is gone, those of before the oldest manifest, too, whose segments nothing keeps. What other
 * restores have taken is all there (R2).
 */
const everythingKept = { after: undefined, isAsFarAsKept: true };

async function findTakenByAll(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  { left }: Pick<Reservation, 'left'>,
  known: Map<number, Taken>,
): Promise<Taken> {
  if (left === 'all') return () => everythingKept;
  const all: Taken[] = [];
  for (const generation of left) {
    const taken = known.get(generation) ?? (await findTakenBy(ports, generation, known));
    known.set(generation, taken);
    all.push(taken);
  }
  return (generation, channel) =>
    all.map((taken) => taken(generation, channel)).reduce(earlier, undefined);
}

async function findTakenBy(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  generation: number,
  known: Map<number, Taken>,
): Promise<Taken> {
  const way = await readEnds(ports, generation);
  const made = await readReservation(ports, generation);
  const broughtBack = await findTakenByAll(ports, { left: made?.left ?? [] }, known);
  return (one, channel) => {
    const ends = way.get(one);
    // A channel that is not among the ends had finished before them.
    const isUncounted = !way.has(one) || ends?.has(channel) === true;
    const uncounted = isUncounted ? { after: ends?.get(channel), isAsFarAsKept: false } : undefined;
    return earlier(uncounted, broughtBack(one, channel));
  };
}

function earlier(a: ReturnType<Taken>, b: ReturnType<Taken>): ReturnType<Taken> {
  if (a === undefined || b === undefined) return a ?? b;
  const isAsFarAsKept = a.isAsFarAsKept || b.isAsFarAsKept;
  if (a.after === undefined || b.after === undefined) return { after: undefined, isAsFarAsKept };
  return { after: comparePositions(a.after, b.after) <= 0 ? a.after : b.after, isAsFarAsKept };
}

type Ends = ReadonlyMap<string, Position | undefined> | undefined;

/** For each generation on the way to the first, where it ends; undefined for the one that does not. */
async function readEnds(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  present: number,
): Promise<Map<number, Ends>> {
  const ends = new Map<number, Ends>([[present, undefined]]);
  for (const { parent, forks } of await readWay(ports, present)) {
    ends.set(parent, new Map(forks.map(({ channel, position }) => [channel, position])));
  }
  return ends;
}

const reserveMs = 20_000;

/**
 * Writes the outputs of a stretch, newest segment first; twice is once.
 *
 * @returns the segment from which to go on; undefined where all are written
 */
export async function republishStretch(
  ports: JobPorts & { readonly sinks: readonly SweptSink[] },
  generation: number,
  { channel, progress, after, isAsFarAsKept }: Stretch,
  deadline: Deadline,
  from: SegmentReference | undefined = progress.head,
): Promise<SegmentReference | undefined> {
  const id = channelId(channel);
  const origin = originOf(channel.stream);
  const source = { job: ports.job, operator: channel.operator, generation, channel: id, origin };
  let chain: readonly SegmentReference[] = from === undefined ? [] : [from];
  while (chain.length > 0) {
    const [reference, ...rest] = chain as [SegmentReference, ...SegmentReference[]];
    if (!hasTimeFor(deadline, reserveMs)) return reference;
    const name = segmentName(ports.job, progress.generation, id, reference);
    const bytes = await ports.objects.read(name);
    if (bytes === undefined) {
      if (isAsFarAsKept) {
        const fields = { channel: id, segment: name };
        ports.telemetry.log('warn', 'older outputs are not kept, and stay lost', fields);
        return undefined;
      }
      throw new HoldfastError(
        'invalid',
        `segment ${name} is needed to bring back the outputs of channel ${id} after ${after?.sequence ?? 'its start'}, but is not in the bucket`,
      );
    }
    const { header, items } = decodeSegment(bytes, name);
    const rows = new Map<string, SinkRow[]>();
    for (const item of items) {
      for (const emission of await readEmissions(ports, item, isAsFarAsKept)) {
        const { position } = emission;
        if (!isPast(position, after) || isPast(position, progress.position)) continue;
        const row = { emission, key: item.key, id: nameOutput(channel, progress, item, emission) };
        rows.set(emission.sink, [...(rows.get(emission.sink) ?? []), row]);
      }
    }
    for (const [name, some] of rows) {
      const swept = ports.sinks.find(
        (one) => one.operator === channel.operator && one.name === name,
      );
      if (swept === undefined) {
        // That it is gone was allowed, or it went before the manifest was made.
        const fields = { channel: id, sink: name };
        ports.telemetry.log('warn', 'rows of a sink that is gone stay lost', fields);
        continue;
      }
      await swept.sink.write(source, some);
    }
    if (
      header.from === undefined ||
      (after !== undefined && comparePositions(header.from, after) <= 0)
    ) {
      return undefined;
    }
    chain = rest.length > 0 ? rest : header.chain;
  }
  return undefined;
}

async function readEmissions(
  { objects }: JobPorts,
  item: StoredItem,
  isAsFarAsKept: boolean,
): Promise<Emission[]> {
  const emissions = item.emissions === undefined ? [] : unpackEmissions(item.emissions);
  for (const { name } of item.spills) {
    const bytes = await objects.read(name);
    // A collection that died may have left the segment alone.
    if (bytes === undefined && isAsFarAsKept) continue;
    if (bytes === undefined) {
      throw new HoldfastError(
        'corrupt',
        `emissions ${name} of key ${JSON.stringify(item.key)} are not in the bucket`,
      );
    }
    emissions.push(...unpackEmissions(bytes));
  }
  return emissions;
}

function nameOutput(
  channel: Channel,
  { range }: Progress,
  { key }: StoredItem,
  emission: Emission,
): string {
  const { hash } = isForeignKey(key) ? foreignKeyOf(channel.shardId, range) : identifyKey(key);
  return emissionId(channel.operator, originOf(channel.stream), hash, emission);
}
