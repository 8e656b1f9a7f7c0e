import { availableParallelism } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { callsOfKinds, missingCoverage } from './coverage.ts';
import { sumFaults } from './explore-seeds.ts';
import { drawnKinds, type Kind } from './kinds.ts';
import { reproduce } from './reproduce.ts';
import { runSeeds } from './run-seeds.ts';
import { addTotals, noTotals, type Totals } from './seed-chunk.ts';

const seeds = Number(process.env['HOLDFAST_SEEDS'] ?? 2000);
const from = Number(process.env['HOLDFAST_SEEDS_FROM'] ?? 1);
const jobs = Math.min(2, availableParallelism());

/** What failed, each with the command that runs it again. */
const tellFailures = ({ failures }: Totals, kind?: Kind): string[] =>
  failures.map(
    ({ seed, findings }) => `${reproduce(seed, kind)}\n${findings.slice(0, 5).join('\n')}`,
  );

describe(`the system on ${seeds} seeds, with all that can go wrong`, () => {
  let totals: Totals;

  beforeAll(async () => {
    totals = await runSeeds({ from, seeds, jobs });
  }, 1_200_000);

  it('gives the tables of a straight run', () => {
    expect(tellFailures(totals)).toEqual([]);
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
    for (const kind of drawnKinds) expect(totals.runs.get(kind)).toBeGreaterThan(seeds / 10);
  });
});

/** Kinds that no seed draws for itself, and how many seeds each of them gets. */
const besides: readonly (readonly [Kind, number])[] = [
  ['clones', Math.ceil(seeds / 33)],
  ['lost-tables', Math.ceil(seeds / 26)],
];

describe('clones, and jobs that lose their tables, with all that can go wrong', () => {
  let totals = noTotals;

  it.each(besides)(
    '%s: all jobs have in the end what a straight run gives',
    async (kind, count) => {
      const run = await runSeeds({ from, seeds: count, kind, jobs });
      totals = addTotals(totals, run);
      expect(tellFailures(run, kind)).toEqual([]);
    },
    1_200_000,
  );

  it('meet every fault of the calls that are theirs alone', () => {
    for (const call of callsOfKinds)
      expect([call, totals.steps.get(call)]).not.toContain(undefined);
    const missing = missingCoverage(totals);
    const isTheirs = (line: string): boolean => callsOfKinds.some((call) => line.includes(call));
    expect(missing.filter(isTheirs)).toEqual([]);
  });

  it('have enough happen', () => {
    const [clones, losses] = besides.map(([, count]) => count) as [number, number];
    expect(totals.events.get('clones')).toBeGreaterThan(clones * 0.9);
    expect(totals.events.get('jobs gone')).toBeGreaterThan(clones / 20);
    // Those of who was stopped or slept; anybody else's would have been found.
    expect(totals.events.get('pins left')).toBeLessThan(clones / 10);
    expect(totals.events.get('losses')).toBeGreaterThan(losses * 0.8);
    expect(totals.events.get('restores')).toBeGreaterThan(losses);
  });
});
