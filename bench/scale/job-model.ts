import { countHeaders, countTick, countUnits } from './count-model.ts';
import type { Prices, ServiceLimits } from './prices.ts';

/** A job on paper. */
export interface Workload {
  readonly name: string;
  readonly shards: number;
  /** Of each shard. */
  readonly eventsPerSecond: number;
  readonly unitsPerSecond: number;
  /** Distinct keys of a unit. */
  readonly keysOfUnit: number;
  /** Of a key's item, KB begun: what a write is billed for. */
  readonly itemKilobytes: number;
  /** Of a key's entry in a segment, before compression. */
  readonly entryBytes: number;
  readonly maxParallelism: number;
  readonly checkpointSeconds: number;
  /** Of an invocation, with its requests. */
  readonly unitSeconds: number;
  readonly functionGigabytes: number;
}

/** What is asked of one place, each second. */
export interface PlaceLoad {
  readonly place: string;
  readonly requestsPerSecond: number;
  readonly writeUnitsPerSecond: number;
  readonly readUnitsPerSecond: number;
  /** Of its hottest partition, as a share of what one gives: above 1 requests are throttled. */
  readonly hottestShare: number;
}

/** What a job asks of tables and bucket in a steady state, all environments warm. */
export function modelLoads(workload: Workload, limits: ServiceLimits): readonly PlaceLoad[] {
  const { shards, unitsPerSecond, keysOfUnit, itemKilobytes, maxParallelism } = workload;
  const units = shards * unitsPerSecond;
  const unit = countUnits(1, keysOfUnit);
  const ticks = 1 / workload.checkpointSeconds;
  const tick = countTick(shards, unitsPerSecond * workload.checkpointSeconds);
  const stateUnits = units * keysOfUnit * itemKilobytes;
  const jobReads = (tick['control job GetItem']! + tick['control registry GetItem']!) * ticks;
  const registryWrites = tick['control registry PutItem']! * ticks;
  return [
    {
      place: `state: ${maxParallelism} key groups, a partition each`,
      requestsPerSecond: units * unit['state BatchExecuteStatement']!,
      writeUnitsPerSecond: stateUnits,
      readUnitsPerSecond: 0,
      hottestShare: stateUnits / maxParallelism / limits.partitionWriteUnits,
    },
    {
      place: `control: progress, ${shards} partitions`,
      requestsPerSecond: units * 2 + shards * ticks,
      writeUnitsPerSecond: units,
      readUnitsPerSecond: units + shards * ticks,
      hottestShare: unitsPerSecond / limits.partitionWriteUnits,
    },
    {
      place: 'control: job and registry, one partition',
      requestsPerSecond: jobReads + registryWrites,
      writeUnitsPerSecond: registryWrites,
      readUnitsPerSecond: jobReads,
      hottestShare: jobReads / limits.partitionReadUnits,
    },
    {
      place: 'control: list of channels, one partition',
      requestsPerSecond: ticks,
      writeUnitsPerSecond: 0,
      readUnitsPerSecond: (ticks * shards * channelItemBytes) / 4_096,
      hottestShare: (ticks * shards * channelItemBytes) / 4_096 / limits.partitionReadUnits,
    },
    {
      place: 'bucket: segments, manifests',
      requestsPerSecond: units + (tick['objects GetObject']! + tick['objects PutObject']!) * ticks,
      writeUnitsPerSecond: 0,
      readUnitsPerSecond: 0,
      hottestShare: units / prefixPutsPerSecond,
    },
  ];
}

/** Of an item that lists a channel, about. */
const channelItemBytes = 200;

/** PUTs of one prefix before S3 has parted it. */
const prefixPutsPerSecond = 3_500;

/** Requests of the coordinator that wait for each other go out so many at once. */
const requestsAtOnce = 32;

/** How long the requests of a checkpoint take, ms; reading and writing the manifest's text comes on top. */
export function modelTickMs(
  { shards, unitsPerSecond, checkpointSeconds }: Workload,
  { getItemMs, getObjectMs }: ServiceLimits,
): number {
  const headers = shards * countHeaders(unitsPerSecond * checkpointSeconds);
  // What is not done for each channel is done one after the other.
  const alone = countTick(0, 0);
  const aloneMs =
    (alone['objects GetObject']! + alone['objects PutObject']!) * getObjectMs +
    (alone['control job GetItem']! + alone['control registry GetItem']! + 3) * getItemMs;
  const rounds = (requests: number): number => Math.ceil(requests / requestsAtOnce);
  return aloneMs + rounds(shards) * getItemMs + rounds(headers) * getObjectMs;
}

