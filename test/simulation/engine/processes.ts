import { HoldfastError } from '../../../shared/core/errors.ts';
import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, kindOfStep, pick, type ChooseStep, type StepOwner } from './gate.ts';

/** Something that makes port calls of its own: an invocation, a visit, a restore, a checkpoint. */
export interface Process {
  readonly owner: StepOwner;
  /** Who waits for it takes it for dead: it was killed, or has not been heard of for too long. */
  readonly onLost: () => void;
}

export interface ProcessFaults {
  readonly killProbability: number;
  readonly killsMax: number;
  /** Of a process being left alone for long: it is given up by everybody, and goes on much later all the same. */
  readonly sleepProbability: number;
  readonly sleepStepsMax: number;
  /** The kind of call at which most deaths come; the others go by their probability. */
  readonly focus?: string;
}

/** Of a death at a call in focus. */
const focusProbability = 0.3;

export interface Processes {
  begin(kind: string, onLost: () => void): Process;
  end(process: Process): void;
  /** Never goes on again. */
  kill(process: Process): void;
  /** Kills all of such names, those that sleep and those that nobody waits for any more, too. */
  killAll(areMeant: (name: string) => boolean): void;
  /**
   * Picks the next step. Where all sleep, `onAllAsleep` may begin something else; where it does not, the one that sleeps the
   * shortest wakes.
   */
  choose(labels: readonly string[], onAllAsleep: () => boolean): ReturnType<ChooseStep>;
  readonly totals: { kills: number; sleeps: number; processes: number };
}

export function createProcesses(random: RandomSource, faults: ProcessFaults): Processes {
  /** All that have begun and not ended, and of those the ones that somebody still counts on. */
  const begun = new Set<Process>();
  const alive = new Map<string, Process>();
  const asleepUntil = new Map<string, number>();
  const totals = { kills: 0, sleeps: 0, processes: 0 };
  let steps = 0;
  const isAsleep = (name: string): boolean => (asleepUntil.get(name) ?? 0) > steps;
  const kill = (process: Process): void => {
    process.owner.isDead = true;
    alive.delete(process.owner.name);
    process.onLost();
  };
  return {
    totals,
    begin(kind, onLost) {
      totals.processes += 1;
      const owner: StepOwner = { name: `${kind}${totals.processes}`, isDead: false };
      const process = { owner, onLost };
      begun.add(process);
      alive.set(owner.name, process);
      return process;
    },
    end(process) {
      begun.delete(process);
      alive.delete(process.owner.name);
    },
    kill,
    killAll(areMeant) {
      for (const process of [...begun]) {
        if (!areMeant(process.owner.name)) continue;
        if (alive.has(process.owner.name)) kill(process);
        process.owner.isDead = true;
        begun.delete(process);
      }
    },
    choose(labels, onAllAsleep) {
      steps += 1;
      const names = labels.map((label) => label.split(' ')[0]!);
      let awake = names.map((_, at) => at).filter((at) => !isAsleep(names[at]!));
      if (awake.length === 0) {
        if (onAllAsleep()) return { index: -1, choice: 'proceed' };
        const soonest = names.reduce((a, b) =>
          asleepUntil.get(a)! <= asleepUntil.get(b)! ? a : b,
        );
        asleepUntil.delete(soonest);
        awake = names.map((_, at) => at).filter((at) => names[at] === soonest);
      }
      const index = awake[pick(random, awake.length)]!;
      const name = names[index]!;
      const process = alive.get(name);
      if (process === undefined) return { index, choice: 'proceed' };
      const isInFocus =
        faults.focus !== undefined && kindOfStep(labels[index]!.split(' ')[2]!) === faults.focus;
      const killProbability = isInFocus ? focusProbability : faults.killProbability;
      if (totals.kills < faults.killsMax && chance(random, killProbability)) {
        totals.kills += 1;
        alive.delete(name);
        process.onLost();
        return { index, choice: 'kill' };
      }
      if (totals.sleeps < faults.killsMax && chance(random, faults.sleepProbability)) {
        totals.sleeps += 1;
        asleepUntil.set(name, steps + 1 + pick(random, faults.sleepStepsMax));
        alive.delete(name);
        process.onLost();
        return { index: -1, choice: 'proceed' };
      }
      return { index, choice: 'proceed' };
    },
  };
}

/** What a caller gets to see of a callee that it does not hear of any more. */
export function noAnswer(name: string): HoldfastError {
  return new HoldfastError('unavailable', `${name} does not answer`);
}
