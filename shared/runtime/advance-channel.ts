import { growSpan, planAttempt, type AttemptHistory, type AttemptPlan } from '../core/suspicion.ts';
import { HoldfastError, unreachable } from '../core/errors.ts';
import {
  comparePositions,
  isPast,
  recordOf,
  type FiringStep,
  type Position,
} from '../core/position.ts';
import { adoptProgress, distrustSession, type ChannelSession } from './channel-session.ts';
import { commitUnit, type UnitOptions } from './commit-unit.ts';
import { hasTimeFor, type Deadline } from './deadline.ts';
import { condemnRecord, type InputRecord } from './decode-records.ts';
import { forgetItems } from './environment-memory.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import type { UnitFailure } from './run-unit.ts';
import type { TimerVerdict, UnitLimits } from './unit.ts';
import { createSuspicionLog, type SuspicionLog } from './suspicion-log.ts';

/** `handBack`: everything up to progress is committed, the rest has to be delivered again. */
export type AdvanceOutcome =
  { readonly kind: 'done' } | { readonly kind: 'handBack'; readonly reason: string };

/** How many times one invocation starts over because another one committed first. */
const supersededMax = 50;

/** Commits records of a channel unit by unit, in order; those at or before progress are dropped. */
export async function advanceChannel(
  runtime: OperatorRuntime,
  session: ChannelSession,
  records: readonly InputRecord[],
  deadline: Deadline,
): Promise<AdvanceOutcome> {
  const suspicions = createSuspicionLog(runtime, session);
  try {
    return await advance(runtime, session, records, deadline, suspicions);
  } catch (error) {
    distrustSession(session);
    throw error;
  } finally {
    // Whatever ended the invocation, it came back: its announcement must not count as a death.
    await suspicions.settle();
  }
}

/** What is left to do, and what is known of it. */
interface Advance {
  readonly runtime: OperatorRuntime;
  readonly session: ChannelSession;
  readonly suspicions: SuspicionLog;
  rest: readonly InputRecord[];
  /** How many records the next unit may try at once. */
  span: number;
  bound: UnitBound;
  /** Records of the unit at hand that are condemned, and how often others threw since. */
  readonly condemned: Set<InputRecord>;
  readonly throws: Map<InputRecord, number>;
}

async function advance(
  runtime: OperatorRuntime,
  session: ChannelSession,
  records: readonly InputRecord[],
  deadline: Deadline,
  suspicions: SuspicionLog,
): Promise<AdvanceOutcome> {
  const { settings } = runtime;
  const state: Advance = {
    runtime,
    session,
    suspicions,
    rest: dropCommitted(session, records),
    span: settings.unitRecordsMax,
    bound: {},
    condemned: new Set(),
    throws: new Map(),
  };
  let superseded = 0;

  while (state.rest.length > 0 || session.progress.firing !== undefined) {
    refuseAfterEnd(session, state.rest);
    if (!hasTimeFor(deadline, settings.deadlineReserveMs)) {
      return {
        kind: 'handBack',
        reason: 'the invocation has too little time left for another unit',
      };
    }
    const plan = await planUnit(state);
    const { unit, limits } = boundUnit(state);
    state.bound = {};
    const outcome = await commitUnit(runtime, session, unit, {
      deadline,
      limits,
      ...(state.span === 1 ? { afterRun: () => suspicions.settle() } : {}),
      ...plan,
    });
    switch (outcome.kind) {
      case 'committed':
        state.rest = state.rest.slice(outcome.records);
        state.condemned.clear();
        state.span = growSpan(state.span, settings.unitRecordsMax);
        suspicions.forget();
        break;
      case 'superseded':
        superseded += 1;
        if (superseded > supersededMax) {
          throw new HoldfastError(
            'conflict',
            `channel ${session.id}: other invocations committed first ${superseded} times; the records are handed back`,
          );
        }
        await adoptProgress(runtime, session, outcome.progress);
        state.rest = dropCommitted(session, state.rest);
        suspicions.forget();
        break;
      case 'failed': {
        const handBack = await judgeFailure(state, outcome.failure);
        if (handBack !== undefined) return handBack;
        break;
      }
      default:
        unreachable(outcome);
    }
  }
  return { kind: 'done' };
}

/**
 * Decides how much the next unit tries, and announces it where that is due. A timer that is suspected is judged by a
 * history of its own, under the position at which it fires, once it is known which one comes first.
 */
