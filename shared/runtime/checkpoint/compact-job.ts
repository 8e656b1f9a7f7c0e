import { isOwnCompaction } from '../../core/coordination.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { PendingWork, Registry } from '../../core/registry.ts';
import type { Deadline } from '../deadline.ts';
import type { JobPorts } from '../job-ports.ts';
import { compactionPrefix, parseObjectName } from '../object-names.ts';
import { readJob } from '../restore/hold.ts';
import { readRegistry } from './change-registry.ts';
import { chooseCompaction, type MergeThresholds } from './choose-compaction.ts';
import { findManifest } from './find-manifest.ts';
import { finishCompaction } from './finish-compaction.ts';
import { findPlan, planCompaction } from './plan-compaction.ts';
import { runCompaction } from './run-compaction.ts';
import { dropPending, registerPending } from './take-manifest.ts';

/** A compaction is gone on with for so long before another one is begun in its place, ms. */
const compactionTimeoutMs = 24 * 3600 * 1000;

/** True where the newest checkpoint of a generation has what is worth merging. */
export async function isMergeDue(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  registry: Registry,
  generation: number,
  thresholds?: MergeThresholds,
): Promise<boolean> {
  return (await chooseMerge(ports, registry, generation, thresholds)) !== undefined;
}

async function chooseMerge(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  { complete, base }: Registry,
  generation: number,
  thresholds?: MergeThresholds,
) {
  const newest = complete.findLast(
    // Those with a label are of moments of the past (R15).
    (one) => one.kind === 'checkpoint' && one.label === '' && one.generation === generation,
  );
  // What has been merged since is listed by the next one.
  const isMerged =
    base?.generation === generation &&
    newest !== undefined &&
    baseNumber(ports.job, base.object) > newest.number;
  const manifest =
    newest === undefined || isMerged ? undefined : await findManifest(ports, newest.object);
  if (manifest === undefined) return undefined;
  const choice = chooseCompaction(manifest, thresholds);
  return choice.kind === 'none' ? undefined : { manifest, choice };
}

function baseNumber(job: string, name: string): number {
  const identity = parseObjectName(job, name);
  return identity.kind === 'base' ? identity.number : 0;
}

/**
 * Goes on with the compaction of a job, or begins one, for as long as there is time. Whoever comes next goes on behind the last
 * file that stands.
 *
 * @param work the compaction that is pending
 * @returns true once its runs are what the next checkpoints list
 */
export async function compactJob(
  ports: JobPorts,
  work: PendingWork | undefined,
  deadline: Deadline,
  thresholds?: MergeThresholds,
): Promise<boolean> {
  const { generation } = await readJob(ports);
  // Registered before anything is read: from here on the files of the newest checkpoint stay (C7).
  const pending = work ?? (await registerCompaction(ports, generation));
  if ((await findPlan(ports, pending.number)) === undefined) {
    const merge = await chooseMerge(ports, await readRegistry(ports), generation, thresholds);
    if (merge === undefined) {
      await dropPending(ports, pending.id);
      return false;
    }
    await planCompaction(ports, pending, merge.manifest, {
      into: compactionPrefix(ports.job, pending.number),
      dropsTombstones: merge.choice.kind === 'everything',
      runs: merge.choice.runs,
    });
  }
  const { isDone, runs } = await runCompaction(ports, pending.number, deadline);
  if (!isDone || runs === undefined) return false;
  return (await finishCompaction(ports, pending, runs)) !== undefined;
}

function registerCompaction(ports: JobPorts, generation: number): Promise<PendingWork> {
  const request = { kind: 'compaction', generation, label: '' } as const;
  return registerPending(ports, { ...request, timeoutMs: compactionTimeoutMs }, (registry) => {
    const other = registry.pending.find((one) => isOwnCompaction(one, generation));
    if (other === undefined) return;
    throw new HoldfastError(
      'conflict',
      `job ${ports.job} is being compacted already, by compaction ${other.number}; it is gone on with`,
    );
  });
}
