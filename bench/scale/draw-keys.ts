import type { MemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import { hashKey, isOwnedBy } from '../../shared/core/key-group.ts';

/** The same number of keys for each shard of a stream. */
export function drawKeys(stream: MemoryStream, keysOfShard: number): readonly string[] {
  const ranges = stream.shards().map(({ range }) => range);
  const room = ranges.map(() => keysOfShard);
  const keys: string[] = [];
  for (let at = 0; keys.length < ranges.length * keysOfShard; at += 1) {
    const key = `key-${at}`;
    const hash = hashKey(key);
    const shard = ranges.findIndex((range) => isOwnedBy(range, hash));
    if (room[shard] === 0) continue;
    room[shard]! -= 1;
    keys.push(key);
  }
  return keys;
}