async function planUnit(state: Advance): Promise<Pick<UnitOptions, 'beforeFirstTimer'>> {
  const { session, suspicions, runtime } = state;
  const { attemptsMax, unitRecordsMax } = runtime.settings;
  const { position, firing } = session.progress;
  const history = session.isWarm ? suspicions.known() : await suspicions.read();
  const available = firing === undefined ? state.rest.length : unitRecordsMax;
  const facts = {
    history,
    isWarm: session.isWarm,
    spanMax: Math.min(unitRecordsMax, available),
    attemptsMax,
    id: suspicions.id,
  };
  let isTimerAlone = firing !== undefined && isAboutTimer(history, position);
  if (!isTimerAlone) {
    const plan = planAttempt({ ...facts, position, span: Math.min(state.span, available) });
    if (plan.kind === 'run') state.span = plan.span;
    isTimerAlone = firing !== undefined && (plan.kind === 'condemn' || plan.span === 1);
    if (!isTimerAlone) await carryOut(state, plan);
  }
  if (!isTimerAlone) return {};
  state.span = 1;
  return {
    beforeFirstTimer: async (timer) => {
      const plan = planAttempt({ ...facts, position: timer, span: 1 });
      if (plan.kind === 'condemn') return plan.reason;
      if (plan.announcement !== undefined) await suspicions.announce(plan.announcement);
      return undefined;
    },
  };
}

async function carryOut(state: Advance, plan: AttemptPlan): Promise<void> {
  if (plan.kind === 'condemn') {
    // Alone, so that nothing can undo the verdict once its turn has come.
    state.rest = condemnFirst(state.rest, plan.reason);
    state.bound = { records: 1, firings: 0 };
  } else if (plan.announcement !== undefined) {
    await state.suspicions.announce(plan.announcement);
  }
}

/** What becomes of a unit in which something failed: it is tried again in part, with a verdict, or handed back. */
async function judgeFailure(
  state: Advance,
  failure: UnitFailure,
): Promise<AdvanceOutcome | undefined> {
  const { session, suspicions, condemned } = state;
  refuseFailedVerdict(session, failure);
  forgetItems(session.memory);
  const before = boundBefore(session, state.rest, failure);
  if (before !== undefined) {
    state.bound = before;
    return undefined;
  }
  const { step } = failure.position;
  const at = step === undefined ? session.progress.position : failure.position;
  const isOnceTooOften = await suspicions.recordThrow(at, failure.reason);
  if (step !== undefined) {
    if (!isOnceTooOften) return handBackFailing(state, failure);
    state.bound = { records: 0, firings: 1, verdict: { step, reason: failure.reason } };
    return undefined;
  }
  const record = failure.record!;
  if (condemned.size > 0) {
    // Another part of the same aggregated record used the attempts up: this one has its own, here and now.
    const tries = (state.throws.get(record) ?? 0) + 1;
    state.throws.set(record, tries);
    state.bound = { records: 1 };
    if (tries < state.runtime.settings.attemptsMax) return undefined;
  } else if (!isOnceTooOften) {
    return handBackFailing(state, failure);
  }
  condemned.add(record);
  state.rest = condemnAt(state.rest, state.rest.indexOf(record), failure.reason);
  state.bound = { records: 1 };
  return undefined;
}

function handBackFailing({ runtime }: Advance, failure: UnitFailure): AdvanceOutcome {
  return {
    kind: 'handBack',
    reason: `${describeFailing(failure)} failed: ${failure.reason}; it is tried ${runtime.settings.attemptsMax} times`,
  };
}

/** True for the history of a timer that fires behind the record at a position. */
function isAboutTimer(
  history: AttemptHistory | undefined,
  position: Position | undefined,
): boolean {
  if (history?.position?.step === undefined || position === undefined) return false;
  return comparePositions(recordOf(history.position), recordOf(position)) === 0;
}

/** What the next unit may hold, besides what its span allows. */
interface UnitBound {
  /** Records in it; 0 leaves the timers behind the last committed record alone. */
  readonly records?: number;
  readonly firings?: number;
  readonly before?: FiringStep;
  readonly verdict?: TimerVerdict;
}

/** Most timers that fire in one unit. */
const firingsMax = 10_000;

