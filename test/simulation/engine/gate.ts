import type { RandomSource } from '../../../shared/core/random.ts';

/** A port call of a live invocation that waits for its turn. */
interface PendingStep {
  readonly owner: StepOwner;
  readonly label: string;
  readonly kind: 'before' | 'after';
  proceed(): void;
}

/** Who makes port calls: one invocation. Once dead, none of its calls goes on, ever: as a killed process. */
export interface StepOwner {
  readonly name: string;
  isDead: boolean;
}

/** What the scheduler does at a step: let it go on, or kill its owner there. */
export type StepChoice = 'proceed' | 'kill';

export type ChooseStep = (labels: readonly string[]) => {
  /** Which of the steps; below 0 for none of them, where something else has begun that gets to its own first. */
  readonly index: number;
  readonly choice: StepChoice;
};

/**
 * Holds every port call of every invocation twice, before it takes effect and before its reply arrives, and lets them
 * go on one at a time in an order of the test's choosing.
 */
export interface Gate {
  /** Runs one port call of an owner through the gate. */
  step<T>(owner: StepOwner, label: string, effect: () => Promise<T>): Promise<T>;
  /** Lets steps go on until none waits any more; returns the labels in order. */
  drain(choose: ChooseStep, onIdle: () => boolean): Promise<void>;
  /** Forgets the calls of those who are dead, where somebody else than the scheduler has killed them: before the next step. */
  forgetDead(): void;
  /** Counts what has gone wrong with a call, beside the deaths that the gate deals itself. */
  strike(fault: string, label: string): void;
  readonly trace: string[];
  /** How many times each fault has hit each kind of call: `reply-lost × state.write`. */
  readonly strikes: ReadonlyMap<string, number>;
}

/** Bounds a run: more steps than this mean that it does not come to an end. */
const stepsMax = 20_000;

export function createGate(): Gate {
  const pending: PendingStep[] = [];
  const trace: string[] = [];
  const strikes = new Map<string, number>();

  const wait = (owner: StepOwner, label: string, kind: PendingStep['kind']): Promise<void> =>
    new Promise((resolve) => {
      if (owner.isDead) return;
      pending.push({ owner, label, kind, proceed: resolve });
    });
  const strike = (fault: string, label: string): void => {
    const pair = `${fault} × ${kindOfStep(label)}`;
    strikes.set(pair, (strikes.get(pair) ?? 0) + 1);
  };

  let mustForget = false;
  const forget = (isOver: (owner: StepOwner) => boolean): void => {
    for (let at = pending.length - 1; at >= 0; at -= 1) {
      if (isOver(pending[at]!.owner)) pending.splice(at, 1);
    }
  };

  return {
    ...{ trace, strikes },
    forgetDead: () => void (mustForget = true),
    strike(fault, label) {
      strike(fault, label);
      trace.push(`  ${fault}: ${label}`);
    },
    async step(owner, label, effect) {
      await wait(owner, label, 'before');
      const result = await effect();
      await wait(owner, label, 'after');
      return result;
    },
    async drain(choose, onIdle) {
      for (let steps = 0; steps < stepsMax; steps += 1) {
        await settle();
        if (pending.length === 0) {
          if (!onIdle()) return;
          continue;
        }
        const labels = pending.map(({ owner, label, kind }) => `${owner.name} ${kind} ${label}`);
        const { index, choice } = choose(labels);
        const step = pending[index];
        if (mustForget) forget(({ isDead }) => isDead);
        mustForget = false;
        if (step === undefined || !pending.includes(step)) continue;
        pending.splice(pending.indexOf(step), 1);
        trace.push(choice === 'kill' ? `${labels[index]!} ✝` : labels[index]!);
        if (choice === 'kill') {
          strike(`killed ${step.kind}`, step.label);
          step.owner.isDead = true;
          forget((owner) => owner === step.owner);
        } else {
          step.proceed();
        }
      }
      throw new Error(
        `the run did not come to an end in ${stepsMax} steps, the last of them:\n${trace.slice(-40).join('\n')}`,
      );
    },
  };
}

/** The call without what it is about: `state.write` of `state.write k1`. */
export function kindOfStep(label: string): string {
  return label.split(' ', 1)[0]!;
}

/** Lets every promise that can go on do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A whole number from 0 up to, without, `bound`. */
export function pick(random: RandomSource, bound: number): number {
  return Math.floor(random() * bound);
}

export function chance(random: RandomSource, probability: number): boolean {
  return random() < probability;
}
