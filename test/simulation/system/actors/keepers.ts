import type { Execution } from '../../../../localstack/embedded/step-functions/execution.ts';
import type { CheckpointSettings } from '../../../../shared/core/coordination.ts';
import { collectGarbage } from '../../../../shared/runtime/checkpoint/collect-garbage.ts';
import { runCoordinator } from '../../../../shared/runtime/checkpoint/run-coordinator.ts';
import { abortHold } from '../../../../shared/runtime/restore/hold.ts';
import { deadlineAt } from '../../../../shared/runtime/deadline.ts';
import { chance, pick } from '../../engine/gate.ts';
import type { SystemPlan } from '../draw-plan.ts';
import { describe, type Stage } from '../stage.ts';
import type { Workflows } from './workflows.ts';

/** Who looks after a job: coordinators, of which two may be at work at once, collectors of garbage, and who saves. */
export interface Keepers {
  tick(): void;
  collect(): void;
  save(stops: boolean): void;
  /** Deletes a savepoint, or the state of a generation that is over. */
  tidy(): void;
  /** Stops the savepoints that are being made. */
  giveUpAll(): void;
  goOn(mustBegin: boolean): boolean;
  readonly totals: { ticks: number; collections: number; savepoints: number };
}

const minuteMs = 60_000;
const tickMs = 55_000;

export function createKeepers(stage: Stage, workflows: Workflows): Keepers {
  const { world, plan, random } = stage;
  const totals = { ticks: 0, collections: 0, savepoints: 0 };
  const saving = new Set<Execution>();
  let asked = 0;
  const settings: CheckpointSettings = {
    intervalMs: 10_000,
    timeoutMs: 600_000,
    minPauseMs: 0,
    maxConcurrent: 1,
    tolerableFailures: 3,
    retained: plan.retained,
  };

  /** The command line asks; a refusal is an answer. */
  const ask = (step: string, input: object): void => {
    asked += 1;
    workflows
      .ask(step, input)
      .catch(() => undefined)
      .finally(() => (asked -= 1));
  };

  const giveUpAll = (): void => {
    for (const execution of saving) execution.stop({ cause: 'stopped by hand' });
  };

  /** Lets a job go on that was stopped, or that a savepoint holds which was stopped by hand. */
  const resume = (): boolean => {
    const { hold } = world.present();
    if (hold === undefined || hold.kind === 'restore' || hold.kind === 'unborn') return false;
    if (hold.kind === 'stopped') ask('job.resume', {});
    else stage.run('A', (process) => abortHold(stage.portsOf(process), hold.id));
    return true;
  };

  return {
    totals,
    tick() {
      totals.ticks += 1;
      if (chance(random, plan.turnProbability)) {
        // The minute in which garbage is collected and channels are visited.
        const everyMs = 15 * minuteMs;
        world.system.advance(everyMs - (world.system.now() % everyMs));
      }
      stage.run('K', (process) => {
        const ports = stage.portsOf(process);
        const { system } = ports;
        const coordinator = {
          ...ports,
          metrics: { publish: () => undefined },
          mergeThresholds: { segmentsMax: plan.mergeAfterSegments, segmentBytesMax: 1e9 },
        };
        return runCoordinator(coordinator, settings, deadlineAt(system, system.now() + tickMs));
      });
    },
    collect() {
      totals.collections += 1;
      const graceMs = chance(random, 0.5) ? 0 : 10 * minuteMs;
      const namesAtOnce = chance(random, 0.5) ? 1 + pick(random, 5) : 1000;
      stage.run('G', (process) =>
        collectGarbage(stage.portsOf(process), { graceMs, dryRun: false, namesAtOnce }),
      );
    },
    save(stops) {
      totals.savepoints += 1;
      const execution = workflows.start('savepoint', { label: `s${totals.savepoints}`, stops });
      saving.add(execution);
      void execution.settled.then(() => {
        saving.delete(execution);
        const { status, cause } = execution.state();
        if (status === 'SUCCEEDED' || isRefusal(cause, plan)) return;
        world.findings.push(`savepoint ${execution.input} ended ${status}: ${describe(cause)}`);
      });
    },
    tidy() {
      const { complete } = world.registry();
      const savepoints = complete.filter(({ kind }) => kind === 'savepoint');
      const savepoint = savepoints[pick(random, savepoints.length)];
      if (savepoint !== undefined && chance(random, 0.6)) {
        ask('savepoint.delete', { label: savepoint.label });
        return;
      }
      const { generation: present, timeline } = world.present();
      const past = [1, ...timeline.map(({ generation }) => generation)];
      const generation = past[pick(random, past.length)]!;
      if (generation === present) return;
      const deletion = { isDone: false, operator: '', group: 0, items: 0, rounds: 0 };
      ask('generation.delete', { generation, deletion });
    },
    giveUpAll,
    goOn(mustBegin) {
      if (chance(random, plan.abortProbability)) giveUpAll();
      const mayResume = mustBegin || chance(random, 0.01);
      return asked > 0 || (saving.size === 0 && mayResume && resume());
    },
  };
}

/** Why a savepoint may come to nothing. */
function isRefusal(cause: string | undefined, { corruptShare }: SystemPlan): boolean {
  if (corruptShare > 0 && /checksum|damaged/.test(cause ?? '')) return true;
  return /stopped by hand|is held by|is over|has gone over|wait for it|taken away|has had keys past|was changed by|refused|no reply|does not answer|has no item in|has not begun|cut\.json is not in the bucket/.test(
    cause ?? '',
  );
}
