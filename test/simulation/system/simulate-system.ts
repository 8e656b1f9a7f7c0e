import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, pick } from '../engine/gate.ts';
import { openShards, reshardRandomly } from '../engine/reshard.ts';
import { createKeepers } from './actors/keepers.ts';
import { createMapping } from './actors/mapping.ts';
import { createRestorer } from './actors/restorer.ts';
import { createWorkflows } from './actors/workflows.ts';
import { auditRetained } from './audit-manifests.ts';
import { auditRestored, auditUnswept } from './audit-restore.ts';
import { calmDown, sweepAll, takeCheckpoint } from './calm-world.ts';
import { drawJump, drawSystemPlan, type Act, type SystemPlan } from './draw-plan.ts';
import type { SimulationRun } from '../simulation-run.ts';
import { countReshardings } from '../engine/count-reshardings.ts';
import { createFindingMarks } from '../finding-marks.ts';
import { createStage } from './stage.ts';
import { createSystemWorld, type SystemWorld } from './system-world.ts';

/**
 * One run of the whole system: a stream that goes on and is resharded; operators behind an event source mapping; coordinators,
 * collectors of garbage, savepoints, drills and restores, by the workflows that are deployed; processes that die, or sleep and go on
 * when nobody expects it; refused calls, lost replies, turned bits, clocks that jump; under every order of steps that the dice pick.
 */
export async function simulateSystem(random: RandomSource): Promise<SimulationRun> {
  const plan = drawSystemPlan(random);
  const world = await createSystemWorld({ seed: String(random()), ...plan });
  const run = createRun(world, plan, random);
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
  const findings = [...world.findings, ...findFailures(world, plan)];
  if (findings.length === 0) findings.push(...(await auditEnd(world)));
  const { trace, strikes } = gate;
  return { findings, trace, strikes, events: run.countAll() };
}

/** What a coordinator has met that does not pass by itself: nothing in a run whose bytes all come as they were. */
function findFailures({ telemetry }: SystemWorld, { corruptShare }: SystemPlan): string[] {
  if (corruptShare > 0) return [];
  return (
    telemetry.lines
      .filter(({ level, message }) => level === 'error' && / failed$/.test(message))
      .map(({ message, fields }) => `${message}: ${String(fields['reason'])}`)
      // Another coordinator has finished it, and a third has collected what it was made of.
      .filter((failure) => !/has no plan; it is over/.test(failure))
  );
}

/** Retention and most of the day after it: a late redelivery can still come. */
function lateSeconds({ stream }: SystemWorld): number {
  return stream.incarnation.createdAtMs / 1000 + (stream.retentionHours + 23) * 3600;
}

/** All records are read, all that was late has landed, everything is swept, and one more checkpoint is taken. */
async function auditEnd(world: SystemWorld): Promise<string[]> {
  await calmDown(world);
  const findings = await auditUnswept(world);
  await sweepAll(world);
  await takeCheckpoint(world);
  findings.push(...(await auditRetained(world)));
  return [...world.findings, ...findings, ...(await auditRestored(world))];
}

function createRun(world: SystemWorld, plan: SystemPlan, random: RandomSource) {
  const stage = createStage(world, plan, random);
  const { processes } = stage;
  const workflows = createWorkflows(stage);
  const mapping = createMapping(stage);
  const deploy = (flavour: string): void => {
    stage.deploy(flavour);
    mapping.deploy();
  };
  const restorer = createRestorer(stage, workflows, deploy);
  const keepers = createKeepers(stage, workflows);
  const acts = [...plan.acts];
  let retries = 0;

  const act = (one: Act): void => {
    stage.gate.trace.push(`  — ${one.kind}`);
    switch (one.kind) {
      case 'put':
        return world.put(one.account, one.message);
      case 'heartbeat': {
        const open = openShards(world.stream);
        return world.putHeartbeat(open[pick(random, open.length)]!.shardId, one.at);
      }
      case 'split or merge':
        return reshardRandomly(world.stream, random);
      case 'tick':
        return keepers.tick();
      case 'collect':
        return keepers.collect();
      case 'savepoint':
      case 'savepoint with stop':
        return keepers.save(one.kind === 'savepoint with stop');
      case 'tidy':
        return keepers.tidy();
      case 'deploy':
        return deploy(stage.code().flavour);
      case 'clock jump':
        return world.system.advance(drawJump(random));
      case 'restore':
        if (world.registry().complete.length === 0 && retries < 20) {
          // The checkpoint before it has died, or is not complete yet.
          retries += 1;
          acts.unshift({ kind: 'tick' }, one);
          return;
        }
        return restorer.order('restore');
      case 'restore to a time':
      case 'drill':
        return restorer.order(one.kind);
    }
  };

  return {
    stage,
    workflows,
    /** Begins what may begin now, or by chance; true where anything was, or is about to be. */
    goOn(mustBegin: boolean): boolean {
      if (world.findings.length > 0) return false;
      let hasBegun = false;
      if (acts.length > 0 && (mustBegin || chance(random, plan.actProbability))) {
        act(acts.shift()!);
        hasBegun = true;
      }
      if (restorer.goOn(mustBegin)) hasBegun = true;
      if (keepers.goOn(mustBegin)) hasBegun = true;
      if (mapping.goOn(mustBegin)) hasBegun = true;
      return hasBegun;
    },
    countAll: () =>
      new Map<string, number>([
        ...Object.entries({
          ...processes.totals,
          ...restorer.totals,
          ...keepers.totals,
          flips: world.present().timeline.length,
        }),
        ...countReshardings(world.stream),
      ]),
  };
}
