import type { Execution } from '../../../../localstack/embedded/step-functions/execution.ts';
import { abortHold } from '../../../../shared/runtime/restore/hold.ts';
import { isUnborn } from '../../../../shared/runtime/restore/unborn-job.ts';
import { chance, pick } from '../../engine/gate.ts';
import { listLeft, type LeftManifest } from '../list-left.ts';
import type { Stage } from '../stage.ts';
import type { Workflows } from './workflows.ts';

/** A restore as whoever has ordered it sees it: it is begun again until it is over. */
interface Order {
  readonly name: string;
  readonly manifest: string;
  readonly isDrill: boolean;
  /** R11: nobody gives it up, since the job has nothing else to begin with. */
  readonly areTablesLost: boolean;
  execution: Execution | undefined;
  isOver: boolean;
  tries: number;
}

/** People who restore, drill, stop executions that take too long for them, and begin them again. */
export interface Restorer {
  order(kind: 'restore' | 'drill' | 'restore to a time' | 'restore of lost tables'): void;
  /** Stops everything that was ordered, for ever. */
  giveUpAll(): void;
  goOn(mustBegin: boolean): boolean;
  readonly totals: { restores: number; drills: number; aborts: number };
}

const triesMax = 40;
const flavours = 'ABCDEFGHIJ';

export function createRestorer(
  stage: Stage,
  workflows: Workflows,
  deploy: (flavour: string) => void,
): Restorer {
  const { world, plan, random } = stage;
  const orders: Order[] = [];
  const totals = { restores: 0, drills: 0, aborts: 0 };
  /** Questions that wait for their answer. */
  let asked = 0;

  const place = (manifest: string, isDrill: boolean, areTablesLost = false): void => {
    const name = isDrill ? `drill${(totals.drills += 1)}` : `r${(totals.restores += 1)}`;
    if (!isDrill) deploy(flavours[totals.restores - 1]!);
    const fresh = { execution: undefined, isOver: false, tries: 0 };
    orders.push({ name, manifest, isDrill, areTablesLost, ...fresh });
  };

  /** Who wants a moment of the past has a manifest made for it first. */
  const cutAndPlace = (): void => {
    const arrivals = world.stream
      .shards()
      .flatMap(({ records }) => records.map(({ arrivalMs }) => arrivalMs));
    if (arrivals.length === 0) return;
    asked += 1;
    const timeMs = arrivals[pick(random, arrivals.length)]! + pick(random, 3) - 1;
    workflows
      .ask('restore.cut-at-time', { timeMs })
      // There may be no such moment, nobody who answers, or no job that stands still enough.
      .then(
        (answer) => place((answer as { readonly object: string }).object, false),
        () => undefined,
      )
      .finally(() => (asked -= 1));
  };

  const choose = (complete: readonly LeftManifest[]): LeftManifest | undefined => {
    // Going back to one and the same place again and again is what undoing leads to.
    const undo = complete.findLast(({ kind, generation }) => kind === 'undo' && generation === 1);
    if (undo !== undefined && chance(random, 0.3)) return undo;
    return chance(random, 0.2) ? complete.at(-1) : complete[pick(random, complete.length)];
  };

  const start = (one: Order): void => {
    one.tries += 1;
    if (one.tries > triesMax) {
      world.findings.push(`${one.name} does not come to its end`);
      one.isOver = true;
      return;
    }
    const { name: restore, manifest, isDrill: dryRun, areTablesLost } = one;
    const lost = areTablesLost ? { areTablesLost } : {};
    const execution = workflows.start('restore', { restore, manifest, dryRun, ...lost });
    one.execution = execution;
    void execution.settled.then(() => {
      if (one.execution !== execution) return;
      one.execution = undefined;
      const { status } = execution.state();
      const mine = holdOf(one);
      if (status === 'SUCCEEDED') one.isOver = mine === undefined;
      else if (areTablesLost) one.isOver = mine === undefined && !isUnborn(world.present());
      else if (mine?.isFlipped !== true && (one.isDrill || !chance(random, 0.6))) giveUp(one);
    });
  };

  const holdOf = ({ name }: Order) => {
    const { hold } = world.present();
    return hold?.owner === name ? hold : undefined;
  };

  /** Lets it be, which is an abort where it can be one. */
  const giveUp = (one: Order): void => {
    one.isOver = true;
    const mine = holdOf(one);
    if (mine !== undefined && !mine.isFlipped) abort(mine.id);
  };

  const abort = (holdId: string): void => {
    totals.aborts += 1;
    stage.run('A', (process) => abortHold(stage.portsOf(process), holdId));
  };

  /** Somebody loses patience with a hold, or with an execution: what it has called goes on without it. */
  const interfere = (): void => {
    const { hold } = world.present();
    const isUnflipped = hold?.kind === 'restore' && !hold.isFlipped;
    if (isUnflipped && chance(random, plan.abortProbability)) abort(hold.id);
    for (const one of orders) {
      if (one.execution === undefined) continue;
      if (chance(random, plan.abortProbability)) one.execution.stop({ cause: 'stopped by hand' });
    }
  };

  return {
    totals,
    order(kind) {
      if (kind === 'restore to a time') {
        cutAndPlace();
        return;
      }
      const areTablesLost = kind === 'restore of lost tables';
      const chosen = choose(areTablesLost ? listLeft(world) : world.registry().complete);
      if (chosen !== undefined) place(chosen.object, kind === 'drill', areTablesLost);
    },
    giveUpAll() {
      for (const one of orders) {
        const { execution } = one;
        Object.assign(one, { isOver: true, execution: undefined });
        execution?.stop({ cause: 'stopped by hand' });
      }
    },
    goOn(mustBegin) {
      interfere();
      let hasBegun = asked > 0;
      for (const one of orders) {
        const isFree = !one.isOver && one.execution === undefined;
        if (isFree && (mustBegin || chance(random, 0.1))) {
          start(one);
          hasBegun = true;
        }
      }
      // Given back to, or taken by a late twin of, a restore that nobody looks after any more.
      const owner = orders.find((one) => holdOf(one) !== undefined);
      if (owner?.isOver === true && mustBegin) {
        owner.isOver = false;
        owner.tries = 0;
        hasBegun = true;
      }
      return hasBegun;
    },
  };
}
