import type { Shard, StreamIncarnation } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import { hashFromDecimal, hashKey, isOwnedBy, type HashRange } from '../../core/key-group.ts';
import { isPast } from '../../core/position.ts';
import type { StreamRecord } from '../../ports/shard-reader.ts';

/** A shard with its records, as a reader sees it at one moment. */
export interface MemoryShard extends Shard {
  readonly isClosed: boolean;
  /** What retention has left, oldest first. The list grows; take a copy to keep it. */
  readonly records: readonly StreamRecord[];
}

export interface MemoryPutOptions {
  /** Routes the record instead of the hash of its partition key: a decimal number below 2^128. */
  readonly explicitHashKey?: string;
  /** ms since the epoch. @default the stream's clock */
  readonly arrivalMs?: number;
}

/** A Kinesis stream in memory: sharded, ordered by AWS-like sequence numbers, resharded and trimmed on demand. */
export interface MemoryStream {
  readonly incarnation: StreamIncarnation;
  readonly retentionHours: number;
  shards(): MemoryShard[];
  shard(shardId: string): MemoryShard;
  /** Appends a record to the shard that owns its hash. */
  put(
    partitionKey: string,
    data: Uint8Array,
    options?: MemoryPutOptions,
  ): { readonly shardId: string; readonly sequence: string };
  /** Closes a shard and opens two children; the second begins at `newStartingHash` (hex), by default in the middle. */
  split(shardId: string, newStartingHash?: string): [string, string];
  /** Closes two neighbouring shards and opens one child; its first parent is the one that is named first. */
  merge(shardId: string, adjacentShardId: string): string;
  /** Retention: drops the records of a shard up to and with a sequence number, by default all. */
  trim(shardId: string, throughSequence?: string): void;
  /** A closed shard without records leaves the stream, as it does after its last record has expired. */
  forget(shardId: string): void;
}

export interface MemoryStreamOptions {
  /** @default 'events' */
  readonly name?: string;
  /** ms since the epoch. @default the clock's time */
  readonly createdAtMs?: number;
  /** Open shards at the start, of equal ranges. @default 1 */
  readonly shards?: number;
  /** @default 24 */
  readonly retentionHours?: number;
  /** The clock that stamps arrivals. @default always 2025-01-01T00:00:00Z */
  readonly now?: () => number;
}

interface LiveShard extends MemoryShard {
  isClosed: boolean;
  records: StreamRecord[];
  readonly index: number;
  readonly createdAtSeconds: number;
  counter: bigint;
}

const hashSpace = 1n << 128n;

