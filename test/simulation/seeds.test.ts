import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { missingCoverage } from './coverage.ts';
import { sumFaults } from './explore-seeds.ts';
import { kinds } from './kinds.ts';
import { reproduce } from './reproduce.ts';
import { runSeeds } from './run-seeds.ts';
import type { Totals } from './seed-chunk.ts';

const seeds = Number(process.env['HOLDFAST_SEEDS'] ?? 2000);
const from = Number(process.env['HOLDFAST_SEEDS_FROM'] ?? 1);

describe(`the system on ${seeds} seeds, with all that can go wrong`, () => {
  let totals: Totals;

  beforeAll(async () => {
    totals = await runSeeds({ from, seeds, jobs: Math.min(2, availableParallelism()) });
  }, 1_200_000);

  it('gives the tables of a straight run', () => {
    const told = totals.failures.map(
      ({ seed, findings }) => `${reproduce(seed)}\n${findings.slice(0, 5).join('\n')}`,
    );
    expect(told).toEqual([]);
    expect([...totals.runs.values()].reduce((sum, count) => sum + count, 0)).toBe(seeds);
  });

  it('meets every fault of every call', () => {
    expect(missingCoverage(totals)).toEqual([]);
  });

  it('has enough go wrong: anything else would prove nothing', () => {
    const faults = sumFaults(totals);
    const deaths = faults.get('killed before')! + faults.get('killed after')!;
    expect(deaths).toBeGreaterThan(seeds);
    expect(faults.get('refused')).toBeGreaterThan(seeds);
    expect(faults.get('reply-lost')).toBeGreaterThan(seeds / 2);
    expect(faults.get('corrupted')).toBeGreaterThan(seeds / 20);
    expect(faults.get('stale')).toBeGreaterThan(seeds / 40);
    expect(totals.events.get('splits')).toBeGreaterThan(seeds / 3);
    expect(totals.events.get('merges')).toBeGreaterThan(seeds / 10);
    expect(totals.events.get('rows of windows')).toBeGreaterThan(seeds);
    expect(totals.events.get('late rows')).toBeGreaterThan(seeds / 40);
    for (const kind of kinds) expect(totals.runs.get(kind)).toBeGreaterThan(seeds / 10);
  });
});
