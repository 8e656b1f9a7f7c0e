import type { MemoryStream } from '../../../shared/adapters/memory/memory-stream.ts';

/** How many times shards of a stream have been split and merged. */
export function countReshardings(stream: MemoryStream): Map<string, number> {
  const parents = stream.shards().map(({ parentIds }) => parentIds.length);
  return new Map([
    ['splits', parents.filter((count) => count === 1).length / 2],
    ['merges', parents.filter((count) => count === 2).length],
  ]);
}
