import { describeThrown, HoldfastError, isPassing } from '../core/errors.ts';
import { isPast } from '../core/position.ts';
import type { StreamRecord } from '../ports/shard-reader.ts';
import { zeroCounters, type Counters } from '../ports/telemetry.ts';
import { advanceChannel } from './advance-channel.ts';
import { catchUpTo } from './catch-up.ts';
import type { ChannelSession } from './channel-session.ts';
import type { Deadline } from './deadline.ts';
import { decodeRecords } from './decode-records.ts';
import { openChannel } from './open-channel.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/**
 * What the event source mapping is told: everything is committed, or the sequence number from which on it has to deliver
 * again.
 */
export type BatchOutcome =
  | { readonly kind: 'done'; readonly counters: Counters }
  | {
      readonly kind: 'handBack';
      readonly fromSequence: string;
      readonly reason: string;
      readonly counters: Counters;
    };

/**
 * Processes what the event source mapping delivered from one shard. Nothing is taken for granted about the batch: it may
 * have come before, be cut otherwise, begin too late, or be in the hands of another invocation at this moment.
 *
 * @throws HoldfastError `invalid`, `corrupt` or `internal` for what no retry mends; nothing is acknowledged then either
 */
export async function processBatch(
  runtime: OperatorRuntime,
  shardId: string,
  records: readonly StreamRecord[],
  deadline: Deadline,
): Promise<BatchOutcome> {
  const counters = zeroCounters();
  if (records.length === 0) return { kind: 'done', counters };
  let session: ChannelSession | undefined;
  try {
    const opened = await openChannel(runtime, shardId, deadline, counters);
    if (opened.kind === 'waiting') return handBack(undefined, records, counters, opened.reason);
    session = opened.session;
    return await processInSession(runtime, session, records, deadline);
  } catch (error) {
    if (isPassing(error)) return handBack(session, records, counters, describeThrown(error));
    throw error;
  } finally {
    runtime.telemetry.publish(runtime.operator.id, counters);
  }
}

async function processInSession(
  runtime: OperatorRuntime,
  session: ChannelSession,
  records: readonly StreamRecord[],
  deadline: Deadline,
): Promise<BatchOutcome> {
  const { counters } = session;
  const first = records[0]!;
  const mustLook = mayHaveSkipped(runtime, session, first);
  if (mustLook) {
    // Whatever ends this, the next batch begins past progress again, maybe in this very environment.
    session.memory.isBehindTrigger = true;
    const outcome = await catchUpTo(runtime, session, first.sequence, deadline);
    if (outcome.kind === 'handBack') return handBack(session, records, counters, outcome.reason);
  }
  session.hasJoined = true;
  const inputs = decodeRecords(runtime, session.shard, session.memory, records);
  const outcome = await advanceChannel(runtime, session, inputs, deadline);
  if (outcome.kind === 'handBack') return handBack(session, records, counters, outcome.reason);
  // Not before all of it is in: who does not hear of our answer may go on further ahead than what is handed back.
  if (mustLook) session.memory.isBehindTrigger = false;

  // R8: nothing beyond progress is ever acknowledged.
  const last = inputs[inputs.length - 1]!;
  if (isPast(last.position, session.progress.position)) {
    throw new HoldfastError(
      'internal',
      `channel ${session.id} would acknowledge ${last.position.sequence}, its progress is ${session.progress.position?.sequence ?? 'nothing'}`,
    );
  }
  return { kind: 'done', counters };
}

/**
 * R7: the trigger may have skipped records where it begins past our progress and this environment has not seen it
 * stand there a moment ago.
 */
function mayHaveSkipped(
  runtime: OperatorRuntime,
  session: ChannelSession,
  first: StreamRecord,
): boolean {
  if (!isPast({ sequence: first.sequence, sub: 0 }, session.progress.position)) return false;
  // Only units make a session warm, and each ends at a record: a channel that has read nothing yet is always looked at.
  const { isBehindTrigger, lastSeenMs } = session.memory;
  if (isBehindTrigger || !session.isWarm || session.staleFence !== undefined) return true;
  return runtime.system.now() - lastSeenMs > runtime.settings.silenceMs;
}

/** P7: hands back from the first record of this batch that is past progress; everything else would be acknowledged. */
function handBack(
  session: ChannelSession | undefined,
  records: readonly StreamRecord[],
  counters: Counters,
  reason: string,
): BatchOutcome {
  const position = session?.progress.position;
  // An aggregated record is never split, so the last of its sub-records decides.
  const first = records.find(
    (record) => position === undefined || isPast({ sequence: record.sequence, sub: 0 }, position),
  );
  if (first === undefined && session?.progress.firing !== undefined) {
    // All records are in, but not all timers behind the last one: with it they are looked at again.
    return { kind: 'handBack', fromSequence: records.at(-1)!.sequence, reason, counters };
  }
  if (first === undefined) return { kind: 'done', counters };
  return { kind: 'handBack', fromSequence: first.sequence, reason, counters };
}
