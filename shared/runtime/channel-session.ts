import { channelId, type Channel, type Shard } from '../core/channel.ts';
import { HoldfastError } from '../core/errors.ts';
import type { Progress } from '../core/progress.ts';
import { chainReferencesMax } from '../core/segment.ts';
import type { Operator } from '../operator/operator.ts';
import type { Counters } from '../ports/telemetry.ts';
import {
  forgetChannel,
  isOwnCommit,
  recallChannel,
  type ChannelMemory,
} from './environment-memory.ts';
import { segmentName } from './object-names.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import { readSegmentHeader } from './read-segment-header.ts';

/** One invocation's hold on a channel: what it believes progress to be, and what it may rely on. */
export interface ChannelSession {
  readonly channel: Channel;
  readonly id: string;
  readonly shard: Shard;
  progress: Progress;
  /** Progress was this environment's own last commit when the session began, or is by now (P8). */
  isWarm: boolean;
  readonly memory: ChannelMemory;
  readonly counters: Counters;
  /** The fence of a hold that is over (R3): it stays until a unit has joined what the trigger has gone past meanwhile. */
  readonly staleFence: string | undefined;
  /** Everything up to the records at hand is in: the next commit takes a stale fence away (R7). */
  hasJoined: boolean;
}

/** Begins a session at a progress that has just been read; its fence, if it has one, is ours or over. */
export async function beginSession(
  runtime: OperatorRuntime,
  channel: Channel,
  shard: Shard,
  progress: Progress,
  counters: Counters,
): Promise<ChannelSession> {
  const id = channelId(channel);
  const memory = recallChannel(runtime.memory, id);
  const session: ChannelSession = {
    channel,
    id,
    shard,
    progress,
    isWarm: false,
    memory,
    counters,
    staleFence: progress.fence === runtime.hold ? undefined : progress.fence,
    hasJoined: false,
  };
  await adoptProgress(runtime, session, progress);
  return session;
}

/** P7, P8: goes on from a progress that was read. Somebody else's commit makes everything remembered worthless. */
export async function adoptProgress(
  runtime: OperatorRuntime,
  session: ChannelSession,
  progress: Progress,
): Promise<void> {
  const { fence } = progress;
  const isOpened = progress === session.progress;
  if (!isOpened && (fence !== undefined || runtime.hold !== undefined)) {
    // Who goes on is decided where a channel is opened, by the job item: this fence may be one that came late.
    throw new HoldfastError(
      'fenced',
      `channel ${session.id} ${fence === undefined ? 'is no longer held' : `was held by ${fence} meanwhile`}; the records are handed back`,
    );
  }
  refuseOtherTime(runtime.operator, `channel ${session.id}`, progress);
  session.progress = progress;
  session.isWarm = isOwnCommit(session.memory, progress);
  if (session.isWarm) return;
  forgetChannel(session.memory);
  if (progress.head === undefined) return;
  const name = segmentName(runtime.job, progress.generation, session.id, progress.head);
  const header = await readSegmentHeader(runtime.objects, name);
  session.memory.ahead = header.ahead;
  session.memory.chain = [progress.head, ...header.chain].slice(0, chainReferencesMax);
}

/** P11: within a generation, time is told in one way only. */
export function refuseOtherTime(
  operator: Operator,
  what: string,
  { generation, timeRules }: Progress,
): void {
  if (timeRules === undefined || timeRules === operator.timeRules) return;
  throw new HoldfastError(
    'fenced',
    `${what} was begun in generation ${generation} with ${JSON.stringify(timeRules)}, operator ${operator.id} now has ${JSON.stringify(operator.timeRules)}: watermarks and what fired by them would not be those of a replay. Records are handed back; deploy the old rules, or restore the job's newest checkpoint into a new generation`,
  );
}

/** The fence of a channel's next commit: a replay keeps its own, who has joined takes a stale one away (R3). */
export function nextFence({ progress, staleFence, hasJoined }: ChannelSession): string | undefined {
  return staleFence !== undefined && hasJoined ? undefined : progress.fence;
}

/** P8: after a surprise nothing that this session touched is trusted any more: states may be half-changed. */
export function distrustSession(session: ChannelSession): void {
  forgetChannel(session.memory);
  session.isWarm = false;
}
