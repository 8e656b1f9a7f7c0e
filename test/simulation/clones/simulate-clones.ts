import type { RandomSource } from '../../../shared/core/random.ts';
import type { Pin } from '../../../shared/core/registry.ts';
import { isUnborn } from '../../../shared/runtime/restore/unborn-job.ts';
import { countReshardings } from '../engine/count-reshardings.ts';
import { chance } from '../engine/gate.ts';
import { createFindingMarks } from '../finding-marks.ts';
import type { SimulationRun } from '../simulation-run.ts';
import { outliveClonePins } from '../system/calm-world.ts';
import { auditWhole, findFailures, lateSeconds } from '../system/audit-whole.ts';
import type { Act } from '../system/draw-plan.ts';
import { createJobRun, type JobRun } from '../system/run-job.ts';
import { createStage } from '../system/stage.ts';
import { createSystemWorld, type SystemWorld } from '../system/system-world.ts';
import { createCloner, type Cloner } from './cloner.ts';
import { drawClonePlan, type ClonePlan } from './draw-clone-plan.ts';

/** What the clone runs from its first record on: code of its own, newer than any of the first job. */
const twinCode = { flavour: 'I', version: 50 };

/**
 * One run of two jobs on one stream (R12): the second, with stores of its own, begins as a clone of the first one, while that goes
 * on with everything that a run of the system has; then the clone does, and the first one may be gone with all that it had.
 */
export async function simulateClones(random: RandomSource): Promise<SimulationRun> {
  const plan = drawClonePlan(random);
  const run = await createPair(plan, random);
  const { first, twin, worlds } = run;
  const { gate, processes } = first.stage;
  const findings = (): string[] => worlds.flatMap((world) => world.findings);
  const marks = worlds.map((world) => createFindingMarks(gate, world.findings));
  const note = (): void => marks.forEach((one) => one.note());
  try {
    await gate.drain(
      (labels) => {
        note();
        first.stage.world.system.advance(plan.first.stepMs);
        if (chance(random, 0.01)) {
          for (const world of worlds) world.state.collectExpired(lateSeconds(world));
        }
        run.goOn(false);
        return processes.choose(labels, () => run.goOn(true));
      },
      () => findings().length === 0 && run.goOn(true),
    );
  } finally {
    await Promise.all([first.workflows.stop(), twin.workflows.stop()]);
    note();
  }
  const found = [...findings(), ...findFailures(first.stage), ...findFailures(twin.stage)];
  if (found.length === 0) found.push(...(await run.audit()));
  const events = new Map<string, number>([
    ...Object.entries(processes.totals),
    ...run.countAll(),
    ...countReshardings(first.stage.world.stream),
  ]);
  return { findings: found, trace: gate.trace, strikes: gate.strikes, events };
}

async function createPair(plan: ClonePlan, random: RandomSource) {
  const seed = String(random());
  const world = await createSystemWorld({ seed, ...plan.first });
  const twinWorld = await createSystemWorld({ seed, ...plan.twin, job: 'twin', cloneOf: world });
  const first = createJobRun(createStage(world, plan.first, random));
  const stage = createStage(twinWorld, plan.twin, random, {
    ...{ beside: first.stage, mark: 'twin', code: twinCode },
  });
  const hasBegun = (): boolean => !isUnborn(twinWorld.present());
  const mayAct = ({ kind }: Act): boolean => hasBegun() || kind === 'tick' || kind === 'collect';
  const twin = createJobRun(stage, mayAct);
  const cloner = createCloner(plan, first, twin);
  let isGone = false;
  let pinsLeft = 0;

  /** R12: nothing of the clone needs the other job any more. */
  const mayLoseFirst = (): void => {
    if (isGone || !plan.losesFirst || !cloner.isDone() || !chance(random, 0.02)) return;
    isGone = true;
    stage.gate.trace.push('  — the first job is gone');
    first.giveUp();
    world.loseTables();
    for (const name of world.objects.objects().keys()) world.objects.lose(name);
  };

  return {
    ...{ first, twin, worlds: [world, twinWorld] },
    goOn(mustBegin: boolean): boolean {
      mayLoseFirst();
      const moves = [
        !isGone && first.goOn(mustBegin),
        cloner.goOn(mustBegin),
        twin.goOn(mustBegin),
      ];
      return moves.includes(true);
    },
    async audit(): Promise<string[]> {
      // Nobody waits for who was stopped or given up as dead, and it may set a pin when all is over.
      const mayLeavePins = cloner.totals.stops + stage.processes.totals.sleeps > 0;
      const ofFirst: string[] = [];
      if (!isGone) {
        pinsLeft = clonePins(world).length;
        ofFirst.push(...(mayLeavePins ? [] : tellPins(world)), ...(await auditWhole(world)));
      }
      const ofTwin = await auditWhole(twinWorld);
      if (!isGone) {
        await outliveClonePins(world);
        ofFirst.push(...tellPins(world), ...world.findings);
      }
      return [
        ...ofFirst.map((finding) => `${world.job}: ${finding}`),
        ...ofTwin.map((finding) => `${twinWorld.job}: ${finding}`),
      ];
    },
    countAll: () =>
      countPair(first, twin, cloner)
        .set('clones', hasBegun() ? 1 : 0)
        .set('pins left', pinsLeft)
        .set('jobs gone', isGone ? 1 : 0),
  };
}

function clonePins(world: SystemWorld): readonly Pin[] {
  return world.registry().pins.filter(({ owner }) => owner.startsWith('clone '));
}

/** R12: the clone has taken away what it had in the other job's registry. */
function tellPins(world: SystemWorld): string[] {
  return clonePins(world).map(({ owner, object }) => `end: ${owner} still has a pin on ${object}`);
}

function countPair(first: JobRun, twin: JobRun, { totals }: Cloner): Map<string, number> {
  const counts = first.countAll();
  for (const [name, count] of [...twin.countAll(), ...Object.entries(totals)]) {
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return counts;
}
