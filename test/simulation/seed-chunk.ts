import { addCounts, coverageOf, type Coverage } from './coverage.ts';
import { openSeed, simulate, type Kind } from './kinds.ts';

/** Seeds that are run one after the other, by one worker. */
export interface SeedChunk {
  readonly from: number;
  readonly seeds: number;
  /** @default each seed's own */
  readonly kind?: Kind;
  /** Goes on behind a seed that finds something. */
  readonly isWhole: boolean;
}

export interface Failure {
  readonly seed: number;
  readonly kind: Kind;
  readonly findings: readonly string[];
}

/** What runs have come to, added up. */
export interface Totals extends Coverage {
  /** Runs of each kind. */
  readonly runs: ReadonlyMap<string, number>;
  readonly events: ReadonlyMap<string, number>;
  /** In the order of seeds. */
  readonly failures: readonly Failure[];
}

export async function runChunk({ from, seeds, kind, isWhole }: SeedChunk): Promise<Totals> {
  let totals = noTotals;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const seeded = openSeed(seed, kind);
    const run = await simulate(seeded.kind, seeded.random);
    const { findings, events = new Map<string, number>() } = run;
    const failures = findings.length === 0 ? [] : [{ seed, kind: seeded.kind, findings }];
    const runs = new Map([[seeded.kind, 1]]);
    totals = addTotals(totals, { runs, events, failures, ...coverageOf(run) });
    if (failures.length > 0 && !isWhole) break;
  }
  return totals;
}

export const noTotals: Totals = {
  runs: new Map(),
  events: new Map(),
  failures: [],
  steps: new Map(),
  strikes: new Map(),
};

export function addTotals(a: Totals, b: Totals): Totals {
  return {
    runs: addCounts(a.runs, b.runs),
    events: addCounts(a.events, b.events),
    failures: [...a.failures, ...b.failures].sort((left, right) => left.seed - right.seed),
    steps: addCounts(a.steps, b.steps),
    strikes: addCounts(a.strikes, b.strikes),
  };
}
