import type { BenchTable } from '../harness/bench.ts';
import { weighManifest } from './count-model.ts';
import { findLimits, modelCost, modelLoads, modelTickMs } from './job-model.ts';
import { prices, serviceLimits } from './prices.ts';
import { workloads } from './workloads.ts';

/** What the model says of the workloads: loads, limits and cost. */
export function tabulatePaper(): readonly BenchTable[] {
  return [tabulateLoads(), tabulateLimits(), tabulateCosts()];
}

function tabulateLoads(): BenchTable {
  return {
    title: `On paper: what ${workloads[0]!.shards} shards ask of each place, a second, and of the hottest partition as a share of what one gives`,
    columns: [
      { field: 'workload', heading: 'workload' },
      { field: 'place', heading: 'place' },
      { field: 'requestsPerSecond', heading: 'requests', digits: 1 },
      { field: 'writeUnitsPerSecond', heading: 'write units', digits: 1 },
      { field: 'readUnitsPerSecond', heading: 'read units', digits: 1 },
      { field: 'hottestShare', heading: 'hottest', digits: 4 },
    ],
    rows: workloads.flatMap((workload) =>
      modelLoads(workload, serviceLimits).map((load) => ({ workload: workload.name, ...load })),
    ),
  };
}

function tabulateLimits(): BenchTable {
  return {
    title: 'On paper: with how many shards a limit bites',
    columns: [
      { field: 'workload', heading: 'workload' },
      { field: 'shards', heading: 'shards' },
      { field: 'what', heading: 'limit' },
      { field: 'consequence', heading: 'what happens' },
      { field: 'remedy', heading: 'what to do' },
    ],
    rows: workloads.flatMap((workload) =>
      findLimits(workload, serviceLimits).map(({ shards, ...limit }) => ({
        workload: workload.name,
        shards: Math.floor(shards),
        ...limit,
      })),
    ),
  };
}

function tabulateCosts(): BenchTable {
  return {
    title:
      'On paper: a month under full load, USD (prices are in bench/scale/prices.ts), and what a checkpoint takes',
    columns: [
      { field: 'workload', heading: 'workload' },
      { field: 'kinesis', heading: 'Kinesis' },
      { field: 'lambda', heading: 'Lambda' },
      { field: 'dynamodb', heading: 'DynamoDB' },
      { field: 's3', heading: 'S3' },
      { field: 'total', heading: 'total' },
      { field: 'perMillionEvents', heading: 'a million events', digits: 3 },
      { field: 'checkpointMs', heading: 'checkpoint, ms' },
      { field: 'manifestMegabytes', heading: 'manifest, MB', digits: 1 },
    ],
    rows: workloads.map((workload) => {
      const costs = modelCost(workload, serviceLimits, prices);
      const of = (service: string): number => costs.find((one) => one.service === service)!.dollars;
      const total = costs.reduce((sum, { dollars }) => sum + dollars, 0);
      const events = workload.shards * workload.eventsPerSecond * 730 * 3_600;
      return {
        workload: workload.name,
        kinesis: of('Kinesis'),
        lambda: of('Lambda'),
        dynamodb: of('DynamoDB'),
        s3: of('S3'),
        total,
        perMillionEvents: (total / events) * 1e6,
        checkpointMs: modelTickMs(workload, serviceLimits),
        // With the segments of one interval, where merges keep up.
        manifestMegabytes:
          weighManifest(
            workload.shards,
            workload.shards * workload.unitsPerSecond * workload.checkpointSeconds,
          ) / 1e6,
      };
    }),
  };
}