export function createMemoryStream(options: MemoryStreamOptions = {}): MemoryStream {
  const now = options.now ?? (() => Date.UTC(2025, 0, 1));
  const createdAtMs = options.createdAtMs ?? now();
  const live = new Map<string, LiveShard>();
  let opened = 0;

  const open = (range: HashRange, parents: readonly LiveShard[]): LiveShard => {
    const index = opened++;
    const born = Math.floor(now() / 1000);
    const shard: LiveShard = {
      shardId: `shardId-${String(index).padStart(12, '0')}`,
      range,
      parentIds: parents.map((parent) => parent.shardId),
      isClosed: false,
      records: [],
      index,
      // Younger than its parents, so that its sequence numbers lie past theirs.
      createdAtSeconds: Math.max(born, ...parents.map((parent) => parent.createdAtSeconds + 1)),
      counter: 0n,
    };
    live.set(shard.shardId, shard);
    return shard;
  };

  const find = (shardId: string): LiveShard => {
    const shard = live.get(shardId);
    if (shard !== undefined) return shard;
    throw refuse(`there is no shard ${shardId}; there are ${[...live.keys()].join(', ')}`);
  };

  const findOpen = (shardId: string): LiveShard => {
    const shard = find(shardId);
    if (shard.isClosed) throw refuse(`shard ${shardId} is closed; only open shards are resharded`);
    return shard;
  };

  const shardCount = BigInt(options.shards ?? 1);
  for (let at = 0n; at < shardCount; at += 1n) {
    const from = (at * hashSpace) / shardCount;
    const to = ((at + 1n) * hashSpace) / shardCount - 1n;
    open({ from: toHash(from), to: toHash(to) }, []);
  }

  return {
    incarnation: { name: options.name ?? 'events', createdAtMs },
    retentionHours: options.retentionHours ?? 24,
    shards: () => [...live.values()],
    shard: find,

    put(partitionKey, data, { explicitHashKey, arrivalMs = now() } = {}) {
      if (explicitHashKey !== undefined && BigInt(explicitHashKey) >= hashSpace) {
        throw refuse(`explicit hash key ${explicitHashKey}, expected a number below 2^128`);
      }
      const hash =
        explicitHashKey === undefined ? hashKey(partitionKey) : hashFromDecimal(explicitHashKey);
      for (const shard of live.values()) {
        if (shard.isClosed || !isOwnedBy(shard.range, hash)) continue;
        const sequence = nextSequence(shard, arrivalMs);
        // Its own memory: the caller may use its buffer again.
        shard.records.push({ sequence, partitionKey, data: new Uint8Array(data), arrivalMs });
        return { shardId: shard.shardId, sequence };
      }
      throw refuse(`no open shard owns hash ${hash}`);
    },

    split(shardId, newStartingHash) {
      const parent = findOpen(shardId);
      const from = BigInt(`0x${parent.range.from}`);
      const to = BigInt(`0x${parent.range.to}`);
      const middle =
        newStartingHash === undefined ? (from + to + 1n) / 2n : BigInt(`0x${newStartingHash}`);
      if (middle <= from || middle > to) {
        throw refuse(
          `shard ${shardId} owns ${parent.range.from} to ${parent.range.to}; it cannot be split at ${toHash(middle)}`,
        );
      }
      parent.isClosed = true;
      const low = open({ from: parent.range.from, to: toHash(middle - 1n) }, [parent]);
      const high = open({ from: toHash(middle), to: parent.range.to }, [parent]);
      return [low.shardId, high.shardId];
    },

    merge(shardId, adjacentShardId) {
      const parents = [findOpen(shardId), findOpen(adjacentShardId)] as const;
      const [low, high] = [...parents].sort((a, b) => (a.range.from < b.range.from ? -1 : 1));
      if (low === undefined || high === undefined || !areAdjacent(low.range, high.range)) {
        throw refuse(`shards ${shardId} and ${adjacentShardId} are not neighbours`);
      }
      for (const parent of parents) parent.isClosed = true;
      return open({ from: low.range.from, to: high.range.to }, parents).shardId;
    },

    trim(shardId, throughSequence) {
      const shard = find(shardId);
      shard.records = shard.records.filter(
        ({ sequence }) =>
          throughSequence !== undefined &&
          isPast({ sequence, sub: 0 }, { sequence: throughSequence, sub: 0 }),
      );
    },

    forget(shardId) {
      const shard = find(shardId);
      if (!shard.isClosed || shard.records.length > 0) {
        throw refuse(`shard ${shardId} is open or has records; close it and trim it first`);
      }
      live.delete(shardId);
    },
  };
}

/**
 * A sequence number laid out as AWS does: 47 hex digits, which make 56 decimal ones.
 * `2` | 9: the shard's creation, s | 1: low digit of its index | 16: counter | 2: zero | 9: arrival, s | 8: index | `2`
 */
function nextSequence(shard: LiveShard, arrivalMs: number): string {
  shard.counter += 1n;
  const hex = (value: number | bigint, digits: number): string =>
    value.toString(16).padStart(digits, '0');
  const text = [
    '2',
    hex(shard.createdAtSeconds, 9),
    hex(shard.index % 16, 1),
    hex(shard.counter, 16),
    '00',
    hex(Math.floor(arrivalMs / 1000), 9),
    hex(shard.index, 8),
    '2',
  ].join('');
  return BigInt(`0x${text}`).toString();
}

function toHash(value: bigint): string {
  return value.toString(16).padStart(32, '0');
}

function areAdjacent(low: HashRange, high: HashRange): boolean {
  return BigInt(`0x${low.to}`) + 1n === BigInt(`0x${high.from}`);
}

function refuse(why: string): HoldfastError {
  return new HoldfastError('invalid', `memory stream: ${why}`);
}
