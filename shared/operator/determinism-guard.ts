import { HoldfastError } from '../core/errors.ts';
import type { Operator } from './operator.ts';

/*
 * Law 6: operators are deterministic. While a callback of an operator runs, what differs from run to run (clock, dice,
 * timers, network, files, environment) goes through here. guard-platform.ts puts the platform's functions behind it.
 */

/**
 * What becomes of such a call:
 * - `strict`: it throws, and the callback fails even if the operator catches that.
 * - `count`: it goes through and is counted.
 */
export type DeterminismMode = 'count' | 'strict';

/** Something of the platform that a callback must not use. */
export interface PlatformCall {
  /** As one writes it: `Date.now()`, `process.env.HOME`. */
  readonly name: string;
  /** What to do instead. */
  readonly remedy: string;
  /** Node calls it itself, too, from functions that are allowed: then it is not the operator that calls. */
  readonly isUsedByNode: boolean;
}

export type Callable = (...args: never[]) => unknown;

/** An operator used something that a replay would find different. */
export class NonDeterministicOperatorError extends HoldfastError {
  readonly operator: string;
  /** As one writes it: `Date.now()`. */
  readonly call: string;

  constructor(operator: string, call: Pick<PlatformCall, 'name' | 'remedy'>) {
    super('invalid', `${call.name} inside operator ${operator}: ${call.remedy}`);
    this.name = 'NonDeterministicOperatorError';
    this.operator = operator;
    this.call = call.name;
  }
}

/** Watches the callbacks of one operator. */
export interface DeterminismGuard {
  /**
   * Called inside a callback. The error's stack begins below `above`, at the operator's own line.
   *
   * @throws NonDeterministicOperatorError if it is strict
   */
  note(call: PlatformCall, above: Callable): void;
  /** How many calls there were since the last time. */
  takeCalls(): number;
  /** The first refused call of the callback that runs, which must not be hidden by a catch. */
  violation: NonDeterministicOperatorError | undefined;
}

export interface DeterminismGuardOptions {
  readonly mode: DeterminismMode;
  /** Gets the first occurrence of each call; its stack says where. Only for `count`: `strict` throws it. */
  readonly onFirstCall?: (error: NonDeterministicOperatorError) => void;
}

/** Names that may be made of data, as those of variables are: no more of them are told apart. */
const namesMax = 100;

export function createDeterminismGuard(
  operator: string,
  { mode, onFirstCall }: DeterminismGuardOptions,
): DeterminismGuard {
  const names = new Set<string>();
  let calls = 0;
  const errorOf = (call: PlatformCall, above: Callable): NonDeterministicOperatorError => {
    const error = new NonDeterministicOperatorError(operator, call);
    Error.captureStackTrace(error, above);
    return error;
  };
  return {
    violation: undefined,
    note(call, above) {
      calls += 1;
      if (mode === 'strict') {
        const error = errorOf(call, above);
        this.violation ??= error;
        throw error;
      }
      if (names.has(call.name) || names.size >= namesMax) return;
      names.add(call.name);
      onFirstCall?.(errorOf(call, above));
    },
    takeCalls() {
      const taken = calls;
      calls = 0;
      return taken;
    },
  };
}

/**
 * One value for all copies of a module in this process: test runners load several, bundles may, and all of them are over
 * the same globals.
 */
export function shareInProcess<Value>(name: string, create: () => Value): Value {
  const key = Symbol.for(`holdfast.${name}`);
  const shared = globalThis as unknown as Record<symbol, Value | undefined>;
  return (shared[key] ??= create());
}

/** The guard of the callback that runs; undefined outside of operators. Callbacks are synchronous, so there is one. */
export const running = shareInProcess<{ guard: DeterminismGuard | undefined }>('running', () => ({
  guard: undefined,
}));

/** Begins a callback. Returns what {@link leaveOperator} needs. Costs as much as setting a variable. */
export function enterOperator(guard: DeterminismGuard | undefined): DeterminismGuard | undefined {
  const outer = running.guard;
  running.guard = guard;
  return outer;
}

/**
 * Ends a callback, however it ended: call it in `finally`.
 *
 * @throws NonDeterministicOperatorError where a call was refused, whatever the callback made of that
 */
export function leaveOperator(
  guard: DeterminismGuard | undefined,
  outer: DeterminismGuard | undefined,
): void {
  running.guard = outer;
  if (guard?.violation === undefined) return;
  const { violation } = guard;
  guard.violation = undefined;
  throw violation;
}

/**
 * What the platform's functions do instead, inside and outside of operators: tells the guard, then runs the real one, as
 * if outside, since what the platform does in there is its own business.
 *
 * @param call undefined for what is allowed although it needs what is not, as logging does
 */
export function callThrough<Result>(
  call: PlatformCall | undefined,
  above: Callable,
  run: () => Result,
): Result {
  const { guard } = running;
  running.guard = undefined;
  try {
    if (guard !== undefined && call !== undefined) {
      if (!call.isUsedByNode || !isCalledByNode(above)) guard.note(call, above);
    }
    return run();
  } finally {
    running.guard = guard;
  }
}

/** True where the caller of `above` is code of Node: streams schedule, `require` and source maps read files. */
function isCalledByNode(above: Callable): boolean {
  const settings = Error as { prepareStackTrace?: unknown; stackTraceLimit: number };
  const { prepareStackTrace, stackTraceLimit } = settings;
  const holder: { stack?: unknown } = {};
  try {
    settings.stackTraceLimit = 1;
    settings.prepareStackTrace = (_: unknown, sites: readonly NodeJS.CallSite[]) =>
      sites[0]?.getFileName() ?? '';
    Error.captureStackTrace(holder, above);
    return String(holder.stack).startsWith('node:');
  } finally {
    settings.prepareStackTrace = prepareStackTrace;
    settings.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * The operator with its callbacks guarded that run outside of its instance: decoding, its key and its event time. Each is
 * written out: behind one function for all three V8 inlines none of them.
 */
export function guardOperator(operator: Operator, guard: DeterminismGuard): Operator {
  const { eventTime } = operator;
  return {
    ...operator,
    parse(data) {
      const outer = enterOperator(guard);
      try {
        return operator.parse(data);
      } finally {
        leaveOperator(guard, outer);
      }
    },
    key(event) {
      const outer = enterOperator(guard);
      try {
        return operator.key(event);
      } finally {
        leaveOperator(guard, outer);
      }
    },
    eventTime: eventTime && {
      ...eventTime,
      time(event) {
        const outer = enterOperator(guard);
        try {
          return eventTime.time(event);
        } finally {
          leaveOperator(guard, outer);
        }
      },
    },
  };
}
