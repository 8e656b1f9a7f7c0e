import { channelId } from '../../core/channel.ts';
import type { Manifest } from '../../core/manifest.ts';
import type { Progress } from '../../core/progress.ts';
import { chainReferencesMax } from '../../core/segment.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { parseObjectName } from '../object-names.ts';
import { findSegmentHeader } from '../read-segment-header.ts';
import type { Place } from './classify-objects.ts';

interface ListedSegment {
  readonly name: string;
  readonly attempt: string;
}

/**
 * Tells which of several segments of one number was committed (C5). Where only one was listed, there is no doubt; else the
 * header of any segment that was written behind it says so, since attempts begin at what is committed. Reads only where it must.
 */
export async function findCommitted(
  objects: ObjectStore,
  job: string,
  listed: readonly string[],
  known: {
    readonly present: number;
    readonly listing: readonly Manifest[];
    readonly progress: ReadonlyMap<string, Progress>;
  },
): Promise<(segment: Place) => string | undefined> {
  const attempts = groupByNumber(job, listed);
  const committed = new Map<string, string>();
  for (const { generation, channels } of known.listing) {
    for (const { channel, segments, progress } of channels) {
      const references = progress.head === undefined ? segments : [...segments, progress.head];
      for (const { number, attempt } of references) {
        committed.set(keyOf({ generation, channelId: channelId(channel), number }), attempt);
      }
    }
  }
  for (const [id, { head }] of known.progress) {
    if (head === undefined) continue;
    committed.set(keyOf({ ...head, generation: known.present, channelId: id }), head.attempt);
  }
  for (const [key, { place, segments }] of attempts) {
    if (segments.length === 1 || committed.has(key)) continue;
    const behind = findBehind(attempts, place);
    if (behind === undefined) continue;
    // Another collection may have taken it meanwhile: then this cannot be told now.
    const header = await findSegmentHeader(objects, behind);
    for (const { number, attempt } of header?.chain ?? []) {
      committed.set(keyOf({ ...place, number }), attempt);
    }
  }
  return (segment) => {
    const key = keyOf(segment);
    const only = attempts.get(key)?.segments;
    return committed.get(key) ?? (only?.length === 1 ? only[0]!.attempt : undefined);
  };
}

interface Attempts {
  readonly place: Place;
  readonly segments: ListedSegment[];
}

function groupByNumber(job: string, listed: readonly string[]): Map<string, Attempts> {
  const found = new Map<string, Attempts>();
  for (const name of listed) {
    const identity = parseObjectName(job, name);
    if (identity.kind !== 'segment') continue;
    const key = keyOf(identity);
    const there = found.get(key);
    const one = { name, attempt: identity.attempt };
    if (there === undefined) found.set(key, { place: identity, segments: [one] });
    else there.segments.push(one);
  }
  return found;
}

/** A segment whose header names the one of this number. */
function findBehind(attempts: ReadonlyMap<string, Attempts>, place: Place): string | undefined {
  for (let number = place.number + chainReferencesMax; number > place.number; number -= 1) {
    const there = attempts.get(keyOf({ ...place, number }));
    if (there !== undefined) return there.segments[0]!.name;
  }
  return undefined;
}

function keyOf({ generation, channelId: channel, number }: Place): string {
  return `${generation}/${channel}/${number}`;
}
