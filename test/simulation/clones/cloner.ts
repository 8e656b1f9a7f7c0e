import type { Execution } from '../../../localstack/embedded/step-functions/execution.ts';
import { isUnborn } from '../../../shared/runtime/restore/unborn-job.ts';
import { abortHold } from '../../../shared/runtime/restore/hold.ts';
import { chance, pick } from '../engine/gate.ts';
import type { JobRun } from '../system/run-job.ts';
import type { ClonePlan } from './draw-clone-plan.ts';

/** A clone as whoever has ordered it sees it. */
interface Order {
  readonly name: string;
  readonly manifest: string;
  execution: Execution | undefined;
  /** An execution of it has ended by itself, or has let the job begin. */
  isOver: boolean;
}

/** People who let a job begin as a clone of another one, and do not wait long for it. */
export interface Cloner {
  goOn(mustBegin: boolean): boolean;
  /** Nobody is at work on a clone, and the job has begun. */
  isDone(): boolean;
  readonly totals: { refusals: number; aborts: number; stops: number };
}

/** Executions, and checkpoints of the first job that are waited for, until the clone is taken not to come to its end. */
const executionsMax = 60;

/** Holds that are aborted and executions that are stopped before the job has begun: with more of them, it might never. */
const interferencesMax = 12;

export function createCloner(plan: ClonePlan, first: JobRun, twin: JobRun): Cloner {
  const { world, random, run, portsOf } = twin.stage;
  const { abortProbability } = plan.twin;
  const orders: Order[] = [];
  const totals = { refusals: 0, aborts: 0, stops: 0 };
  let executions = 0;

  const hasBegun = (): boolean => !isUnborn(world.present());

  /** False where there is nothing that could be cloned yet. */
  const order = (): boolean => {
    const { complete } = first.stage.world.registry();
    const chosen = chance(random, 0.3) ? complete.at(-1) : complete[pick(random, complete.length)];
    if (chosen === undefined) return false;
    const name = `c${orders.length + 1}`;
    orders.push({ name, manifest: chosen.object, execution: undefined, isOver: false });
    return true;
  };

  const start = (one: Order): void => {
    executions += 1;
    const { name: restore, manifest } = one;
    const execution = twin.workflows.start('restore', { restore, manifest, clones: true });
    one.execution = execution;
    void execution.settled.then(() => {
      one.execution = undefined;
      const { status, cause = '' } = execution.state();
      if (status === 'FAILED') totals.refusals += 1;
      // Who has flipped goes on under its name, and so does who was stopped: nothing else lets go of what it holds.
      const isMine = world.present().hold?.owner === restore;
      one.isOver = !isMine && (status === 'SUCCEEDED' || !/stopped by hand/.test(cause));
    });
  };

  const interfere = (): void => {
    if (!hasBegun() && totals.aborts + totals.stops >= interferencesMax) return;
    const { hold } = world.present();
    if (hold?.kind === 'restore' && !hold.isFlipped && chance(random, abortProbability)) {
      totals.aborts += 1;
      run('A', (process) => abortHold(portsOf(process), hold.id));
    }
    for (const { execution } of orders) {
      if (execution === undefined) continue;
      if (!chance(random, abortProbability)) continue;
      totals.stops += 1;
      execution.stop({ cause: 'stopped by hand' });
    }
  };

  /** Orders what is still to be ordered; false where nothing is, or can be. */
  const mayOrder = (mustBegin: boolean): boolean => {
    const isDue = orders.length < plan.orders && first.actsLeft() <= plan.orderedAt;
    const isNeeded = mustBegin && !hasBegun() && orders.every(({ isOver }) => isOver);
    if (!(isDue && (mustBegin || chance(random, 0.03))) && !isNeeded) return false;
    if (executions > executionsMax) {
      world.findings.push('the clone does not come to its end');
      return false;
    }
    // An inexact checkpoint is no beginning, and there may be no other yet.
    const hasOrdered = order();
    if (hasOrdered && orders.length <= plan.orders) return true;
    if (!isNeeded) return hasOrdered;
    executions += 1;
    first.tick();
    return true;
  };

  return {
    totals,
    isDone: () => hasBegun() && orders.every(({ isOver }) => isOver),
    goOn(mustBegin) {
      interfere();
      let isMoving = mayOrder(mustBegin);
      for (const one of orders) {
        if (one.isOver || one.execution !== undefined) continue;
        if (!mustBegin && !chance(random, 0.1)) continue;
        start(one);
        isMoving = true;
      }
      // A restore that had taken it over was aborted.
      const left = orders.find(({ name }) => world.present().hold?.owner === name);
      if (left?.isOver === true && mustBegin) {
        left.isOver = false;
        isMoving = true;
      }
      return isMoving;
    },
  };
}
