import type { MemoryShard, MemoryStream } from '../../../shared/adapters/memory/memory-stream.ts';
import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, pick } from './gate.ts';

/** Splits an open shard at a random place, or merges two neighbours where there are any. */
export function reshardRandomly(stream: MemoryStream, random: RandomSource): void {
  const open = openShards(stream);
  const at = pick(random, open.length);
  const [shard, next] = [open[at]!, open[at + 1]];
  if (next !== undefined && chance(random, 0.6)) {
    // Parents are named in either order.
    const [first, second] = chance(random, 0.5) ? [shard, next] : [next, shard];
    stream.merge(first.shardId, second.shardId);
    return;
  }
  stream.split(shard.shardId, chance(random, 0.5) ? undefined : drawHash(shard, random));
}

/** The open shards in the order of their ranges. */
export function openShards(stream: MemoryStream): MemoryShard[] {
  const open = stream.shards().filter(({ isClosed }) => !isClosed);
  return open.sort((a, b) => (a.range.from < b.range.from ? -1 : 1));
}

/** A place within the range of a shard, not its start. */
function drawHash({ range }: MemoryShard, random: RandomSource): string {
  const from = BigInt(`0x${range.from}`);
  const to = BigInt(`0x${range.to}`);
  const part = ((to - from) * BigInt(1 + pick(random, 63))) / 64n;
  return (from + (part > 0n ? part : 1n)).toString(16).padStart(32, '0');
}
