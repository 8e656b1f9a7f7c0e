/**
 * Every maximum that a deployment is held to, with its unit and its reason. Bounds that belong to
 * the data path (units, segments, items) live with the code that enforces them.
 */

/** A closed range of whole numbers. */
export interface Limit {
  readonly min: number;
  readonly max: number;
  readonly unit: string;
  readonly reason: string;
}

export const LIMITS = {
  batchSize: {
    min: 1,
    max: 10_000,
    unit: 'records',
    reason: 'Lambda hands over at most 10,000 records (and 6 MB) at once',
  },
  batchingWindowSeconds: {
    min: 0,
    max: 300,
    unit: 'seconds',
    reason: 'Lambda waits at most five minutes for a batch to fill',
  },
  maxParallelism: {
    min: 1,
    max: 32_768,
    unit: 'key groups',
    reason:
      'key groups are listed, loaded and compacted one by one; Flink stops at the same number',
  },
  timeoutSeconds: {
    min: 3,
    max: 900,
    unit: 'seconds',
    reason:
      'Lambda runs a function for at most 900 s, and less than 3 s leaves no time to load state and commit a unit',
  },
  memorySizeMb: {
    min: 128,
    max: 10_240,
    unit: 'MB',
    reason: 'Lambda sells 128 to 10,240 MB',
  },
  retentionHours: {
    min: 24,
    max: 8_760,
    unit: 'hours',
    reason: 'Kinesis keeps records for one day to one year',
  },
  shards: {
    min: 1,
    max: 20_000,
    unit: 'shards',
    reason: 'no account has more than 20,000 shards unless AWS raises its quota',
  },
  operatorsPerJob: {
    min: 1,
    max: 4,
    unit: 'operators',
    reason:
      'a shard serves five reads a second to all its readers together; each operator polls once a second and the catch-up reader needs one read',
  },
  sinksPerOperator: {
    min: 0,
    max: 8,
    unit: 'sinks',
    reason:
      'the table names of all sinks travel in the environment of the function, which holds 4 KB',
  },
  generationRetentionHours: {
    min: 1,
    max: 8_760,
    unit: 'hours',
    reason:
      'what an attempt that began before a restore still writes must be there to be deleted, and state that nobody reads is paid for',
  },
  heartbeatEveryMinutes: {
    min: 1,
    max: 480,
    unit: 'minutes',
    reason:
      'EventBridge Scheduler counts in minutes, and a third of the shortest retention keeps a quiet shard readable even if a heartbeat is lost',
  },
  heartbeatBehindSeconds: {
    min: 0,
    max: 31_536_000,
    unit: 'seconds',
    reason: 'no stream keeps a record for longer than a year, so nothing can come later than that',
  },
} as const satisfies Record<string, Limit>;

/** What a setting is when nobody says anything. */
export const DEFAULTS = {
  /** What came while nobody read goes in with few commits; a quiet shard never has so many in a window. */
  batchSize: 10_000,
  batchingWindowSeconds: 1,
  maxParallelism: 128,
  timeoutSeconds: 60,
  /** 1,769 MB buys exactly one CPU; an operator is one thread and gains nothing from more. */
  memorySizeMb: 1_769,
  /** What Kinesis itself keeps when nobody says anything. */
  retentionHours: 24,
  generationRetentionHours: 168,
} as const;

/**
 * Names of jobs, operators and sinks. They become parts of table keys, object names and paths, so
 * nothing that any of these would have to escape is allowed, and 63 characters keep them readable.
 */
export const NAME_PATTERN = /^[a-z][a-z0-9-]{0,62}$/;

export const NAME_RULE = 'a to z, 0 to 9 and "-", a letter first, at most 63 characters';

export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME_PATTERN.test(value);
}

export function isWithin(limit: Limit, value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isInteger(value) && value >= limit.min && value <= limit.max
  );
}

export function describeLimit(limit: Limit): string {
  return `a whole number of ${limit.unit} from ${limit.min} to ${limit.max} (${limit.reason})`;
}

/** Key groups are equal ranges of the hash; only a power of two cuts 128 bits without a rest. */
export function isMaxParallelism(value: unknown): value is number {
  return isWithin(LIMITS.maxParallelism, value) && (value & (value - 1)) === 0;
}

export const MAX_PARALLELISM_RULE = `a power of two from ${LIMITS.maxParallelism.min} to ${LIMITS.maxParallelism.max} (key groups are equal ranges of the key hash)`;
