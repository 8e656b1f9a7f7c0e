import { channelId } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Manifest } from '../../core/manifest.ts';
import { isPast } from '../../core/position.ts';
import type { Reservation } from '../../core/reservation.ts';
import type { Hold, Job } from '../../ports/control-store.ts';
import type { VisitGoal } from '../../ports/operator-calls.ts';
import type { ShardReader } from '../../ports/shard-reader.ts';
import { readManifest } from '../checkpoint/take-manifest.ts';
import type { JobPorts } from '../job-ports.ts';
import { isThere } from '../visit-channel.ts';
import { changeHeldJob, readHeldJob } from './hold.ts';
import { isUnborn } from './unborn-job.ts';

/**
 * R5, the flip: by one compare-and-swap on the job item the job goes over to its new generation. Before it a restore can
 * be aborted as if it had never been; from here there is only forward.
 */
export async function flipJob(
  ports: JobPorts,
  holdId: string,
  { generation, parent, manifest }: Reservation,
): Promise<Job> {
  return changeHeldJob(ports, holdId, (job) => {
    if (job.hold.isFlipped && job.generation === generation) return undefined;
    if (job.hold.undo === undefined && !isUnborn(job)) {
      throw new HoldfastError(
        'internal',
        `job ${job.name} would flip without a complete manifest of the positions at which it is held`,
      );
    }
    return {
      ...job,
      generation,
      hold: { ...job.hold, isFlipped: true },
      timeline: [...job.timeline, { generation, parent, manifest }],
    };
  });
}

/** What one channel has to reach before the hold may end (R5). */
export interface ReplayTarget {
  readonly channel: string;
  readonly operator: string;
  readonly shardId: string;
  readonly goal: VisitGoal;
}

/**
 * R6: where the channels of the held job stood. Under a hold that was taken over from a restore that had flipped and died,
 * what that one had to reach counts, too (R1). Channels that had read nothing have nothing to reach.
 */
export async function readTargets(
  ports: JobPorts & { readonly reader: ShardReader },
  holdId: string,
): Promise<ReplayTarget[]> {
  const { hold, operators } = await readHeldJob(ports, holdId);
  if (hold.undo === undefined) return listTips(ports.reader, operators);
  const targets = new Map<string, ReplayTarget>();
  for (let one: Hold | undefined = hold; one !== undefined; one = one.before) {
    if (one.undo === undefined) continue;
    for (const target of listTargets(await readManifest(ports, one.undo))) {
      const other = targets.get(target.channel);
      if (other === undefined || isFurther(target.goal, other.goal)) {
        targets.set(target.channel, target);
      }
    }
  }
  return [...targets.values()];
}

/** R11, R12: it stood nowhere, or that was lost with its tables. What is in the stream now is what there is to reach. */
async function listTips(
  reader: ShardReader,
  operators: readonly string[],
): Promise<ReplayTarget[]> {
  const { incarnation: stream } = await reader.describe();
  const shards = await reader.listShards();
  return operators.flatMap((operator) =>
    shards.map(({ shardId }) => ({
      ...{ operator, shardId, goal: { kind: 'tip' } as const },
      channel: channelId({ operator, stream, shardId }),
    })),
  );
}

function listTargets(undo: Manifest): ReplayTarget[] {
  return undo.channels.flatMap(({ channel, progress }): ReplayTarget[] => {
    const { operator, shardId } = channel;
    const target = { channel: channelId(channel), operator, shardId };
    if (progress.isFinished) return [{ ...target, goal: { kind: 'end' } }];
    const { position } = progress;
    if (position === undefined) return [];
    return [{ ...target, goal: { kind: 'position', position } }];
  });
}

function isFurther(goal: VisitGoal, other: VisitGoal): boolean {
  if (other.kind !== 'position') return false;
  return goal.kind === 'end' || (goal.kind === 'position' && isPast(goal.position, other.position));
}

/** R5: by consistent reads, the channels that are not yet where they were held. */
export async function findBehind(
  ports: JobPorts,
  holdId: string,
  targets: readonly ReplayTarget[],
): Promise<string[]> {
  const { generation } = await readHeldJob(ports, holdId);
  const channels = await ports.control.listChannels(ports.job, generation);
  const known = new Map(channels.map((channel) => [channelId(channel), channel]));
  const behind: string[] = [];
  for (const { channel: id, goal } of targets) {
    // A tip moves on: the visit that stood there has said so.
    if (goal.kind === 'tip') continue;
    const channel = known.get(id);
    const now = channel && (await ports.control.readProgress(ports.job, generation, channel));
    if (now === undefined || !isThere(now, goal)) behind.push(id);
  }
  return behind;
}
