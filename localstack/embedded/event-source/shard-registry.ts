import type { Chaos } from '../chaos.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { MappingCounters } from './mapping-stats.ts';
import { ShardLedger } from './shard-ledger.ts';
import type { ShardPosition, StreamShard } from './stream-reader.ts';

export interface ShardRegistryOptions {
  readonly startingPosition: ShardPosition;
  readonly chaos: Chaos;
  readonly random: SeededRandom;
  readonly counters: MappingCounters;
}

/** All shards that a mapping has ever seen, and which of them may be read. */
export class ShardRegistry {
  readonly #options: ShardRegistryOptions;
  readonly #ledgers = new Map<string, ShardLedger>();
  readonly #replaced = new Set<string>();
  #isFirstLook = true;

  constructor(options: ShardRegistryOptions) {
    this.#options = options;
  }

  register(shards: readonly StreamShard[]): void {
    const { chaos, random, counters } = this.#options;
    for (const shard of shards) {
      if (this.#ledgers.has(shard.shardId)) continue;
      const isChild = shard.parentShardIds.length > 0;
      const startsBeforeParents = isChild && chaos.strikes('childFirst', random);
      const ledger = new ShardLedger(shard, this.#startOfNewShard(), startsBeforeParents);
      this.#ledgers.set(shard.shardId, ledger);
      if (this.#isFirstLook) continue;
      for (const parent of shard.parentShardIds) this.#replaced.add(parent);
      counters.splitsSeen = this.#replaced.size;
    }
    this.#isFirstLook = false;
  }

  /** Not finished, and not held back by parents that are not. */
  readable(): ShardLedger[] {
    return this.unfinished().filter(
      (ledger) =>
        ledger.startsBeforeParents ||
        ledger.shard.parentShardIds.every(
          (parent) => this.#ledgers.get(parent)?.isFinished ?? true,
        ),
    );
  }

  unfinished(): ShardLedger[] {
    return [...this.#ledgers.values()].filter((ledger) => !ledger.isFinished);
  }

  /** Goes back to persisted positions, each shard by itself. */
  rewind(): void {
    for (const ledger of this.#ledgers.values()) ledger.rewind(this.#options.random);
  }

  /** A shard that appears later is read from its beginning, or its first records would be lost. */
  #startOfNewShard(): ShardPosition {
    const { startingPosition } = this.#options;
    const isLate = !this.#isFirstLook && startingPosition.kind === 'latest';
    return isLate ? { kind: 'trim-horizon' } : startingPosition;
  }
}
