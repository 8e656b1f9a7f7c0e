import type { Bench, BenchContext, BenchTable } from '../harness/bench.ts';
import { median, takeTurns } from '../harness/statistics.ts';
import { countTick, countUnits, sumCounts } from './count-model.ts';
import { createCountedJob, type CountedTick } from './counted-job.ts';
import { createMemoryJob } from './memory-throughput.ts';
import { tabulatePaper } from './paper-tables.ts';

interface Plan {
  readonly shards: readonly number[];
  readonly batchEvents: number;
  /** In the job whose requests are counted: keys of a unit, and units of each shard between two ticks. */
  readonly keysOfUnit: number;
  readonly unitsBetween: number;
  readonly rounds: number;
}

const plan: Plan = {
  ...{ shards: [1, 2, 4, 8, 16], batchEvents: 1_000, keysOfUnit: 50, unitsBetween: 3 },
  rounds: 5,
};

const quickPlan: Plan = {
  ...{ shards: [1, 2, 4], batchEvents: 100, keysOfUnit: 30, unitsBetween: 2 },
  rounds: 2,
};

export const scale: Bench = {
  name: 'scale',
  what: '1 to 16 shards: events/s, requests and checkpoints; a model of 1,000 shards, with cost',

  async run(context) {
    const used = context.isQuick ? quickPlan : plan;
    const throughput = await measureThroughput(context, used);
    const counted: CountedRow[] = [];
    for (const shards of used.shards) {
      context.log(`counting the requests of ${shards} shards`);
      counted.push(await countJob(shards, used));
      await context.scratch.breathe();
    }
    return [
      tabulateModel(used, counted),
      tabulateThroughput(used, throughput),
      tabulateTicks(used, counted),
      ...tabulatePaper(),
    ];
  },
};

async function measureThroughput(
  { log, scratch }: BenchContext,
  { shards, batchEvents, rounds }: Plan,
): Promise<readonly number[]> {
  const jobs = await Promise.all(shards.map((count) => createMemoryJob(count, batchEvents)));
  // What is not warm yet does not count.
  for (const job of jobs) await job.runBatches();
  const measured = await takeTurns(rounds, jobs, async (job, round) => {
    log(`round ${round + 1} of ${rounds}: ${job.shards} shards in memory`);
    const { events, seconds } = await job.runBatches();
    await scratch.breathe();
    return events / seconds;
  });
  return measured.map(median);
}

interface CountedRow {
  readonly shards: number;
  readonly unitRequests: number;
  /** Medians; requests are the same in each. */
  readonly tick: CountedTick & { readonly total: number };
}

async function countJob(
  shards: number,
  { keysOfUnit, unitsBetween, rounds }: Plan,
): Promise<CountedRow> {
  const job = await createCountedJob(shards, keysOfUnit);
  try {
    await job.runUnits();
    await job.tick();
    const unitRequests: number[] = [];
    const ticks: CountedTick[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (let unit = 0; unit < unitsBetween; unit += 1) {
        unitRequests.push(sumCounts(await job.runUnits()));
      }
      ticks.push(await job.tick());
    }
    return {
      shards,
      unitRequests: median(unitRequests),
      tick: {
        requests: ticks[0]!.requests,
        total: median(ticks.map(({ requests }) => sumCounts(requests))),
        ms: median(ticks.map(({ ms }) => ms)),
        manifestBytes: median(ticks.map(({ manifestBytes }) => manifestBytes)),
      },
    };
  } finally {
    await job.stop();
  }
}

function tabulateModel(
  { keysOfUnit, unitsBetween }: Plan,
  rows: readonly CountedRow[],
): BenchTable {
  return {
    title: `Requests that were counted, of those of the model; units of ${keysOfUnit} keys, ${unitsBetween} of each shard in a checkpoint`,
    columns: [
      { field: 'shards', heading: 'shards' },
      { field: 'unitRequests', heading: 'a unit of each' },
      { field: 'unitRatio', heading: 'of the model', digits: 3 },
      { field: 'tickRequests', heading: 'a checkpoint' },
      { field: 'tickRatio', heading: 'of the model', digits: 3 },
    ],
    rows: rows.map(({ shards, unitRequests, tick }) => ({
      shards,
      unitRequests,
      unitRatio: unitRequests / sumCounts(countUnits(shards, keysOfUnit)),
      tickRequests: tick.total,
      tickRatio: tick.total / sumCounts(countTick(shards, unitsBetween)),
    })),
  };
}

function tabulateThroughput(
  { shards, batchEvents, rounds }: Plan,
  eventsPerSecond: readonly number[],
): BenchTable {
  return {
    title: `Shards in one process, stores in memory: ${batchEvents} events of each at the same time, no key twice (medians of ${rounds})`,
    columns: [
      { field: 'shards', heading: 'shards' },
      { field: 'eventsPerSecond', heading: 'events/s' },
      { field: 'ratio', heading: 'of one shard', digits: 2 },
    ],
    rows: shards.map((count, at) => ({
      shards: count,
      eventsPerSecond: eventsPerSecond[at]!,
      ratio: eventsPerSecond[at]! / eventsPerSecond[0]!,
    })),
  };
}

function tabulateTicks({ rounds }: Plan, rows: readonly CountedRow[]): BenchTable {
  return {
    title: `A checkpoint against channels, DynamoDB and S3 in the same process (medians of ${rounds})`,
    columns: [
      { field: 'shards', heading: 'channels' },
      { field: 'progressReads', heading: 'reads of progress' },
      { field: 'objectReads', heading: 'reads of objects' },
      { field: 'others', heading: 'other requests' },
      { field: 'ms', heading: 'ms', digits: 1 },
      { field: 'manifestBytes', heading: 'manifest, bytes' },
    ],
    rows: rows.map(({ shards, tick }) => {
      const progressReads = tick.requests['control progress GetItem'] ?? 0;
      const objectReads = tick.requests['objects GetObject'] ?? 0;
      const others = tick.total - progressReads - objectReads;
      const { ms, manifestBytes } = tick;
      return { shards, progressReads, objectReads, others, ms, manifestBytes };
    }),
  };
}
