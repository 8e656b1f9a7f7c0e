import { describe, expect, it } from 'vitest';
import {
  countHeaders,
  countTick,
  countUnits,
  weighManifest,
} from '../../bench/scale/count-model.ts';
import { createCountedJob, type CountedJob } from '../../bench/scale/counted-job.ts';
import {
  findLimits,
  modelCost,
  modelLoads,
  modelTickMs,
  type Workload,
} from '../../bench/scale/job-model.ts';
import { prices, serviceLimits } from '../../bench/scale/prices.ts';
import { workloads } from '../../bench/scale/workloads.ts';

const keysOfUnit = 30;

/** Runs a job of so many shards whose environments are warm and that has had a checkpoint. */
const withJob = async (shards: number, run: (job: CountedJob) => Promise<void>) => {
  const job = await createCountedJob(shards, keysOfUnit);
  try {
    await job.runUnits();
    await job.tick();
    await run(job);
  } finally {
    await job.stop();
  }
};

describe('the model of requests', () => {
  it.each([1, 2, 4, 8, 16])('gives every request that is counted for %i shards', (shards) =>
    withJob(shards, async (job) => {
      expect(await job.runUnits()).toEqual(countUnits(shards, keysOfUnit));
      expect((await job.tick()).requests).toEqual(countTick(shards, 1));
      for (let unit = 0; unit < 3; unit += 1) await job.runUnits();
      expect((await job.tick()).requests).toEqual(countTick(shards, 3));
    }),
  );

  it('knows how many headers of segments a checkpoint reads', () =>
    withJob(1, async (job) => {
      for (const units of [2, 65, 66]) {
        for (let unit = 0; unit < units; unit += 1) await job.runUnits();
        expect((await job.tick()).requests).toEqual(countTick(1, units));
      }
      expect([0, 1, 2, 65, 66, 129, 130].map(countHeaders)).toEqual([0, 0, 1, 1, 2, 2, 3]);
    }));

  it.each([
    [1, 3],
    [4, 6],
  ])('weighs the manifest of %i channels with %i segments each within 5 %', (shards, segments) =>
    withJob(shards, async (job) => {
      for (let unit = 1; unit < segments; unit += 1) await job.runUnits();
      const { manifestBytes } = await job.tick();
      const ratio = manifestBytes / weighManifest(shards, shards * segments);
      expect(Math.abs(ratio - 1)).toBeLessThan(0.05);
    }),
  );
});

const workload: Workload = {
  name: 'small',
  shards: 10,
  eventsPerSecond: 100,
  unitsPerSecond: 0.5,
  keysOfUnit: 50,
  itemKilobytes: 2,
  entryBytes: 100,
  maxParallelism: 4,
  checkpointSeconds: 60,
  unitSeconds: 0.2,
  functionGigabytes: 1,
};

const loadOf = (used: Workload, place: string) =>
  modelLoads(used, serviceLimits).find((load) => load.place.startsWith(place))!;

describe('the model of a job', () => {
  it('counts an item for each key of each unit, over all key groups', () => {
    const state = loadOf(workload, 'state');
    expect(state.writeUnitsPerSecond).toBe(10 * 0.5 * 50 * 2);
    expect(state.requestsPerSecond).toBe(10 * 0.5 * 2);
    expect(state.hottestShare).toBe(500 / 4 / 1_000);
  });

  it('reads and swaps the progress of a channel once for each unit, and reads it for each checkpoint', () => {
    const progress = loadOf(workload, 'control: progress');
    expect(progress.writeUnitsPerSecond).toBe(5);
    expect(progress.readUnitsPerSecond).toBeCloseTo(5 + 10 / 60);
  });

  it.each(workloads)('says where its own limits bite: $name', (used) => {
    for (const { what, shards } of findLimits(used, serviceLimits)) {
      const there = { ...used, shards };
      if (what.includes('key group')) {
        expect(loadOf(there, 'state').hottestShare).toBeCloseTo(1);
      }
      if (what.includes('state table')) {
        const { writeUnitsPerSecond } = loadOf(there, 'state');
        expect(writeUnitsPerSecond).toBeCloseTo(serviceLimits.tableWriteUnits);
      }
    }
  });

  it('has a checkpoint of 1,000 channels take more than one of 10, and less than a minute', () => {
    const [few, many] = [10, 1_000].map((shards) =>
      modelTickMs({ ...workload, shards }, serviceLimits),
    );
    expect(many).toBeGreaterThan(few!);
    expect(many).toBeLessThan(60_000);
  });

  it('costs what its requests cost', () => {
    const costs = new Map(
      modelCost(workload, serviceLimits, prices).map(({ service, dollars }) => [service, dollars]),
    );
    const seconds = 730 * 3_600;
    expect(costs.get('Kinesis')).toBeCloseTo(10 * 730 * 0.015 + (1_000 * seconds * 0.014) / 1e6, 4);
    // 500 units for states, 5 for progress, and the registry's two a minute.
    const written = ((505 + 2 / 60) * seconds * 0.625) / 1e6;
    expect(costs.get('DynamoDB')).toBeGreaterThan(written);
    expect(costs.get('DynamoDB')).toBeLessThan(written * 1.01);
    expect(costs.get('S3')).toBeGreaterThan((5 * seconds * 0.005) / 1_000);
    expect(costs.get('Lambda')).toBeGreaterThan(5 * seconds * 0.2 * 0.0000133334);
  });
});
