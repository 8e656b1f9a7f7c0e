import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, pick } from '../engine/gate.ts';
import type { SimulationRun } from '../simulation-run.ts';
import { drawSystemPlan, type Act, type SystemPlan } from '../system/draw-plan.ts';
import { simulateJob } from '../system/simulate-system.ts';

/** Of a run that dies and fails most at the call that makes the job's item again. */
const focusProbability = 0.3;

/**
 * One run of the whole system in which the job loses all of its tables, once or twice, and is made again from what its bucket has
 * (R11): with nobody at work on it at that moment, and everything else as in a run that loses nothing.
 */
export function simulateLostTables(random: RandomSource): Promise<SimulationRun> {
  const plan = drawSystemPlan(random);
  const isFocused = chance(random, focusProbability);
  const isTidy = chance(random, 0.5);
  const lossy: SystemPlan = {
    ...plan,
    acts: drawLosses(plan.acts, isTidy, random),
    ...(isTidy ? { retained: 1, mergeAfterSegments: 2 } : {}),
    ...(isFocused ? { focus: 'job.create' } : {}),
  };
  return simulateJob(lossy, random);
}

/** In a tidy job segments have been merged and collected before: what they told is lost for good. */
const tidying: readonly Act[] = [{ kind: 'tick' }, { kind: 'tick' }, { kind: 'collect' }];

function drawLosses(acts: readonly Act[], isTidy: boolean, random: RandomSource): Act[] {
  const all = [...acts];
  const losses = chance(random, 0.2) ? 2 : 1;
  const start = Math.floor(all.length / 4);
  for (let loss = 0; loss < losses; loss += 1) {
    const at = start + pick(random, all.length - start + 1);
    all.splice(at, 0, ...(isTidy ? tidying : []), { kind: 'lose tables' });
  }
  return all;
}
