import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, pick } from '../engine/gate.ts';
import type { SimulationRun } from '../simulation-run.ts';
import { drawSystemPlan, type Act } from '../system/draw-plan.ts';
import { simulateJob } from '../system/simulate-system.ts';

/** Of a run that dies and fails most at the call that makes the job's item again. */
const focusProbability = 0.1;

/**
 * One run of the whole system in which the job loses all of its tables, once or twice, and is made again from what its bucket has
 * (R11): with nobody at work on it at that moment, and everything else as in a run that loses nothing.
 */
export function simulateLostTables(random: RandomSource): Promise<SimulationRun> {
  const plan = drawSystemPlan(random);
  const isFocused = chance(random, focusProbability);
  const acts = drawLosses(plan.acts, random);
  return simulateJob({ ...plan, acts, ...(isFocused ? { focus: 'job.create' } : {}) }, random);
}

function drawLosses(acts: readonly Act[], random: RandomSource): Act[] {
  const all = [...acts];
  const losses = chance(random, 0.2) ? 2 : 1;
  const start = Math.floor(all.length / 4);
  for (let loss = 0; loss < losses; loss += 1) {
    all.splice(start + pick(random, all.length - start + 1), 0, { kind: 'lose tables' });
  }
  return all;
}
