import { growSpan, planAttempt } from '../core/suspicion.ts';
import { HoldfastError, unreachable } from '../core/errors.ts';
import { isPast } from '../core/position.ts';
import { adoptProgress, distrustSession, type ChannelSession } from './channel-session.ts';
import { commitUnit } from './commit-unit.ts';
import { hasTimeFor, type Deadline } from './deadline.ts';
import { condemnRecord, type InputRecord } from './decode-records.ts';
import { forgetItems } from './environment-memory.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import type { RecordFailure } from './unit.ts';
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
  /** Records of the unit at hand that are condemned, and how often others threw since. */
  const condemned = new Set<InputRecord>();
  const throws = new Map<InputRecord, number>();
  /** Ends the next unit before a record that is known to fail. */
  let unitEnd: number | undefined;

  while (rest.length > 0) {
    if (session.progress.isFinished) {
      throw new HoldfastError(
        'internal',
        `channel ${session.id} is finished at ${session.progress.position?.sequence ?? 'its start'}, but record ${rest[0]!.position.sequence} came after it`,
      );
    }
    if (!hasTimeFor(deadline, settings.deadlineReserveMs)) {
      return {
        kind: 'handBack',
        reason: 'the invocation has too little time left for another unit',
      };
    }
    const plan = planAttempt({
      position: session.progress.position,
      history: session.isWarm ? suspicions.known() : await suspicions.read(),
      isWarm: session.isWarm,
      span: Math.min(span, rest.length),
      spanMax: Math.min(spanMax, rest.length),
      attemptsMax: settings.attemptsMax,
      id: suspicions.id,
    });
    if (plan.kind === 'condemn') {
      // Alone, so that nothing can undo the verdict once its turn has come.
      rest = condemnFirst(rest, plan.reason);
      unitEnd = 1;
    } else {
      span = plan.span;
      if (plan.announcement !== undefined) await suspicions.announce(plan.announcement);
    }
    const unit = cutUnit(rest, Math.min(unitEnd ?? span, span), settings.unitBytesMax);
    unitEnd = undefined;
    const outcome = await commitUnit(runtime, session, unit, {
      deadline,
      ...(span === 1 ? { afterRun: () => suspicions.settle() } : {}),
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
        refuseFailedVerdict(session, outcome.failure);
        forgetItems(session.memory);
        const at = rest.indexOf(outcome.failure.record);
        const first = startOfKinesisRecord(rest, at);
        if (first > 0) {
          unitEnd = first;
          break;
        }
        const isCondemned =
          (await suspicions.recordThrow(outcome.failure.reason)) || condemned.size > 0;
        const tries = (throws.get(outcome.failure.record) ?? 0) + 1;
        if (isCondemned && condemned.size > 0 && tries < settings.attemptsMax) {
          // Another part of the same aggregated record used the attempts up: this one has its own, here and now.
          throws.set(outcome.failure.record, tries);
          unitEnd = 1;
          break;
        }
        if (!isCondemned) {
          const { sequence } = outcome.failure.record.position;
          return {
            kind: 'handBack',
            reason: `record ${sequence} failed: ${outcome.failure.reason}; it is tried ${settings.attemptsMax} times`,
          };
        }
        condemned.add(outcome.failure.record);
        rest = condemnAt(rest, at, outcome.failure.reason);
        unitEnd = 1;
        break;
      }
      default:
        unreachable(outcome);
    }
  }
  return { kind: 'done' };
}

/** A verdict runs no code of the operator and needs no more room than its key has; retrying it would never end. */
function refuseFailedVerdict(session: ChannelSession, { record, reason }: RecordFailure): void {
  if (record.verdict === undefined) return;
  throw new HoldfastError(
    'internal',
    `channel ${session.id}: the verdict on record ${record.position.sequence} cannot be stored: ${reason}`,
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
