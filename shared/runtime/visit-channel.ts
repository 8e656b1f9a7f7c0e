import { describeThrown, HoldfastError, isHoldfastError, isPassing } from '../core/errors.ts';
import { isPast, type Position } from '../core/position.ts';
import type { Progress } from '../core/progress.ts';
import type { VisitGoal, VisitReport } from '../ports/operator-calls.ts';
import type { ShardPage } from '../ports/shard-reader.ts';
import { zeroCounters } from '../ports/telemetry.ts';
import { advanceChannel } from './advance-channel.ts';
import { readPastProgress, readToEndOfShard } from './catch-up.ts';
import { adoptProgress, nextFence, type ChannelSession } from './channel-session.ts';
import { commitProgress } from './commit-unit.ts';
import { hasTimeFor, type Deadline } from './deadline.ts';
import { decodeRecords } from './decode-records.ts';
import { openChannel } from './open-channel.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/*
 * A visit brings a channel forward without the trigger, with our own reader (R7). A patrol visits channels that are quiet,
 * closed or fenced up to the tip of their shards; a replay visits the channels of a restored job up to where they were held
 * (R6). Both are nothing but the catch-up read.
 */

/** A channel that has been seen at its tip so recently needs no commit that says so, ms. */
const checkIntervalMs = 10 * 60 * 1000;

/** How many times progress is written against other invocations. */
const checkTriesMax = 10;

/** Reads a shard from its channel's progress on and commits what is there, until the goal or the deadline. */
export async function visitChannel(
  runtime: OperatorRuntime,
  shardId: string,
  goal: VisitGoal,
  deadline: Deadline,
): Promise<VisitReport> {
  const counters = zeroCounters();
  let session: ChannelSession | undefined;
  const report = (isDone: boolean, reason = '', isStuck = false): VisitReport => ({
    isThere: isDone,
    reason,
    isStuck,
    position: session?.progress.position,
    isFinished: session?.progress.isFinished === true,
    records: counters.records,
  });
  try {
    const opened = await openChannel(runtime, shardId, deadline, counters);
    if (opened.kind === 'waiting') return report(false, opened.reason);
    session = opened.session;
    const reason = await goOn(runtime, session, goal, deadline);
    return report(reason === undefined, reason);
  } catch (thrown) {
    const isStuck = isHoldfastError(thrown, 'invalid') || isHoldfastError(thrown, 'corrupt');
    if (!isStuck && !isPassing(thrown)) throw thrown;
    return report(false, describeThrown(thrown), isStuck);
  } finally {
    runtime.telemetry.publish(runtime.operator.id, counters);
  }
}

/** Returns why the goal is not reached yet; undefined where it is. */
async function goOn(
  runtime: OperatorRuntime,
  session: ChannelSession,
  goal: VisitGoal,
  deadline: Deadline,
): Promise<string | undefined> {
  if (isThere(session.progress, goal)) return undefined;
  if (goal.kind === 'end') {
    const outcome = await readToEndOfShard(runtime, session, deadline);
    return outcome.kind === 'finished' ? undefined : outcome.reason;
  }
  for await (const page of readPastProgress(runtime, session)) {
    session.counters.catchUpRecords += page.records.length;
    const inputs = decodeRecords(runtime, session.shard, session.memory, page.records);
    const outcome = await advanceChannel(runtime, session, inputs, deadline);
    if (outcome.kind === 'handBack') return outcome.reason;
    if (isThere(session.progress, goal)) return undefined;
    if (page.isEndOfShard) return await endVisit(runtime, session, goal, deadline);
    if (isTip(page)) return await standAtTip(runtime, session, goal);
    if (!hasTimeFor(deadline, runtime.settings.deadlineReserveMs)) {
      return `shard ${session.shard.shardId} has more records than there was time for`;
    }
  }
  return `reading shard ${session.shard.shardId} stopped before its tip`;
}

/** True where a channel has reached a goal: behind its record no timer is left to fire. */
export function isThere({ position, firing, isFinished }: Progress, goal: VisitGoal): boolean {
  if (isFinished) return true;
  if (goal.kind !== 'position' || isPast(goal.position, position)) return false;
  return firing === undefined || isPast(position!, goal.position);
}

function isTip(page: ShardPage): boolean {
  return page.isAtTip && page.records.length === 0;
}

/** At the end of a closed shard: it is finished, and no position of it can lie further. */
async function endVisit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  goal: VisitGoal,
  deadline: Deadline,
): Promise<string | undefined> {
  const outcome = await readToEndOfShard(runtime, session, deadline);
  if (outcome.kind !== 'finished') return outcome.reason;
  if (goal.kind !== 'position' || runtime.acceptsGaps === true) return undefined;
  throw lostTarget(session, goal.position);
}

/** R7: our own reader stands at the tip. That is written down, and a fence that is over goes with it. */
async function standAtTip(
  runtime: OperatorRuntime,
  session: ChannelSession,
  goal: VisitGoal,
): Promise<string | undefined> {
  if (goal.kind === 'position' && runtime.acceptsGaps !== true) {
    throw lostTarget(session, goal.position);
  }
  session.hasJoined = true;
  for (let tries = 0; tries < checkTriesMax; tries += 1) {
    const nowMs = runtime.system.now();
    const { progress, staleFence } = session;
    const isFresh = nowMs - progress.checkedAtMs < checkIntervalMs;
    if (isFresh && (staleFence === undefined || progress.fence !== staleFence)) return undefined;
    const other = await commitProgress(runtime, session, {
      ...progress,
      version: progress.version + 1,
      attempt: runtime.system.randomId(),
      fence: nextFence(session),
      committedAtMs: nowMs,
      checkedAtMs: nowMs,
    });
    if (other === undefined) return undefined;
    await adoptProgress(runtime, session, other);
  }
  return 'other invocations are at work on the channel';
}

function lostTarget({ id, progress }: ChannelSession, target: Position): HoldfastError {
  return new HoldfastError(
    'invalid',
    `channel ${id} was held at ${target.sequence}, but its shard ends behind ${progress.position?.sequence ?? 'nothing'}: the records up to there have left the stream. Restore with acceptGap to go on without them, or undo the restore`,
  );
}
