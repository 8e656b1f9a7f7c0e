import { describeThrown } from '../../shared/core/errors.ts';
import { seededRandom, type RandomSource } from '../../shared/core/random.ts';
import { pick } from './engine/gate.ts';
import type { Simulate, SimulationRun } from './simulation-run.ts';

/**
 * What is simulated: one stream's invocations, windows over them, the whole system with its checkpoints and restores, two jobs of
 * which one begins as a clone of the other, or a system that loses its tables.
 */
export const kinds = ['data-path', 'windows', 'system', 'clones', 'lost-tables'] as const;
export type Kind = (typeof kinds)[number];

/** Loaded when they are first needed: a run of one kind does not wait for the others. */
const load: Readonly<Record<Kind, () => Promise<Simulate>>> = {
  'data-path': async () => (await import('./data-path/simulate-data-path.ts')).simulateDataPath,
  windows: async () => (await import('./windows/simulate-windows.ts')).simulateWindows,
  system: async () => (await import('./system/simulate-system.ts')).simulateSystem,
  clones: async () => (await import('./clones/simulate-clones.ts')).simulateClones,
  'lost-tables': async () =>
    (await import('./lost-tables/simulate-lost-tables.ts')).simulateLostTables,
};

/** How many of a hundred seeds each kind gets. The others are run where they are asked for, so that a seed stays what it is. */
const shares: Readonly<Partial<Record<Kind, number>>> = {
  'data-path': 45,
  windows: 15,
  system: 40,
};

/** The kinds that seeds draw for themselves. */
export const drawnKinds = kinds.filter((kind) => shares[kind] !== undefined);

/** A seed's kind, and the dice of its run. */
export interface Seeded {
  readonly kind: Kind;
  readonly random: RandomSource;
}

/** A seed draws its kind first, also where it is given another one: so that it is the same run with its own kind named. */
export function openSeed(seed: number, kind?: Kind): Seeded {
  const random = seededRandom(String(seed));
  const drawn = drawKind(random);
  return { kind: kind ?? drawn, random };
}

function drawKind(random: RandomSource): Kind {
  let rest = pick(random, 100);
  const drawn = kinds.find((kind) => {
    rest -= shares[kind] ?? 0;
    return rest < 0;
  });
  return drawn!;
}

/** A run that throws has found something, too: what, is all that is left of it. */
export async function simulate(kind: Kind, random: RandomSource): Promise<SimulationRun> {
  const run = await load[kind]();
  try {
    return await run(random);
  } catch (thrown) {
    return { findings: [`threw: ${describeThrown(thrown)}`], trace: [], strikes: new Map() };
  }
}
