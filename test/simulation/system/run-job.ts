import { chance, pick } from '../engine/gate.ts';
import { openShards, reshardRandomly } from '../engine/reshard.ts';
import { createKeepers } from './actors/keepers.ts';
import { createMapping } from './actors/mapping.ts';
import { createRestorer } from './actors/restorer.ts';
import { createWorkflows, type Workflows } from './actors/workflows.ts';
import { drawJump, type Act } from './draw-plan.ts';
import { listLeft } from './list-left.ts';
import type { Stage } from './stage.ts';

/** One job with everybody who has to do with it, and what its plan lets happen to it. */
export interface JobRun {
  readonly stage: Stage;
  readonly workflows: Workflows;
  /** Acts of the plan that have not happened yet. */
  actsLeft(): number;
  /** A coordinator begins. */
  tick(): void;
  /** Everybody who is at work on the job is gone. */
  giveUp(): void;
  /** Begins what may begin now, or by chance; true where anything was, or is about to be. */
  goOn(mustBegin: boolean): boolean;
  countAll(): Map<string, number>;
}

/** Checkpoints that are waited for, because nothing could be restored yet. */
const retriesMax = 20;

/** @param mayAct whether an act may happen yet; what does not waits. By default all may. */
export function createJobRun(stage: Stage, mayAct: (act: Act) => boolean = () => true): JobRun {
  const { world, plan, random } = stage;
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
  let losses = 0;

  /** A checkpoint before it has died, or is not complete yet. */
  const isPutOff = (one: Act, isReady: boolean): boolean => {
    if (isReady || retries >= retriesMax) return false;
    retries += 1;
    acts.unshift({ kind: 'tick' }, one);
    return true;
  };

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
        if (isPutOff(one, world.registry().complete.length > 0)) return;
        return restorer.order('restore');
      case 'lose tables':
        if (isPutOff(one, listLeft(world).length > 0)) return;
        return loseTables();
      case 'restore to a time':
      case 'drill':
        return restorer.order(one.kind);
    }
  };

  const giveUp = (): void => {
    restorer.giveUpAll();
    keepers.giveUpAll();
    stage.killAll();
  };

  /** Nobody who was at work when the tables went goes on: none of their calls has found one. */
  const loseTables = (): void => {
    if (listLeft(world).length === 0) return;
    giveUp();
    losses += 1;
    world.loseTables();
    restorer.order('restore of lost tables');
  };

  return {
    ...{ stage, workflows, giveUp },
    actsLeft: () => acts.length,
    tick: () => keepers.tick(),
    goOn(mustBegin) {
      if (world.findings.length > 0) return false;
      let hasBegun = false;
      const next = acts[0];
      const isReady = next !== undefined && mayAct(next);
      if (isReady && (mustBegin || chance(random, plan.actProbability))) {
        act(acts.shift()!);
        hasBegun = true;
      }
      if (restorer.goOn(mustBegin)) hasBegun = true;
      if (keepers.goOn(mustBegin)) hasBegun = true;
      if (mapping.goOn(mustBegin)) hasBegun = true;
      return hasBegun;
    },
    countAll: () =>
      new Map(
        Object.entries({
          ...restorer.totals,
          ...keepers.totals,
          flips: world.present().timeline.length,
          ...(losses > 0 ? { losses } : {}),
        }),
      ),
  };
}
