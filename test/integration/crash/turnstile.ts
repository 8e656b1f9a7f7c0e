import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sink } from '../../../shared/ports/sink.ts';
import type { OperatorRuntime } from '../../../shared/runtime/operator-runtime.ts';

/** The steps of a commit (P1) that wait for their turn. */
export type CommitStep = 'states' | 'outputs' | 'segment' | 'progress';

/** One invocation behind the turnstile. */
export interface Walker {
  /** What it waits for at the moment, in no order. */
  waiting(): readonly CommitStep[];
  /** Lets it take one step, then resolves when it waits for the next one or is over. */
  pass(step: CommitStep): Promise<void>;
  /** Resolves when it waits for its first step or is over. */
  readonly arrived: Promise<void>;
  isOver(): boolean;
  /** What the invocation returned or threw, once it is over. */
  readonly outcome: Promise<unknown>;
}

/** Starts an invocation on a runtime whose commit steps wait until they are told to go on. */
export function startWalking(
  runtime: OperatorRuntime,
  invoke: (runtime: OperatorRuntime) => Promise<unknown>,
): Walker {
  const waiting: { readonly step: CommitStep; readonly proceed: () => void }[] = [];
  let underWay = 0;
  let isOver = false;
  let notice = Promise.withResolvers<void>();
  const changed = (): void => {
    notice.resolve();
    notice = Promise.withResolvers();
  };

  const run = async <T>(effect: () => Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      return await effect();
    } finally {
      underWay -= 1;
      changed();
    }
  };
  const gate = async <T>(step: CommitStep, effect: () => Promise<T>): Promise<T> => {
    await new Promise<void>((proceed) => {
      waiting.push({ step, proceed });
      changed();
    });
    return run(effect);
  };

  /** Steps of one kind are begun together, so one turn of the event loop later all of them are there. */
  const settle = async (): Promise<void> => {
    for (;;) {
      while (!isOver && (underWay > 0 || waiting.length === 0)) await notice.promise;
      await nextTurn();
      if (isOver || (underWay === 0 && waiting.length > 0)) return;
    }
  };

  const over = (): void => {
    isOver = true;
    changed();
  };
  const outcome = invoke(gateRuntime(runtime, run, gate)).finally(over);
  // Whoever awaits the outcome hears of it.
  outcome.catch(() => undefined);

  return {
    waiting: () => waiting.map(({ step }) => step),
    async pass(step) {
      const going = waiting.filter((one) => one.step === step);
      if (going.length === 0) throw new Error(`nothing waits for ${step}`);
      waiting.splice(0, waiting.length, ...waiting.filter((one) => one.step !== step));
      for (const { proceed } of going) proceed();
      await nextTurn();
      await settle();
    },
    arrived: settle(),
    isOver: () => isOver,
    outcome,
  };
}

type Run = <T>(effect: () => Promise<T>) => Promise<T>;
type Gate = <T>(step: CommitStep, effect: () => Promise<T>) => Promise<T>;

function gateRuntime(runtime: OperatorRuntime, run: Run, gate: Gate): OperatorRuntime {
  const { state, control, objects, sinks } = runtime;
  return {
    ...runtime,
    state: {
      ...state,
      load: (...args) => run(() => state.load(...args)),
      write: (...args) => gate('states', () => state.write(...args)),
      expireTombstones: (...args) => run(() => state.expireTombstones(...args)),
    },
    control: {
      ...control,
      readJob: (...args) => run(() => control.readJob(...args)),
      readProgress: (...args) => run(() => control.readProgress(...args)),
      bear: (...args) => run(() => control.bear(...args)),
      commitProgress: (...args) => gate('progress', () => control.commitProgress(...args)),
      readSuspicion: (...args) => run(() => control.readSuspicion(...args)),
      writeSuspicion: (...args) => run(() => control.writeSuspicion(...args)),
    },
    objects: {
      ...objects,
      create: (name, bytes) =>
        name.includes('/segments/')
          ? gate('segment', () => objects.create(name, bytes))
          : run(() => objects.create(name, bytes)),
      read: (...args) => run(() => objects.read(...args)),
      readStart: (...args) => run(() => objects.readStart(...args)),
    },
    sinks: new Map(
      [...sinks].map(([name, sink]): [string, Sink] => [
        name,
        { write: (...args) => gate('outputs', () => sink.write(...args)) },
      ]),
    ),
  };
}
