import { HoldfastError } from './errors.ts';
import { md5Hex } from './platform.ts';

/** MD5 of a key, 32 lower-case hex digits. Its order as text is the order of the 128-bit number that Kinesis uses. */
export type KeyHash = string;

/** The hash-key range of a shard: both ends belong to it. */
export interface HashRange {
  readonly from: KeyHash;
  readonly to: KeyHash;
}

/** The bounds of `maxParallelism`: how many key groups a job has, fixed for its life. */
export const maxParallelismBounds = { min: 1, max: 32_768, default: 128 } as const;

export function hashKey(key: string): KeyHash {
  return md5Hex(key);
}

/** Spells a decimal hash key, as Kinesis writes the ends of a shard's range, as 32 hex digits. */
export function hashFromDecimal(decimal: string): KeyHash {
  return BigInt(decimal).toString(16).padStart(32, '0');
}

/** The pair of {@link hashFromDecimal}: a hash as Kinesis takes an explicit hash key. */
export function hashToDecimal(hash: KeyHash): string {
  return BigInt(`0x${hash}`).toString();
}

/** P10: a channel owns exactly the keys whose hash lies in its shard's range; key groups only place storage. */
export function isOwnedBy(range: HashRange, hash: KeyHash): boolean {
  return range.from <= hash && hash <= range.to;
}

/**
 * The key group of a hash: the 128-bit hash space cut into `maxParallelism` equal ranges. With a power of two
 * these are the top bits of the hash.
 *
 * @param maxParallelism a power of two, at most 32,768
 */
export function keyGroupOf(hash: KeyHash, maxParallelism: number): number {
  const bits = 31 - Math.clz32(maxParallelism);
  return Number.parseInt(hash.slice(0, 4), 16) >>> (16 - bits);
}

/** Refuses a number of key groups that cannot cut the hash space evenly. */
export function assertMaxParallelism(maxParallelism: number): void {
  const { min, max } = maxParallelismBounds;
  const isPowerOfTwo = (maxParallelism & (maxParallelism - 1)) === 0;
  if (
    !Number.isInteger(maxParallelism) ||
    maxParallelism < min ||
    maxParallelism > max ||
    !isPowerOfTwo
  ) {
    throw new HoldfastError(
      'invalid',
      `maxParallelism is ${maxParallelism}, expected a power of two from ${min} to ${max}; it is fixed for the life of a job`,
    );
  }
}
