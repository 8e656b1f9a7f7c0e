import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordPlace } from '../../../cli/demo/feed-stream.ts';
import { isPast } from '../../../shared/core/position.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import { HoldfastError } from '../../../shared/core/errors.ts';
import type { ControlStore } from '../../../shared/ports/control-store.ts';

const pollMs = 500;

/** How long nothing may be committed before it counts as stuck, ms: the coordinator looks at quiet shards each minute. */
const stallMsMax = 180_000;

/** What is asked of a job's control table. */
export type ProgressReader = Pick<ControlStore, 'readJob' | 'listChannels' | 'readProgress'>;

export interface WaitOptions {
  readonly control: ProgressReader;
  readonly job: string;
  /** The last record of each shard that is waited for. */
  readonly ends: readonly RecordPlace[];
  readonly signal?: AbortSignal | undefined;
  /** How long nothing may be committed. @default three minutes */
  readonly stallMs?: number;
}

/**
 * Waits until the job has committed up to the last record of each shard, with all timers that it made due.
 *
 * @throws HoldfastError `unavailable` where nothing is committed for too long
 */
export async function waitForRecords({
  control,
  job,
  ends,
  signal,
  stallMs = stallMsMax,
}: WaitOptions): Promise<void> {
  let seen = '';
  let changedAtMs = performance.now();
  for (;;) {
    const progress = await readProgress(control, job);
    const missing = ends.filter(({ shardId, sequence }) => {
      return !isDone(progress.get(shardId), sequence);
    });
    if (missing.length === 0) return;
    const now = [...progress].map(([shardId, { version }]) => `${shardId}@${version}`).join(' ');
    if (now !== seen) changedAtMs = performance.now();
    seen = now;
    if (performance.now() - changedAtMs > stallMs) {
      const shards = missing.map(({ shardId }) => shardId).join(', ');
      throw new HoldfastError(
        'unavailable',
        `job ${job} has committed nothing for ${stallMs / 1_000} s, and ${shards} has records left; see the log of the endpoint for what its trigger does, and npx holdfast status`,
      );
    }
    await sleep(pollMs, undefined, { signal });
  }
}

/** Of each shard in the generation that the job is in. */
async function readProgress(control: ProgressReader, job: string): Promise<Map<string, Progress>> {
  const generation = (await control.readJob(job))?.generation ?? 1;
  const found = new Map<string, Progress>();
  for (const channel of await control.listChannels(job, generation)) {
    const progress = await control.readProgress(job, generation, channel);
    if (progress !== undefined) found.set(channel.shardId, progress);
  }
  return found;
}

function isDone(progress: Progress | undefined, sequence: string): boolean {
  const end = { sequence, sub: 0 };
  return progress !== undefined && !isPast(end, progress.position) && progress.firing === undefined;
}
