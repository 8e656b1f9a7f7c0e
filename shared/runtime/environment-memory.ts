import type { Shard } from '../core/channel.ts';
import type { Emission } from '../core/emission.ts';
import type { Progress, SegmentReference } from '../core/progress.ts';
import type { AheadKey } from '../core/segment.ts';
import type { TimeDomain } from '../core/timer.ts';
import type { StoredItem } from '../core/stored-item.ts';
import type { LiveStates } from '../operator/key-state.ts';
import type { StreamDescription } from '../ports/shard-reader.ts';

/** Where a key is stored and whether the channel owns it; worked out once for each key. */
export interface KeyPlace {
  readonly key: string;
  readonly hash: string;
  readonly keyGroup: number;
  readonly isOwned: boolean;
}

/** A key's item as its last commit left it, with the decoded states. */
export interface WarmItem {
  readonly item: StoredItem;
  readonly live: LiveStates;
  /** The emissions past the commit: only a key that is ahead has some. */
  readonly emissions: readonly Emission[];
  /** The times of the hints that are known to stand for it. */
  readonly hinted: Readonly<Record<TimeDomain, number | undefined>>;
}

/**
 * What an environment remembers of a channel between invocations (P8). It counts only while progress is exactly the
 * last commit that this environment made itself.
 */
export interface ChannelMemory {
  lastCommit: Progress | undefined;
  /** When this environment last wrote to or checked the channel, ms since the epoch. */
  lastSeenMs: number;
  /** The trigger has gone past records that have not all been read since: it cannot be trusted yet (R7). */
  isBehindTrigger: boolean;
  ahead: readonly AheadKey[];
  /** Committed segments, newest first. */
  chain: readonly SegmentReference[];
  readonly places: Map<string, KeyPlace>;
  /** Least recently used first. */
  readonly items: Map<string, WarmItem>;
  itemBytes: number;
}

/** What an environment keeps from one invocation to the next; all of it can be lost at any moment. */
export interface EnvironmentMemory {
  generation: number | undefined;
  stream: StreamDescription | undefined;
  shards: ReadonlyMap<string, Shard>;
  readonly channels: Map<string, ChannelMemory>;
}

/** Most keys whose place is remembered for each channel. */
const placesMax = 200_000;

/** Rough size of the objects around an item, bytes. */
const itemOverheadBytes = 512;

export function createEnvironmentMemory(): EnvironmentMemory {
  return { generation: undefined, stream: undefined, shards: new Map(), channels: new Map() };
}

export function recallChannel(memory: EnvironmentMemory, id: string): ChannelMemory {
  const known = memory.channels.get(id);
  if (known !== undefined) return known;
  const fresh: ChannelMemory = {
    lastCommit: undefined,
    lastSeenMs: 0,
    isBehindTrigger: false,
    ahead: [],
    chain: [],
    places: new Map(),
    items: new Map(),
    itemBytes: 0,
  };
  memory.channels.set(id, fresh);
  return fresh;
}

/** P8: what is remembered counts only while progress is this environment's own last commit. */
export function isOwnCommit(channel: ChannelMemory, progress: Progress): boolean {
  const own = channel.lastCommit;
  return (
    own !== undefined &&
    own.generation === progress.generation &&
    own.version === progress.version &&
    own.attempt === progress.attempt
  );
}

/** Forgets everything that a commit of somebody else may have changed. */
export function forgetChannel(channel: ChannelMemory): void {
  channel.lastCommit = undefined;
  channel.ahead = [];
  channel.chain = [];
  forgetItems(channel);
}

/** Forgets the items alone: after a throw they are half-changed, while progress and its segments stand. */
export function forgetItems(channel: ChannelMemory): void {
  channel.items.clear();
  channel.itemBytes = 0;
}

export function rememberItem(channel: ChannelMemory, warm: WarmItem): void {
  forgetItem(channel, warm.item.key);
  channel.items.set(warm.item.key, warm);
  channel.itemBytes += warmBytes(warm);
}

export function forgetItem(channel: ChannelMemory, key: string): void {
  const known = channel.items.get(key);
  if (known === undefined) return;
  channel.items.delete(key);
  channel.itemBytes -= warmBytes(known);
}

export function rememberPlace(channel: ChannelMemory, place: KeyPlace): void {
  if (channel.places.size >= placesMax) channel.places.clear();
  channel.places.set(place.key, place);
}

/** Drops least recently used items, those of other channels first, until all fit into `bytesMax`. */
export function trimMemory(
  memory: EnvironmentMemory,
  current: ChannelMemory,
  bytesMax: number,
): void {
  let bytes = 0;
  for (const channel of memory.channels.values()) bytes += channel.itemBytes;
  if (bytes <= bytesMax) return;
  for (const channel of [...memory.channels.values()].filter((c) => c !== current)) {
    bytes -= channel.itemBytes;
    forgetItems(channel);
    if (bytes <= bytesMax) return;
  }
  for (const key of current.items.keys()) {
    if (current.itemBytes <= bytesMax) return;
    forgetItem(current, key);
  }
}

/** Packed and decoded form together take about three times the packed bytes. */
function warmBytes({ item }: WarmItem): number {
  return itemOverheadBytes + item.key.length * 2 + 3 * (item.states?.length ?? 0);
}
