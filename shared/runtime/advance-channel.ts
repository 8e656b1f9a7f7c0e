import { growSpan, planAttempt, type AttemptHistory } from '../core/suspicion.ts';
import { HoldfastError, unreachable } from '../core/errors.ts';
import {
  comparePositions,
  isPast,
  recordOf,
  type FiringStep,
  type Position,
} from '../core/position.ts';
import { adoptProgress, distrustSession, type ChannelSession } from './channel-session.ts';
import { commitUnit } from './commit-unit.ts';
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

async function advance(
  runtime: OperatorRuntime,
  session: ChannelSession,
  records: readonly InputRecord[],
  deadline: Deadline,
  suspicions: SuspicionLog,
): Promise<AdvanceOutcome> {
  const { settings } = runtime;
  const spanMax = settings.unitRecordsMax;
  let span = spanMax;
  let rest = dropCommitted(session, records);
  let superseded = 0;
  let bound: UnitBound = {};
  /** Records of the unit at hand that are condemned, and how often others threw since. */
  const condemned = new Set<InputRecord>();
  const throws = new Map<InputRecord, number>();

  while (rest.length > 0 || session.progress.firing !== undefined) {
    refuseAfterEnd(session, rest);
    if (!hasTimeFor(deadline, settings.deadlineReserveMs)) {
      return {
        kind: 'handBack',
        reason: 'the invocation has too little time left for another unit',
      };
    }
    const history = session.isWarm ? suspicions.known() : await suspicions.read();
    const available = Math.max(1, rest.length);
    const facts = {
      history,
      isWarm: session.isWarm,
      spanMax: Math.min(spanMax, available),
      id: suspicions.id,
    };
    const { attemptsMax } = settings;
    const { position, firing } = session.progress;
    let isTimerAlone = firing !== undefined && isAboutTimer(history, position);
    if (!isTimerAlone) {
      const plan = planAttempt({
        ...facts,
        position,
        span: Math.min(span, available),
        attemptsMax,
      });
      if (plan.kind === 'run') span = plan.span;
      isTimerAlone = firing !== undefined && (plan.kind === 'condemn' || plan.span === 1);
      if (plan.kind === 'condemn' && !isTimerAlone) {
        // Alone, so that nothing can undo the verdict once its turn has come.
        rest = condemnFirst(rest, plan.reason);
        bound = { records: 1, firings: 0 };
      } else if (plan.kind === 'run' && plan.announcement !== undefined && !isTimerAlone) {
        await suspicions.announce(plan.announcement);
      }
    }
    if (isTimerAlone) span = 1;
    const { unit, limits } = boundUnit(session, rest, span, bound, settings.unitBytesMax);
    bound = {};
    const outcome = await commitUnit(runtime, session, unit, {
      deadline,
      limits,
      ...(span === 1 ? { afterRun: () => suspicions.settle() } : {}),
      ...(isTimerAlone
        ? {
            beforeFirstTimer: async (timer: Position) => {
              // Each timer has a history of its own, under the position at which it fires.
              const plan = planAttempt({ ...facts, position: timer, span: 1, attemptsMax });
              if (plan.kind === 'condemn') return plan.reason;
              if (plan.announcement !== undefined) await suspicions.announce(plan.announcement);
              return undefined;
            },
          }
        : {}),
    });
    switch (outcome.kind) {
      case 'committed':
        rest = rest.slice(outcome.records);
        condemned.clear();
        span = growSpan(span, spanMax);
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
        rest = dropCommitted(session, rest);
        suspicions.forget();
        break;
      case 'failed': {
        const { failure } = outcome;
        refuseFailedVerdict(session, failure);
        forgetItems(session.memory);
        const prefix = boundBefore(session, rest, failure);
        if (prefix !== undefined) {
          bound = prefix;
          break;
        }
        const { step } = failure.position;
        const at = step === undefined ? session.progress.position : failure.position;
        const isCondemned =
          (await suspicions.recordThrow(at, failure.reason)) || condemned.size > 0;
        if (step === undefined && condemned.size > 0) {
          const tries = (throws.get(failure.record!) ?? 0) + 1;
          throws.set(failure.record!, tries);
          if (tries < settings.attemptsMax) {
            // Another part of the same aggregated record used the attempts up: this one has its own, here and now.
            bound = { records: 1 };
            break;
          }
        }
        if (!isCondemned) {
          return {
            kind: 'handBack',
            reason: `${describeFailing(failure)} failed: ${failure.reason}; it is tried ${settings.attemptsMax} times`,
          };
        }
        if (step === undefined) {
          const record = failure.record!;
          condemned.add(record);
          rest = condemnAt(rest, rest.indexOf(record), failure.reason);
          bound = { records: 1 };
        } else {
          bound = { records: 0, firings: 1, verdict: { step, reason: failure.reason } };
        }
        break;
      }
      default:
        unreachable(outcome);
    }
  }
  return { kind: 'done' };
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

function boundUnit(
  session: ChannelSession,
  rest: readonly InputRecord[],
  span: number,
  bound: UnitBound,
  bytesMax: number,
): { unit: readonly InputRecord[]; limits: UnitLimits } {
  const isFiring = session.progress.firing !== undefined;
  // One record alone, and then its timers one by one: so that each of them can be told from all others.
  const isAlone = span === 1;
  const recordsMax = isFiring ? 0 : Math.min(bound.records ?? span, span);
  const unit = recordsMax === 0 ? [] : cutUnit(rest, recordsMax, bytesMax);
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

/** The first `span` Kinesis records, fewer where their bytes are too many, always one; an aggregated record is never cut. */
export function cutUnit(
  records: readonly InputRecord[],
  span: number,
  bytesMax: number,
): readonly InputRecord[] {
  let bytes = 0;
  let end = 0;
  for (let at = 0; at < records.length; at += 1) {
    bytes += records[at]!.data.length;
    const isFull = end > 0 && (at >= span || bytes > bytesMax);
    if (isFull) break;
    if (records[at]!.isEndOfRecord) end = at + 1;
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
