import type { Channel, Shard } from '../core/channel.ts';
import { HoldfastError } from '../core/errors.ts';
import type { Progress } from '../core/progress.ts';
import type { TimeDomain } from '../core/timer.ts';
import { earlierTime, floorsMax, inheritFloors, noWatermarks } from '../core/watermark.ts';
import type { Job } from '../ports/control-store.ts';
import type { Counters } from '../ports/telemetry.ts';
import { readToEndOfShard } from './catch-up.ts';
import { beginSession, refuseOtherTime, type ChannelSession } from './channel-session.ts';
import type { Deadline } from './deadline.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/** `waiting`: the channel's records have to wait for those of a parent (P9). */
export type OpenedChannel =
  | { readonly kind: 'open'; readonly session: ChannelSession }
  | { readonly kind: 'waiting'; readonly reason: string };

/** How many generations of splits and merges are followed up from a shard. */
const lineageDepthMax = 100;

/** How many times the birth of a channel is tried against other invocations. */
const birthTriesMax = 5;

/**
 * Opens the channel of a shard: reads its progress, or gives it its first, empty commit once all parents are finished (P9).
 */
export async function openChannel(
  runtime: OperatorRuntime,
  shardId: string,
  deadline: Deadline,
  counters: Counters,
  depth = 0,
): Promise<OpenedChannel> {
  if (depth > lineageDepthMax) {
    throw new HoldfastError(
      'internal',
      `shard ${shardId} has more than ${lineageDepthMax} ancestors`,
    );
  }
  const channel = await channelOf(runtime, shardId);
  const shard = await findShard(runtime, shardId);
  for (let tries = 0; tries < birthTriesMax; tries += 1) {
    const generation = await currentGeneration(runtime);
    const known = await runtime.control.readProgress(runtime.job, generation, channel);
    if (known !== undefined) {
      if (!(await mayPassFence(runtime, known, shardId))) continue;
      return {
        kind: 'open',
        session: await beginSession(runtime, channel, shard, known, counters),
      };
    }
    const parents = await finishParents(runtime, shard, deadline, counters, depth);
    if (parents.kind === 'waiting') return parents;
    const progress = firstProgress(runtime, shard, generation, parents.progress);
    const outcome = await runtime.control.bear({
      job: runtime.job,
      channel,
      progress,
      finishedParentIds: parents.progress.map(({ shardId }) => shardId),
      ...(runtime.hold === undefined ? {} : { hold: runtime.hold }),
    });
    switch (outcome) {
      case 'born':
        return {
          kind: 'open',
          session: await beginSession(runtime, channel, shard, progress, counters),
        };
      case 'exists':
        break;
      case 'parents-unfinished':
        return { kind: 'waiting', reason: `shard ${shardId} waits for its parents` };
      case 'job-changed':
        runtime.memory.generation = undefined;
        break;
    }
  }
  throw new HoldfastError(
    'conflict',
    `channel of shard ${shardId} could not be opened in ${birthTriesMax} tries; the records are handed back`,
  );
}

/**
 * R3: a fence is judged by the job item, which is read after it. In another generation everything starts over there; any hold
 * that we do not work under stops us; without one the fence is over, and the channel goes on once it has joined.
 */
async function mayPassFence(
  runtime: OperatorRuntime,
  { generation, fence }: Progress,
  shardId: string,
): Promise<boolean> {
  if (fence === undefined) return true;
  // Our own is no exception: a late write of it can come back to a generation that is over.
  runtime.memory.generation = undefined;
  const present = await currentGeneration(runtime);
  if (present !== generation) return false;
  if (runtime.hold === undefined || fence === runtime.hold) return true;
  throw new HoldfastError(
    'fenced',
    `shard ${shardId} is fenced by ${fence}, not by hold ${runtime.hold} that this replay works under; fence it anew`,
  );
}

/** The stream that the operator reads, asked for once in an environment. */
export async function channelOf(runtime: OperatorRuntime, shardId: string): Promise<Channel> {
  runtime.memory.stream ??= await runtime.reader.describe();
  return { operator: runtime.operator.id, stream: runtime.memory.stream.incarnation, shardId };
}

/** C1: a runtime that finds no job item must not begin one: its tables may have been lost. */
async function currentGeneration(runtime: OperatorRuntime): Promise<number> {
  if (runtime.memory.generation !== undefined) return runtime.memory.generation;
  const job = await runtime.control.readJob(runtime.job);
  if (job === undefined) {
    throw new HoldfastError(
      'fenced',
      `job ${runtime.job} has no item in the control table; only a deploy creates it. If it was deployed before, its tables are lost: restore it. Records are handed back`,
    );
  }
  if (job.status !== 'running' || job.hold?.id !== runtime.hold) {
    throw new HoldfastError('fenced', `job ${runtime.job} ${describeStop(job, runtime.hold)}`);
  }
  if (job.maxParallelism !== runtime.maxParallelism) {
    throw new HoldfastError(
      'invalid',
      `job ${runtime.job} was created with maxParallelism ${job.maxParallelism}, this code has ${runtime.maxParallelism}; it is fixed for the life of a job, deploy the old value`,
    );
  }
  runtime.memory.generation = job.generation;
  return job.generation;
}

