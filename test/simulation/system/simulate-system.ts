import type { RandomSource } from '../../../shared/core/random.ts';
import { chance } from '../engine/gate.ts';
import { auditWhole, findFailures, lateSeconds } from './audit-whole.ts';
import { drawSystemPlan, type SystemPlan } from './draw-plan.ts';
import type { SimulationRun } from '../simulation-run.ts';
import { countReshardings } from '../engine/count-reshardings.ts';
import { createFindingMarks } from '../finding-marks.ts';
import { createJobRun } from './run-job.ts';
import { createStage } from './stage.ts';
import { createSystemWorld } from './system-world.ts';

/**
 * One run of the whole system: a stream that goes on and is resharded; operators behind an event source mapping; coordinators,
 * collectors of garbage, savepoints, drills and restores, by the workflows that are deployed; processes that die, or sleep and go on
 * when nobody expects it; refused calls, lost replies, turned bits, clocks that jump; under every order of steps that the dice pick.
 */
export function simulateSystem(random: RandomSource): Promise<SimulationRun> {
  return simulateJob(drawSystemPlan(random), random);
}

/** One run of a job by a plan. */
export async function simulateJob(plan: SystemPlan, random: RandomSource): Promise<SimulationRun> {
  const world = await createSystemWorld({ seed: String(random()), ...plan });
  const run = createJobRun(createStage(world, plan, random));
  const { gate, processes } = run.stage;
  const marks = createFindingMarks(gate, world.findings);
  try {
    await gate.drain(
      (labels) => {
        marks.note();
        world.system.advance(plan.stepMs);
        // DynamoDB collects what has expired; long after the last record nothing of this run must have.
        if (chance(random, 0.01)) world.state.collectExpired(lateSeconds(world));
        run.goOn(false);
        return processes.choose(labels, () => run.goOn(true));
      },
      () => world.findings.length === 0 && run.goOn(true),
    );
  } finally {
    await run.workflows.stop();
    marks.note();
  }
  const findings = [...world.findings, ...findFailures(run.stage)];
  if (findings.length === 0) findings.push(...(await auditWhole(world)));
  const { trace, strikes } = gate;
  const events = new Map<string, number>([
    ...Object.entries(processes.totals),
    ...run.countAll(),
    ...countReshardings(world.stream),
  ]);
  return { findings, trace, strikes, events };
}
