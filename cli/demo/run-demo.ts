import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startEmbeddedAws, type EmbeddedAws } from '../../localstack/embedded/embedded-aws.ts';
import { createServiceClients } from '../../localstack/embedded/service-clients.ts';
import { openControlStore } from '../../shared/composition/aws/control-store.ts';
import { seededRandom, type RandomSource } from '../../shared/core/random.ts';
import { compareTables, type Comparison } from './compare-tables.ts';
import { countOutOfOrder, delayReports } from './delay-reports.ts';
import { endStream, putFlights, splitShard } from './feed-stream.ts';
import { readFlights, type Flight } from './flights.ts';
import { createFunctionMetrics, type FunctionMetrics } from './function-metrics.ts';
import { computePlainly } from './plain-computation.ts';
import { synthesize } from './synthesize.ts';

export interface DemoOptions {
  readonly seed: number;
  readonly shards: number;
  readonly chaos: boolean;
  /** Gets the stack as soon as it is up, so that Ctrl-C can stop it. */
  readonly onStarted: (aws: EmbeddedAws) => void;
  readonly onProgress: (progress: DemoProgress) => void;
}

export interface DemoProgress {
  readonly step: 'synthesize' | 'start' | 'run' | 'compare';
  readonly put: number;
  readonly total: number;
  readonly crashes: number;
}

export interface DemoResult {
  readonly seed: number;
  readonly shards: number;
  readonly seconds: number;
  readonly records: number;
  /** Records of flights that left before one that was put earlier. */
  readonly outOfOrder: number;
  readonly airports: number;
  readonly alerts: number;
  /** Hours of airports. */
  readonly hours: number;
  /** Flights that came when their hour was over. */
  readonly late: number;
  readonly invocations: number;
  /** Operator processes that were killed in the middle of an invocation. */
  readonly crashes: number;
  readonly splits: number;
  /** Records that were delivered again. */
  readonly redeliveries: number;
  readonly zombies: number;
  readonly units: number;
  readonly recordsSkipped: number;
  readonly outputsSkipped: number;
  readonly keysReran: number;
  readonly progressConflicts: number;
  /** Write units and requests of all tables for each 1,000 events. */
  readonly writeUnitsPerThousand: number;
  readonly requestsPerThousand: number;
  readonly differences: readonly string[];
}

/** The job that the demo stack deploys. */
const jobName = 'flight-delays';

/** Crashes that a run with chaos has at least; the last records wait for them. */
const crashesMin = 20;
const crashesMax = 30;

/** Records in a request, and how many are kept back until there were crashes enough. */
const chunkRecords = 250;
const keptBack = 500;
const keptBackChunk = 10;

/** Runs the job over all flights, with faults, and compares its tables with the plain computation. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const startedMs = performance.now();
  const flights = delayReports(readFlights(), seededRandom(`demo reports ${options.seed}`));
  const metrics = createFunctionMetrics();
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'));
  const report = (step: DemoProgress['step'], put: number, crashes: number): void =>
    options.onProgress({ step, put, total: flights.length, crashes });
  try {
    report('synthesize', 0, 0);
    const templateFile = await synthesize(folder, options.shards);
    report('start', 0, 0);
    const aws = await startEmbeddedAws({
      templateFile,
      seed: options.seed,
      log: (line) => metrics.readLine(line),
      // The local Kinesis reads a shard from its start each time: the fewer looks, the more it gets done.
      pace: { pollIntervalMsMin: 250 },
      chaos: options.chaos
        ? {
            killDuringInvocation: { probability: 0.4, atMost: crashesMax },
            duplicateAfterSuccess: 0.1,
            recutOnRetry: 0.5,
            zombie: 0.05,
            childFirst: 0.5,
            slowStart: 0.1,
          }
        : {},
    });
    options.onStarted(aws);
    const splits = await feed(aws, flights, options, report);
    report('compare', flights.length, crashesOf(aws));
    return await summarize(aws, flights, metrics, {
      ...options,
      splits,
      seconds: Math.round((performance.now() - startedMs) / 100) / 10,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function feed(
  aws: EmbeddedAws,
  flights: readonly Flight[],
  options: DemoOptions,
  report: (step: DemoProgress['step'], put: number, crashes: number) => void,
): Promise<number> {
  const random = seededRandom(`demo ${options.seed}`);
  const clients = createServiceClients(aws.endpoints, aws.region);
  const stream = aws.outputs['StreamName']!;
  const splitAt = flights.length * (0.25 + 0.4 * random());
  let splits = 0;
  let put = 0;
  try {
    while (put < flights.length) {
      const end = nextEnd(put, flights.length, options.chaos);
      await putFlights(clients.kinesis, stream, flights.slice(put, end));
      put = end;
      if (options.chaos && splits === 0 && put >= splitAt) {
        await splitShard(clients.kinesis, stream, random);
        splits += 1;
      }
      report('run', put, crashesOf(aws));
      if (options.chaos && put > flights.length - keptBack) await waitForCrash(aws, random);
    }
    await endStream(clients.kinesis, stream);
    await whenDone(aws);
  } finally {
    clients.destroy();
  }
  return splits;
}

function nextEnd(put: number, total: number, chaos: boolean): number {
  const isKeptBack = chaos && put >= total - keptBack;
  if (isKeptBack) return Math.min(put + keptBackChunk, total);
  return Math.min(put + chunkRecords, chaos ? total - keptBack : total);
}

/** With crashes still missing, gives the records just put the time to be processed and to cause one. */
async function waitForCrash(aws: EmbeddedAws, random: RandomSource): Promise<void> {
  if (crashesOf(aws) < crashesMin) await sleep(200 + 300 * random());
}

