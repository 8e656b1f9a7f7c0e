import { emissionsPerCallbackMax, type Emission } from '../core/emission.ts';
import { HoldfastError } from '../core/errors.ts';
import { copyPlain } from '../core/plain-value.ts';
import { formatPosition, type Position } from '../core/position.ts';
import { seededRandom, type RandomSource } from '../core/random.ts';
import type { Timer } from '../core/timer.ts';
import { enterOperator, leaveOperator, type DeterminismGuard } from './determinism-guard.ts';
import { createTimers, type TimerCursor } from './key-timers.ts';
import { createHandles, type LiveStates, type StateCursor } from './key-state.ts';
import type { Operator, OperatorContext } from './operator.ts';
import { onlyRow, type SinkDescriptor } from './sink.ts';

/** What the context tells of a callback. */
export interface CallbackInput {
  readonly key: string;
  readonly position: Position;
  readonly arrivalMs: number;
}

/** One event with what the context tells of it. */
export interface EventInput extends CallbackInput {
  readonly event: unknown;
}

/** An operator made ready to run: one context and one set of state handles, used for every record. */
export interface OperatorInstance {
  /**
   * Runs `process` for one event on the states and timers of its key, which it changes in place, and appends what was
   * emitted to `emissions`. Where it throws, all may be half-changed: throw them away.
   */
  processEvent(input: EventInput, live: LiveStates, emissions: Emission[], time?: KeyTime): void;

  /** Runs `onTimer` likewise, for a timer that has been taken out of the key's timers. */
  fireTimer(
    input: CallbackInput,
    timer: Timer,
    live: LiveStates,
    emissions: Emission[],
    time: KeyTime,
  ): void;
}

/** What a callback sees of time, for one key. */
export interface KeyTime {
  /** Pending timers, in the order in which they fire; changed in place. */
  readonly timers: Timer[];
  /** Event-time watermark, ms since the epoch. */
  readonly watermark: number | undefined;
}

interface LooseOutput {
  readonly sink: string;
  readonly row?: unknown;
  readonly remove?: true;
  readonly rowKey?: string;
}

/** UTF-16 units: at three bytes each they fit into a sort key of 1,024 bytes. */
const rowKeyCharactersMax = 340;

/** @param guard watches the callbacks; undefined leaves them alone */
export function createOperatorInstance(
  operator: Operator,
  guard?: DeterminismGuard,
): OperatorInstance {
  const cursor: StateCursor = { live: [] };
  const handles = createHandles(operator, cursor);
  const timerCursor: TimerCursor = { timers: [], firingTime: undefined };
  const timers = createTimers(operator, timerCursor);
  let current: CallbackInput | undefined;
  let watermark: number | undefined;
  let collected: Emission[] = [];
  let index = 0;
  let random: RandomSource | undefined;

  const running = (): CallbackInput => {
    if (current !== undefined) return current;
    throw new HoldfastError(
      'invalid',
      `operator ${operator.id} used its context outside of process(); keep values, not the context`,
    );
  };

  const context: OperatorContext<unknown, unknown> = {
    get key() {
      return running().key;
    },
    get position() {
      return running().position;
    },
    get watermark() {
      running();
      return watermark;
    },
    state: handles,
    timers: {
      register: (timer) => {
        running();
        timers.register(timer);
      },
      cancel: (name, domain) => {
        running();
        timers.cancel(name, domain);
      },
    },
    now: () => running().arrivalMs,
    random: () => {
      const input = running();
      // The position says which callback it is: the record, or the time and name of the timer.
      random ??= seededRandom(`${input.key}\u0000${formatPosition(input.position)}\u0000r`);
      return random();
    },
    emit: (output: LooseOutput) => {
      const { position } = running();
      const descriptor = operator.sinks.get(output.sink);
      if (descriptor === undefined) {
        throw new HoldfastError(
          'invalid',
          `operator ${operator.id} emitted to sink ${JSON.stringify(output.sink)}, declared are ${[...operator.sinks.keys()].join(', ') || 'none'}`,
        );
      }
      if (index >= emissionsPerCallbackMax) {
        throw new HoldfastError(
          'invalid',
          `operator ${operator.id} emitted more than ${emissionsPerCallbackMax} outputs for one event`,
        );
      }
      const isRemoval = output.remove === true;
      const row = rowOf(operator.id, descriptor, output);
      const emission = {
        position,
        index,
        sink: output.sink,
        row,
        // A copy: what the operator does to the row's parts later must not depend on how units are cut.
        value: isRemoval ? null : copyPlain(output.row),
      };
      index += 1;
      addEmission(collected, emission, descriptor);
    },
  };

  const begin = (
    input: CallbackInput,
    live: LiveStates,
    emissions: Emission[],
    time: KeyTime,
  ): void => {
    current = input;
    cursor.live = live;
    timerCursor.timers = time.timers;
    watermark = time.watermark;
    collected = emissions;
    index = 0;
    random = undefined;
  };
  const end = (outer: DeterminismGuard | undefined): void => {
    current = undefined;
    leaveOperator(guard, outer);
  };
  const refusePromise = (returned: unknown): void => {
    if (returned instanceof Promise) throw asynchronous(operator.id, returned);
  };

  return {
    processEvent(input, live, emissions, time = noTime()) {
      timerCursor.firingTime = undefined;
      begin(input, live, emissions, time);
      const outer = enterOperator(guard);
      // Written out twice, so that no event needs a closure of its own.
      try {
        refusePromise(operator.process(input.event, context));
      } finally {
        end(outer);
      }
    },
    fireTimer(input, timer, live, emissions, time) {
      timerCursor.firingTime = timer.time;
      const { name, time: dueAt, domain } = timer;
      begin(input, live, emissions, time);
      const outer = enterOperator(guard);
      try {
        refusePromise(operator.onTimer?.({ name, time: dueAt, domain }, context));
      } finally {
        end(outer);
      }
    },
  };
}

function noTime(): KeyTime {
  return { timers: [], watermark: undefined };
}

/**
 * Of several upserts of one row within a unit only the last is kept: the row would be replaced at once. Appends are all
 * kept.
 */
function addEmission(emissions: Emission[], emission: Emission, descriptor: SinkDescriptor): void {
  if (descriptor.kind === 'upsert') {
    const earlier = emissions.findLastIndex(
      (e) => e.sink === emission.sink && e.row === emission.row,
    );
    if (earlier >= 0) emissions.splice(earlier, 1);
  }
  emissions.push(emission);
}

function rowOf(operatorId: string, descriptor: SinkDescriptor, output: LooseOutput): string {
  if (descriptor.kind === 'append') {
    if (output.remove === true) {
      throw new HoldfastError(
        'invalid',
        `operator ${operatorId} removes a row of the append sink ${output.sink}; only rows of upsert sinks can be removed`,
      );
    }
    return '';
  }
  const rowKey =
    output.remove === true ? (output.rowKey ?? onlyRow) : descriptor.rowKey(output.row);
  if (typeof rowKey !== 'string' || rowKey === '' || rowKey.length > rowKeyCharactersMax) {
    throw new HoldfastError(
      'invalid',
      `operator ${operatorId}, sink ${output.sink}: row key ${JSON.stringify(rowKey)}, expected a text of 1 to ${rowKeyCharactersMax} characters`,
    );
  }
  return rowKey;
}

function asynchronous(operatorId: string, promise: Promise<unknown>): HoldfastError {
  promise.catch(() => undefined);
  return new HoldfastError(
    'invalid',
    `operator ${operatorId}: process() returned a promise; it has to be synchronous, as what it awaits could not be replayed`,
  );
}