function describeStop({ status, hold }: Job, own: string | undefined): string {
  if (own !== undefined) return `is not held by ${own} any more; this replay is over`;
  const what = hold === undefined ? status : `held by ${hold.kind} ${hold.owner} (${hold.id})`;
  return `is ${what}; records are handed back until it runs`;
}

async function findShard(runtime: OperatorRuntime, shardId: string): Promise<Shard> {
  const known = runtime.memory.shards.get(shardId);
  if (known !== undefined) return known;
  const shards = await runtime.reader.listShards();
  runtime.memory.shards = new Map(shards.map((shard) => [shard.shardId, shard]));
  const found = runtime.memory.shards.get(shardId);
  if (found !== undefined) return found;
  throw new HoldfastError(
    'unavailable',
    `shard ${shardId} delivers records but is not in the stream's list of ${shards.length} shards yet; the records are handed back`,
  );
}

interface ParentProgress {
  readonly shardId: string;
  readonly progress: Progress;
}

type FinishedParents =
  | { readonly kind: 'finished'; readonly progress: readonly ParentProgress[] }
  | { readonly kind: 'waiting'; readonly reason: string };

/**
 * Law 7: sees to it that every parent is finished. A parent that has left the stream and was never begun counts as
 * finished; one that was begun and not finished has lost records.
 */
async function finishParents(
  runtime: OperatorRuntime,
  shard: Shard,
  deadline: Deadline,
  counters: Counters,
  depth: number,
): Promise<FinishedParents> {
  const finished: ParentProgress[] = [];
  for (const parentId of shard.parentIds) {
    const parentChannel = await channelOf(runtime, parentId);
    const generation = await currentGeneration(runtime);
    const progress = await runtime.control.readProgress(runtime.job, generation, parentChannel);
    if (progress?.isFinished === true) {
      finished.push({ shardId: parentId, progress });
      continue;
    }
    if (!runtime.memory.shards.has(parentId)) {
      if (progress === undefined) continue;
      throw new HoldfastError(
        'invalid',
        `shard ${parentId}, the parent of ${shard.shardId}, has left the stream, but was read only up to ${progress.position?.sequence ?? 'its start'}: records after that are past retention. Restore to accept the gap`,
      );
    }
    const parent = await openChannel(runtime, parentId, deadline, counters, depth + 1);
    if (parent.kind === 'waiting') return parent;
    const end = await readToEndOfShard(runtime, parent.session, deadline);
    if (end.kind !== 'finished') return { kind: 'waiting', reason: end.reason };
    finished.push({ shardId: parentId, progress: parent.session.progress });
  }
  return { kind: 'finished', progress: finished };
}

/** P11, P12: a child goes on from what its parents have seen, each for the keys that it had. */
function firstProgress(
  runtime: OperatorRuntime,
  shard: Shard,
  generation: number,
  parents: readonly ParentProgress[],
): Progress {
  for (const { shardId, progress } of parents) {
    refuseOtherTime(runtime.operator, `shard ${shardId}`, progress);
  }
  const floors = parents.flatMap(({ progress }) => inheritFloors(shard.range, progress));
  if (floors.length > floorsMax) {
    throw new HoldfastError(
      'internal',
      `shard ${shard.shardId} inherits ${floors.length} watermarks, at most ${floorsMax} are kept`,
    );
  }
  const nowMs = runtime.system.now();
  return {
    generation,
    version: 1,
    position: undefined,
    attempt: runtime.system.randomId(),
    head: undefined,
    aheadMax: undefined,
    isFinished: false,
    range: shard.range,
    parentIds: shard.parentIds,
    committedAtMs: nowMs,
    checkedAtMs: 0,
    watermarks: noWatermarks,
    floors,
    timeRules: runtime.operator.timeRules,
    firing: undefined,
    earliest: {
      event: earliestOf(parents, 'event'),
      arrival: earliestOf(parents, 'arrival'),
    },
    fence: runtime.hold,
  };
}

/** No later than any timer that the child inherits; it may be another child's. */
function earliestOf(parents: readonly ParentProgress[], domain: TimeDomain): number | undefined {
  return parents.reduce<number | undefined>(
    (earliest, { progress }) => earlierTime(earliest, progress.earliest[domain]),
    undefined,
  );
}
