import type { Fault, FaultHook } from '../../../localstack/embedded/emulators/faults.ts';
import { createStepCounter, isBeside, type WriteStep } from './write-steps.ts';

/**
 * - `before`: the request does not arrive; of the same unit's other outputs all have.
 * - `midway`: the first half of the request's statements is done, its reply never arrives.
 * - `after`: the request is done, its reply never arrives; of the same unit's other outputs nothing is done.
 */
export type Moment = 'before' | 'midway' | 'after';

/** Kills the writer at one moment of one of its steps. The steps are those of a run that nobody kills. */
export function killAtStep(
  target: WriteStep,
  moment: Moment,
  steps: readonly WriteStep[],
  kill: () => Promise<void>,
): FaultHook {
  const count = createStepCounter();
  const killed = Promise.withResolvers<void>();
  const othersAreDone = Promise.withResolvers<void>();
  const isOther = (step: WriteStep): boolean => isBeside(step, target);
  let others = steps.filter(isOther).length;
  if (others === 0) othersAreDone.resolve();

  return async (request) => {
    const step = count(request);
    if (step === undefined) return undefined;
    if (isSame(step, target)) {
      if (moment === 'before') await othersAreDone.promise;
      await kill();
      killed.resolve();
      return faultOf(moment, step);
    }
    if (!isOther(step)) return undefined;
    if (moment !== 'before') {
      await killed.promise;
      return { kind: 'drop-before' };
    }
    others -= 1;
    if (others === 0) othersAreDone.resolve();
    return undefined;
  };
}

/** The writer is dead by now: these only decide what becomes of its last request. */
function faultOf(moment: Moment, step: WriteStep): Fault | undefined {
  if (moment === 'before') return { kind: 'drop-before' };
  if (moment === 'after') return undefined;
  const undone = Array.from({ length: step.parts }, (_, at) => at).slice(step.parts >> 1);
  return { kind: 'throttle', only: undone };
}

function isSame(a: WriteStep, b: WriteStep): boolean {
  return a.kind === b.kind && a.number === b.number;
}
