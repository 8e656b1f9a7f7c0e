import { HoldfastError, isHoldfastError } from '../core/errors.ts';
import { isPast } from '../core/position.ts';
import type { ShardPage } from '../ports/shard-reader.ts';
import { advanceChannel } from './advance-channel.ts';
import { adoptProgress, nextFence, type ChannelSession } from './channel-session.ts';
import { commitProgress } from './commit-unit.ts';
import { hasTimeFor, type Deadline } from './deadline.ts';
import { decodeRecords } from './decode-records.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/*
 * R7: the event source mapping is a doorbell, the position is ours. What it has not delivered is read here, and goes
 * through the same units as everything else.
 */

export type CatchUpOutcome =
  { readonly kind: 'caughtUp' } | { readonly kind: 'handBack'; readonly reason: string };

export type EndOfShardOutcome =
  { readonly kind: 'finished' } | { readonly kind: 'notYet'; readonly reason: string };

/** How many times an end of shard is tried against other invocations. */
const finishTriesMax = 10;

/**
 * Brings a channel to the record with this sequence number, which the trigger delivered: commits everything between
 * progress and it.
 */
export async function catchUpTo(
  runtime: OperatorRuntime,
  session: ChannelSession,
  sequence: string,
  deadline: Deadline,
): Promise<CatchUpOutcome> {
  const target = { sequence, sub: 0 };
  for await (const page of readPastProgress(runtime, session)) {
    const end = page.records.findIndex((r) => !isPast(target, { sequence: r.sequence, sub: 0 }));
    const records = end < 0 ? page.records : page.records.slice(0, end);
    session.counters.catchUpRecords += records.length;
    const inputs = decodeRecords(runtime, session.shard, session.memory, records);
    const outcome = await advanceChannel(runtime, session, inputs, deadline);
    if (outcome.kind === 'handBack') return outcome;
    if (end >= 0 || page.isAtTip || page.isEndOfShard) break;
    if (!hasTimeFor(deadline, runtime.settings.deadlineReserveMs)) {
      return { kind: 'handBack', reason: 'the catch-up read ran out of time' };
    }
  }
  return { kind: 'caughtUp' };
}

/**
 * P9: reads a closed shard to its end and marks its channel as finished. While records come in that the trigger is
 * probably delivering at this very moment, it leaves them to it for a while.
 */
export async function readToEndOfShard(
  runtime: OperatorRuntime,
  session: ChannelSession,
  deadline: Deadline,
): Promise<EndOfShardOutcome> {
  const { shardId } = session.shard;
  if (session.progress.isFinished) return { kind: 'finished' };
  // Our own reader leaves nothing out; behind the end of a shard there is nothing that the trigger could have gone past.
  session.hasJoined = true;
  for await (const page of readPastProgress(runtime, session)) {
    const idleMs = runtime.system.now() - session.progress.committedAtMs;
    const mayBeDelivered = runtime.hold === undefined && idleMs < runtime.settings.drainAfterMs;
    if (page.records.length > 0 && !session.isWarm && mayBeDelivered) {
      return { kind: 'notYet', reason: `shard ${shardId} still has records that come first` };
    }
    session.counters.catchUpRecords += page.records.length;
    const inputs = decodeRecords(runtime, session.shard, session.memory, page.records);
    const outcome = await advanceChannel(runtime, session, inputs, deadline);
    if (outcome.kind === 'handBack') return { kind: 'notYet', reason: outcome.reason };
    if (page.isEndOfShard) return await finishChannel(runtime, session);
    if (page.isAtTip && page.records.length === 0) {
      return { kind: 'notYet', reason: `shard ${shardId} is still open` };
    }
    if (!hasTimeFor(deadline, runtime.settings.deadlineReserveMs)) {
      return { kind: 'notYet', reason: `reading shard ${shardId} to its end ran out of time` };
    }
  }
  return { kind: 'notYet', reason: `shard ${shardId} did not come to its end` };
}

/** Marks a channel as finished; called only after our own reader stood at the end of the shard with everything committed. */
async function finishChannel(
  runtime: OperatorRuntime,
  session: ChannelSession,
): Promise<EndOfShardOutcome> {
  for (let tries = 0; tries < finishTriesMax; tries += 1) {
    if (session.progress.isFinished) return { kind: 'finished' };
    if (session.progress.firing !== undefined) {
      return { kind: 'notYet', reason: `shard ${session.shard.shardId} still has timers to fire` };
    }
    const nowMs = runtime.system.now();
    const other = await commitProgress(runtime, session, {
      ...session.progress,
      version: session.progress.version + 1,
      attempt: runtime.system.randomId(),
      isFinished: true,
      committedAtMs: nowMs,
      checkedAtMs: nowMs,
      fence: nextFence(session),
    });
    if (other === undefined) return { kind: 'finished' };
    await adoptProgress(runtime, session, other);
  }
  return { kind: 'notYet', reason: `shard ${session.shard.shardId} is being finished by others` };
}

/** How long before the end of retention a channel that was not looked at counts as having lost records, ms. */
const retentionMarginMs = 3600 * 1000;
const hourMs = 3600 * 1000;

/**
 * The pages of a shard after progress. Where the record at progress has left the stream, nothing after it can have left
 * with it as long as the channel was looked at within retention; then reading begins with the oldest record. Else
 * records may be lost, and that is said, not passed over (R7).
 */
export async function* readPastProgress(
  runtime: OperatorRuntime,
  session: ChannelSession,
): AsyncGenerator<ShardPage> {
  const { shardId } = session.shard;
  const { position, checkedAtMs, committedAtMs } = session.progress;
  if (position === undefined) refuseGap(runtime, session, committedAtMs);
  try {
    yield* runtime.reader.read(shardId, position?.sequence);
    return;
  } catch (error) {
    if (position === undefined || !isHoldfastError(error, 'invalid')) throw error;
    refuseGap(runtime, session, checkedAtMs);
  }
  yield* runtime.reader.read(shardId, undefined);
}

/** Stops a channel that was not looked at for so long that unread records may have left the stream. */
function refuseGap(runtime: OperatorRuntime, session: ChannelSession, seenAtMs: number): void {
  if (runtime.acceptsGaps === true) return;
  const retentionMs = (runtime.memory.stream?.retentionHours ?? 24) * hourMs;
  const unseenMs = runtime.system.now() - seenAtMs;
  if (unseenMs <= retentionMs - retentionMarginMs) return;
  const { position } = session.progress;
  const what =
    position === undefined
      ? 'nothing of it has been read yet'
      : `the record at progress ${position.sequence} has left the stream`;
  throw new HoldfastError(
    'invalid',
    `channel ${session.id}: ${what} and the shard was last looked at ${Math.round(unseenMs / hourMs)} h ago, with a retention of ${retentionMs / hourMs} h: records after it may be lost. The channel stops; restore with acceptGap to go on without them`,
  );
}
