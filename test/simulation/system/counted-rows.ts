import { channelId } from '../../../shared/core/channel.ts';
import { deadLetterSink, unpackEmissions } from '../../../shared/core/emission.ts';
import type { ChannelCut, Manifest } from '../../../shared/core/manifest.ts';
import { formatPosition, isPast, type Position } from '../../../shared/core/position.ts';
import { decodeSegment, type Segment } from '../../../shared/core/segment.ts';
import { segmentName } from '../../../shared/runtime/object-names.ts';
import { readWay } from '../../../shared/runtime/restore/reservation.ts';
import { everyRow, type CountedRows } from '../engine/audit.ts';
import type { Chapter } from '../engine/story.ts';
import { findManifest } from './audit-manifests.ts';
import type { Stores } from './stores.ts';

/**
 * R11, R12: which appended rows a job in a generation has, by what its segments held when it lost its tables: all those behind the
 * cut with which it has begun again, and of those before it the ones whose segments follow each other up to that cut.
 */
export async function findCounted(stores: Stores, generation: number): Promise<CountedRows> {
  const { job, loss, objects } = stores;
  if (loss === undefined) return everyRow;
  const way = await readWay({ objects, job }, generation);
  const at = way.findLastIndex((made) => made.generation > loss.generation);
  const begun = way[at];
  if (begun === undefined) return everyRow;
  const manifests = way.slice(at).map(({ manifest }) => findManifest(stores, manifest)!);
  const cuts = new Map(
    manifests[0]!.channels.map(({ channel, progress }) => [channel.shardId, progress]),
  );
  const kept = listKept(stores, manifests);
  const counts =
    (sink: string) =>
    (key: string, { shardId, position }: Chapter): boolean => {
      const cut = cuts.get(shardId)?.position;
      if (cut === undefined || isPast(position, cut)) return true;
      return kept.has(nameRow(sink, key, position));
    };
  return { journal: counts('journal'), deadLetters: counts(deadLetterSink) };
}

/** Of each stretch on the way, from its end to the first segment that was not there. */
function listKept(stores: Stores, way: readonly Manifest[]): Set<string> {
  const kept = new Set<string>();
  for (const manifest of way) {
    for (const cut of manifest.channels) {
      for (const segment of readChain(stores, manifest, cut)) {
        for (const { key, emissions } of segment.items) {
          for (const { sink, position } of emissions ? unpackEmissions(emissions) : []) {
            if (!isPast(position, cut.progress.position)) kept.add(nameRow(sink, key, position));
          }
        }
      }
    }
  }
  return kept;
}

function* readChain(
  { job, loss }: Stores,
  { generation }: Manifest,
  { channel, progress }: ChannelCut,
): Generator<Segment> {
  let chain = progress.head === undefined ? [] : [progress.head];
  for (let at = 0; at < chain.length; at += 1) {
    const name = segmentName(job, generation, channelId(channel), chain[at]!);
    const bytes = loss?.objects.get(name);
    if (bytes === undefined) return;
    const segment = decodeSegment(bytes, name);
    // The last one of those that a header repeats repeats those before it.
    if (at === chain.length - 1) chain = [...chain, ...segment.header.chain];
    yield segment;
  }
}

function nameRow(sink: string, key: string, position: Position): string {
  return `${sink} ${key} ${formatPosition(position)}`;
}