function boundUnit({ runtime, session, rest, span, bound }: Advance): {
  unit: readonly InputRecord[];
  limits: UnitLimits;
} {
  const isFiring = session.progress.firing !== undefined;
  // One record alone, and then its timers one by one: so that each of them can be told from all others.
  const isAlone = span === 1;
  const recordsMax = isFiring ? 0 : Math.min(bound.records ?? span, span);
  const { unitBytesMax: bytes, unitKeysMax: keys } = runtime.settings;
  const unit = recordsMax === 0 ? [] : cutUnit(rest, { records: recordsMax, bytes, keys });
  const alone = isFiring ? 1 : 0;
  const limits: UnitLimits = {
    firingsMax: bound.firings ?? (isAlone ? alone : firingsMax),
    ...(bound.before === undefined ? {} : { before: bound.before }),
    ...(bound.verdict === undefined ? {} : { verdict: bound.verdict }),
  };
  return { unit, limits };
}

/** The unit that ends before what has failed; undefined where nothing comes before it. */
function boundBefore(
  session: ChannelSession,
  rest: readonly InputRecord[],
  failure: UnitFailure,
): UnitBound | undefined {
  const { position, record, isFirst } = failure;
  const isFiring = session.progress.firing !== undefined;
  if (position.step === undefined) {
    const first = startOfKinesisRecord(rest, rest.indexOf(record!));
    return first > 0 || isFiring ? { records: first } : undefined;
  }
  if (isFirst) return undefined;
  const records = record === undefined ? 0 : rest.indexOf(record) + 1;
  return { records, before: position.step };
}

function describeFailing({ position }: UnitFailure): string {
  if (position.step === undefined) return `record ${position.sequence}`;
  return `timer ${position.step.name} of key ${JSON.stringify(position.step.key)}`;
}

function refuseAfterEnd(session: ChannelSession, rest: readonly InputRecord[]): void {
  if (!session.progress.isFinished || rest.length === 0) return;
  throw new HoldfastError(
    'internal',
    `channel ${session.id} is finished at ${session.progress.position?.sequence ?? 'its start'}, but record ${rest[0]!.position.sequence} came after it`,
  );
}

/** A verdict runs no code of the operator and needs no more room than its key has; retrying it would never end. */
function refuseFailedVerdict(
  session: ChannelSession,
  { record, position, reason }: UnitFailure,
): void {
  if (position.step !== undefined || record?.verdict === undefined) return;
  throw new HoldfastError(
    'internal',
    `channel ${session.id}: the verdict on record ${position.sequence} cannot be stored: ${reason}`,
  );
}

/** How much of each a unit has at most. */
export interface UnitSize {
  readonly records: number;
  /** Of record data. */
  readonly bytes: number;
  readonly keys: number;
}

/** The first Kinesis records that fit, always one; an aggregated record is never cut. */
export function cutUnit(records: readonly InputRecord[], most: UnitSize): readonly InputRecord[] {
  // So many records have no more keys.
  const keys = records.length > most.keys ? new Set<string>() : undefined;
  let bytes = 0;
  let end = 0;
  for (let at = 0; at < records.length; at += 1) {
    const { key, data, isEndOfRecord } = records[at]!;
    bytes += data.length;
    keys?.add(key);
    const hasTooManyKeys = keys !== undefined && keys.size > most.keys;
    if (end > 0 && (at >= most.records || bytes > most.bytes || hasTooManyKeys)) break;
    if (isEndOfRecord) end = at + 1;
  }
  return end === records.length ? records : records.slice(0, end);
}

function dropCommitted(
  session: ChannelSession,
  records: readonly InputRecord[],
): readonly InputRecord[] {
  const { position } = session.progress;
  const first = records.findIndex((record) => isPast(record.position, position));
  const dropped = first < 0 ? records.length : first;
  session.counters.recordsSkipped += dropped;
  return dropped === 0 ? records : records.slice(dropped);
}

function startOfKinesisRecord(records: readonly InputRecord[], at: number): number {
  let first = at;
  while (first > 0 && !records[first - 1]!.isEndOfRecord) first -= 1;
  return first;
}

/** Condemns the first Kinesis record: which of its sub-records kills the process cannot be told from outside. */
function condemnFirst(records: readonly InputRecord[], message: string): readonly InputRecord[] {
  const end = records.findIndex((record) => record.isEndOfRecord);
  return records.map((record, at) =>
    at <= end ? condemnRecord(record, { reason: 'operator-failed', message }) : record,
  );
}

function condemnAt(
  records: readonly InputRecord[],
  at: number,
  message: string,
): readonly InputRecord[] {
  return records.map((record, index) =>
    index === at ? condemnRecord(record, { reason: 'operator-failed', message }) : record,
  );
}
