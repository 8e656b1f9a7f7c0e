/** Counts since the mapping was created; restarts do not reset them. */
export interface MappingStats {
  /** Invocations of the function, whatever became of them. */
  readonly batches: number;
  /** Records handed to the function, each delivery counted. */
  readonly records: number;
  /** Records that had been handed over before. */
  readonly redeliveries: number;
  /** Batches of which nothing was accepted. */
  readonly failures: number;
  /** Batches of which a first part was accepted. */
  readonly partialFailures: number;
  /** Retried batches that ended at another record than before. */
  readonly recuts: number;
  /** Batches delivered again although they had succeeded. */
  readonly duplicatesAfterSuccess: number;
  /** Invocations that still ran when their batch was delivered again. */
  readonly zombies: number;
  /** Shards that were seen to be replaced by children, by a split or a merge. */
  readonly splitsSeen: number;
  /** Shards that were closed and delivered to their end. */
  readonly shardsFinished: number;
  /** Records given up after the last retry or because of their age. */
  readonly recordsGivenUp: number;
  readonly destinationWrites: number;
  readonly restarts: number;
  /** Age of the oldest shard's reading position against its end, 0 when all are at their end. */
  readonly lagMs: number;
}

/** The same while it is being counted. The lag is not a count. */
export type MappingCounters = { -readonly [Name in Exclude<keyof MappingStats, 'lagMs'>]: number };

export function newMappingCounters(): MappingCounters {
  return {
    batches: 0,
    records: 0,
    redeliveries: 0,
    failures: 0,
    partialFailures: 0,
    recuts: 0,
    duplicatesAfterSuccess: 0,
    zombies: 0,
    splitsSeen: 0,
    shardsFinished: 0,
    recordsGivenUp: 0,
    destinationWrites: 0,
    restarts: 0,
  };
}
