import type { Workload } from './job-model.ts';

const full: Workload = {
  name: 'a full shard each: 1,000 events/s, a unit a second',
  shards: 1_000,
  eventsPerSecond: 1_000,
  unitsPerSecond: 1,
  // Of 1,000 events over 1,000 keys, all alike.
  keysOfUnit: 631,
  itemKilobytes: 1,
  entryBytes: 150,
  maxParallelism: 128,
  checkpointSeconds: 60,
  unitSeconds: 0.4,
  functionGigabytes: 1.769,
};

/** Jobs of 1,000 shards on paper. Copy one and change what is yours. */
export const workloads: readonly Workload[] = [
  full,
  {
    ...full,
    name: 'a quiet shard each: 20 events/s, a window of 10 s',
    ...{ eventsPerSecond: 20, unitsPerSecond: 0.1, keysOfUnit: 181, unitSeconds: 0.15 },
  },
];
