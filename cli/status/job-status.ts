import { channelId } from '../../shared/core/channel.ts';
import { isExact } from '../../shared/core/progress.ts';
import type { ManifestReference } from '../../shared/core/registry.ts';
import type { Hold, Job } from '../../shared/ports/control-store.ts';
import { readRegistry } from '../../shared/runtime/checkpoint/change-registry.ts';
import { readProgressOfAll } from '../../shared/runtime/checkpoint/read-cut.ts';
import type { JobPorts } from '../../shared/runtime/job-ports.ts';

export interface ChannelStatus {
  readonly channel: string;
  readonly isFinished: boolean;
  readonly isExact: boolean;
  /** The hold that fences it; undefined for none. */
  readonly fence: string | undefined;
  readonly position: string | undefined;
  /** Since its last commit, ms. */
  readonly committedAgoMs: number;
  /** What arrived earlier than so long ago has all been seen, ms; undefined where it is finished. */
  readonly lagMs: number | undefined;
  /** Event time that no event is expected before, ms since the epoch. */
  readonly watermark: number | undefined;
}

export interface JobStatus {
  readonly job: string;
  readonly status: Job['status'];
  readonly generation: number;
  readonly hold: Hold | undefined;
  readonly channels: readonly ChannelStatus[];
  readonly checkpoints: {
    readonly last: ManifestReference | undefined;
    readonly retained: number;
    readonly savepoints: number;
    /** In the making, as `<kind> <number>`. */
    readonly pending: readonly string[];
    readonly failures: number;
    readonly lastFailure: string | undefined;
  };
  /** It processes records, and its checkpoints complete. */
  readonly isWell: boolean;
}

/** What is known of a job; undefined where it has no item in the control table. */
export async function readStatus(ports: JobPorts): Promise<JobStatus | undefined> {
  const job = await ports.control.readJob(ports.job);
  if (job === undefined) return undefined;
  const { status, generation, hold } = job;
  const [channels, registry] = await Promise.all([
    readProgressOfAll(ports, generation),
    readRegistry(ports),
  ]);
  const nowMs = ports.system.now();
  const { complete, pending, failures, lastFailure } = registry;
  const ofKind = (kind: ManifestReference['kind']) => complete.filter((one) => one.kind === kind);
  return {
    ...{ job: job.name, status, generation, hold },
    channels: channels.map(({ channel, progress }) => ({
      channel: channelId(channel),
      isFinished: progress.isFinished,
      isExact: isExact(progress),
      fence: progress.fence,
      position: progress.position?.sequence,
      committedAgoMs: nowMs - progress.committedAtMs,
      lagMs: progress.isFinished ? undefined : nowMs - progress.checkedAtMs,
      watermark: progress.watermarks.event,
    })),
    checkpoints: {
      last: ofKind('checkpoint').at(-1),
      retained: ofKind('checkpoint').length,
      savepoints: ofKind('savepoint').length,
      pending: pending.map(({ kind, number }) => `${kind} ${number}`),
      ...{ failures, lastFailure },
    },
    isWell: status === 'running' && hold === undefined && failures === 0,
  };
}