/** Where a job stops to grow, and what to do about it. */
export interface ScaleLimit {
  readonly what: string;
  /** With more shards of this workload. */
  readonly shards: number;
  readonly consequence: string;
  readonly remedy: string;
}

export function findLimits(workload: Workload, limits: ServiceLimits): readonly ScaleLimit[] {
  const { unitsPerSecond, keysOfUnit, itemKilobytes, maxParallelism } = workload;
  const unitsOfShard = unitsPerSecond * keysOfUnit * itemKilobytes;
  const mergedOfShard = unitsPerSecond * keysOfUnit * workload.entryBytes;
  const all: ScaleLimit[] = [
    {
      what: `write units of the state table, ${limits.tableWriteUnits.toLocaleString('en')}/s by default`,
      shards: limits.tableWriteUnits / unitsOfShard,
      consequence: 'writes are throttled, units take longer, the lag grows',
      remedy: 'ask AWS for a higher quota, and warm the table up before the load comes',
    },
    {
      what: `write units of a key group, with maxParallelism ${maxParallelism}`,
      shards: (maxParallelism * limits.partitionWriteUnits) / unitsOfShard,
      consequence: 'throttled until DynamoDB has parted the key groups by itself',
      remedy: 'a larger maxParallelism before the first deployment: it is for the life of a job',
    },
    {
      what: 'merging of segments in one coordinator',
      shards: limits.mergeBytesPerSecond / mergedOfShard,
      consequence:
        'merges fall behind: manifests and restores grow with every minute, though nothing is lost',
      remedy: 'larger batches; merging by several functions, each a part of the key groups',
    },
    {
      what: 'a start of all environments at once: DescribeStreamSummary, 20/s of an account',
      shards: limits.describesOfAccount,
      consequence: 'the last environment starts after shards / 20 seconds; batches are handed back',
      remedy: 'the time of the stream’s creation as a variable of the function, from the registrar',
    },
    {
      what: 'the birth of all channels at once: each checks the one job item, 2 write units',
      shards: limits.partitionWriteUnits / 2,
      consequence: 'births are throttled and tried again, once for each generation',
      remedy: 'none needed: it passes by itself within some seconds',
    },
  ];
  return all.toSorted((a, b) => a.shards - b.shards);
}

export interface MonthlyCost {
  readonly service: string;
  readonly dollars: number;
}

const monthSeconds = 730 * 3_600;

/** What a job costs in a month of 730 hours under its full load, without storage, logs and merges. */
export function modelCost(
  workload: Workload,
  limits: ServiceLimits,
  prices: Prices,
): readonly MonthlyCost[] {
  const { shards, eventsPerSecond, unitsPerSecond, unitSeconds } = workload;
  const loads = modelLoads(workload, limits);
  const sum = (of: (load: PlaceLoad) => number): number =>
    loads.reduce((total, load) => total + of(load), 0) * monthSeconds;
  const units = shards * unitsPerSecond * monthSeconds;
  const ticks = monthSeconds / workload.checkpointSeconds;
  const gets =
    countTick(shards, unitsPerSecond * workload.checkpointSeconds)['objects GetObject']! * ticks;
  const functionSeconds = units * unitSeconds;
  const coordinatorSeconds = (ticks * modelTickMs(workload, limits)) / 1_000;
  return [
    {
      service: 'Kinesis',
      dollars:
        shards * (monthSeconds / 3_600) * prices.kinesisShardHour +
        (shards * eventsPerSecond * monthSeconds * prices.kinesisMillionPutUnits) / 1e6,
    },
    {
      service: 'Lambda',
      dollars:
        ((units + ticks) * prices.lambdaMillionRequests) / 1e6 +
        (functionSeconds * workload.functionGigabytes + coordinatorSeconds) *
          prices.lambdaGigabyteSecond,
    },
    {
      service: 'DynamoDB',
      dollars:
        (sum(({ writeUnitsPerSecond }) => writeUnitsPerSecond) * prices.dynamodbMillionWriteUnits) /
          1e6 +
        (sum(({ readUnitsPerSecond }) => readUnitsPerSecond) * prices.dynamodbMillionReadUnits) /
          1e6,
    },
    {
      service: 'S3',
      dollars: ((units + 2 * ticks) * prices.s3ThousandPuts + gets * prices.s3ThousandGets) / 1_000,
    },
  ];
}
