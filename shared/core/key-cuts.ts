import { foreignKeyOf, identifyKey, isForeignKey } from './channel.ts';
import { isOwnedBy, type KeyHash } from './key-group.ts';
import type { ChannelCut } from './manifest.ts';
import { compareTexts, isPast, laterPosition, type Position } from './position.ts';
import { isExact } from './progress.ts';

/*
 * Where a cut lies for a key: at the position of the channel that owns the key's hash. A child that has read nothing yet goes on
 * where its parent ended.
 */

/** A cut, as far as the keys of one range of hashes are concerned. */
export interface RangeCut {
  /** The range begins here and ends before the one behind it in the list. */
  readonly from: KeyHash;
  /** Undefined where nothing of the range has been read. */
  readonly position: Position | undefined;
  /** P4: no key of the channel is past its position. */
  readonly isExact: boolean;
}

/** The youngest channel that holds a key: the one whose records it takes now. */
export function findOwner(
  channels: readonly ChannelCut[],
  operator: string,
  key: string,
): ChannelCut | undefined {
  const all = channels.filter(({ channel }) => channel.operator === operator);
  if (isForeignKey(key)) return all.find((cut) => foreignKeyIn(cut) === key);
  const { hash } = identifyKey(key);
  return findYoungest(all.filter(({ progress }) => isOwnedBy(progress.range, hash)));
}

/** Looks up the cut of many keys of one operator. */
export function createKeyCuts(
  channels: readonly ChannelCut[],
  operator: string,
): (key: string) => Omit<RangeCut, 'from'> | undefined {
  const ranges = cutRanges(channels, operator);
  const own = channels.filter(({ channel }) => channel.operator === operator);
  const foreign = new Map(own.map((cut) => [foreignKeyIn(cut), cut.progress]));
  return (key) => {
    if (!isForeignKey(key)) return findRange(ranges, identifyKey(key).hash);
    const progress = foreign.get(key);
    return progress && { position: progress.position, isExact: isExact(progress) };
  };
}

/** The cut of one operator's channels, range by range in the order of hashes. */
export function cutRanges(channels: readonly ChannelCut[], operator: string): RangeCut[] {
  const own = channels.filter(({ channel }) => channel.operator === operator);
  const starts = own.flatMap(({ progress: { range } }) => [range.from, hashAfter(range.to)]);
  return startsOf(starts).map((from) => {
    const holders = own.filter(({ progress }) => isOwnedBy(progress.range, from));
    const youngest = findYoungest(holders);
    const position = holders.reduce<Position | undefined>(
      (latest, { progress }) => laterPosition(latest, progress.position),
      undefined,
    );
    return { from, position, isExact: youngest === undefined || isExact(youngest.progress) };
  });
}

/** Range by range the earliest of several cuts: undefined where one of them has read nothing. */
export function earliestRanges(
  cuts: readonly (readonly RangeCut[])[],
): { readonly from: KeyHash; readonly position: Position | undefined }[] {
  return startsOf(cuts.flatMap((ranges) => ranges.map(({ from }) => from))).map((from) => ({
    from,
    position: cuts.map((ranges) => findRange(ranges, from)?.position).reduce(earlierPosition),
  }));
}

/** The range that a hash lies in. */
export function findRange<Range extends { readonly from: KeyHash }>(
  ranges: readonly Range[],
  hash: KeyHash,
): Range | undefined {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ranges[middle]!.from <= hash) low = middle + 1;
    else high = middle;
  }
  return ranges[low - 1];
}

function earlierPosition(a: Position | undefined, b: Position | undefined): Position | undefined {
  if (a === undefined || b === undefined) return undefined;
  return isPast(a, b) ? b : a;
}

function findYoungest(holders: readonly ChannelCut[]): ChannelCut | undefined {
  const isParent = new Set(holders.flatMap(({ progress }) => progress.parentIds));
  return holders.find(({ channel }) => !isParent.has(channel.shardId));
}

function foreignKeyIn({ channel, progress }: ChannelCut): string {
  return foreignKeyOf(channel.shardId, progress.range).key;
}

function startsOf(starts: readonly (KeyHash | undefined)[]): KeyHash[] {
  return [...new Set(starts.filter((start) => start !== undefined))].sort(compareTexts);
}

/** The next hash; undefined behind the last one. */
function hashAfter(hash: KeyHash): KeyHash | undefined {
  const next = (BigInt(`0x${hash}`) + 1n).toString(16).padStart(32, '0');
  return next.length > 32 ? undefined : next;
}
