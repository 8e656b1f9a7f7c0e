import { channelId, type Channel, type Shard } from '../core/channel.ts';
import { HoldfastError } from '../core/errors.ts';
import type { Progress } from '../core/progress.ts';
import {
  chainReferencesMax,
  decodeSegmentHeader,
  segmentHeadBytes,
  type SegmentHeader,
} from '../core/segment.ts';
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
}

/** Begins a session at a progress that has just been read. */
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
  if (progress.fence !== undefined) {
    throw new HoldfastError(
      'fenced',
      `channel ${session.id} is held by ${progress.fence}; records are handed back until it is released`,
    );
  }
  refuseOtherTime(runtime.operator, `channel ${session.id}`, progress);
  session.progress = progress;
  session.isWarm = isOwnCommit(session.memory, progress);
  if (session.isWarm) return;
  forgetChannel(session.memory);
  if (progress.head === undefined) return;
  const header = await readHeadHeader(runtime, session, progress);
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

/** P8: after a surprise nothing that this session touched is trusted any more: states may be half-changed. */
export function distrustSession(session: ChannelSession): void {
  forgetChannel(session.memory);
  session.isWarm = false;
}

/** A header with a full chain and some ahead keys fits; where it does not, the whole object is read. */
const headerBytesGuess = 16 * 1024;

async function readHeadHeader(
  runtime: OperatorRuntime,
  session: ChannelSession,
  progress: Progress,
): Promise<SegmentHeader> {
  const name = segmentName(runtime.job, progress.generation, session.id, progress.head!);
  const start = await runtime.objects.readStart(name, headerBytesGuess);
  if (start === undefined) throw missingHead(name, session.id);
  if (segmentHeadBytes(start) <= start.length) return decodeSegmentHeader(start, name);
  const whole = await runtime.objects.read(name);
  if (whole === undefined) throw missingHead(name, session.id);
  return decodeSegmentHeader(whole, name);
}

function missingHead(name: string, id: string): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `channel ${id}: progress names segment ${name}, which is not in the bucket; nothing of Holdfast deletes it, restore from a checkpoint`,
  );
}