async function whenDone(aws: EmbeddedAws): Promise<void> {
  await Promise.all(aws.mappings.map((mapping) => mapping.whenIdle({ timeoutMs: 150_000 })));
}

async function summarize(
  aws: EmbeddedAws,
  flights: readonly Flight[],
  metrics: FunctionMetrics,
  run: { seed: number; shards: number; splits: number; seconds: number },
): Promise<DemoResult> {
  const usage = Object.values(aws.dynamodb.stats());
  const clients = createServiceClients(aws.endpoints, aws.region);
  let comparison: Comparison;
  let units: number;
  try {
    units = await countUnits(clients.dynamodb, aws.outputs['ControlTable']!);
    comparison = await compareTables(
      clients.dynamodb,
      {
        airports: aws.outputs['SinkAirports']!,
        alerts: aws.outputs['SinkAlerts']!,
        hours: aws.outputs['SinkHours']!,
        late: aws.outputs['SinkLate']!,
        deadLetters: aws.outputs['DeadLetterTable']!,
      },
      computePlainly(flights),
    );
  } finally {
    clients.destroy();
  }
  const functionStats = aws.functions.get(aws.outputs['OperatorFunction']!).stats();
  const [mapping] = aws.mappings;
  const mappingStats = mapping!.stats();
  const requests = usage.flatMap((table) => Object.values(table.requests));
  const perThousand = (total: number): number =>
    Math.round((total / flights.length) * 1000 * 10) / 10;
  return {
    seed: run.seed,
    shards: run.shards,
    seconds: run.seconds,
    records: flights.length,
    outOfOrder: countOutOfOrder(flights),
    airports: comparison.airports,
    alerts: comparison.alerts,
    hours: comparison.hours,
    late: comparison.late,
    invocations: functionStats.invocations,
    crashes: crashesOf(aws),
    splits: run.splits,
    redeliveries: mappingStats.redeliveries,
    zombies: mappingStats.zombies,
    units,
    recordsSkipped: metrics.totals.recordsSkipped,
    outputsSkipped: metrics.totals.outputsSkipped,
    keysReran: metrics.totals.keysReran,
    progressConflicts: metrics.totals.progressConflicts,
    writeUnitsPerThousand: perThousand(usage.reduce((sum, table) => sum + table.writeUnits, 0)),
    requestsPerThousand: perThousand(requests.reduce((sum, count) => sum + count, 0)),
    differences: comparison.differences,
  };
}

/** Every committed unit has left one segment; progress counts them, whoever committed them. */
async function countUnits(client: DynamoDBClient, table: string): Promise<number> {
  const control = openControlStore(client, table);
  const generation = 1;
  const channels = await control.listChannels(jobName, generation);
  const progress = await Promise.all(
    channels.map((channel) => control.readProgress(jobName, generation, channel)),
  );
  return progress.reduce((sum, item) => sum + (item?.head?.number ?? 0), 0);
}

function crashesOf(aws: EmbeddedAws): number {
  return aws.chaos.counts().killDuringInvocation;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
