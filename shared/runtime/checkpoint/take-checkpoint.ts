import { findObstacle, type CheckpointSettings } from '../../core/coordination.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { ManifestReference, PendingWork, Registry } from '../../core/registry.ts';
import type { Job } from '../../ports/control-store.ts';
import type { JobPorts } from '../job-ports.ts';
import { readJob } from '../restore/hold.ts';
import { isUnborn } from '../restore/unborn-job.ts';
import { changeRegistry } from './change-registry.ts';
import { findManifest } from './find-manifest.ts';
import { readFacts, type CheckpointPorts } from './manifest-facts.ts';
import { completeManifest, manifestOf, registerPending, writeManifest } from './take-manifest.ts';

/**
 * Registers a checkpoint of the job's generation. Of two that trigger at the same time, one does.
 *
 * @param isManual somebody asks for it: interval and pause do not count
 * @throws HoldfastError `conflict` where none may be triggered now, with the reason
 */
export async function triggerCheckpoint(
  ports: JobPorts,
  settings: CheckpointSettings,
  { isManual = false }: { readonly isManual?: boolean } = {},
): Promise<PendingWork> {
  const job = await readJob(ports);
  const refuse = (registry: Registry): void => {
    const facts = { registry, job: factsOf(job), isManual };
    const obstacle = findObstacle(settings, facts, ports.system.now());
    if (obstacle === undefined) return;
    throw new HoldfastError(
      'conflict',
      `no checkpoint of job ${ports.job} can be triggered now: ${obstacle}`,
    );
  };
  return registerPending(
    ports,
    {
      kind: 'checkpoint',
      generation: job.generation,
      label: '',
      timeoutMs: settings.timeoutMs,
    },
    refuse,
  );
}

/** What of a job coordination looks at. A job without a generation does not run yet. */
export function factsOf(job: Job): {
  readonly generation: number;
  readonly isRunning: boolean;
  readonly isHeld: boolean;
} {
  const { generation, status, hold } = job;
  const isRunning = status === 'running' && !isUnborn(job);
  return { generation, isRunning, isHeld: hold !== undefined };
}

/**
 * Brings a pending checkpoint to its end: writes its manifest, unless one stands, and completes it. It can die anywhere and be
 * called again, by anybody, also beside itself.
 *
 * @returns undefined where the work is not pending any more: it was found too old
 */
export async function finishCheckpoint(
  ports: CheckpointPorts,
  work: PendingWork,
  { isStanding = false }: { readonly isStanding?: boolean } = {},
): Promise<ManifestReference | undefined> {
  const manifest =
    (isStanding ? await findManifest(ports, manifestOf(ports.job, work)) : undefined) ??
    (await writeManifest(ports, work, await readFacts(ports)));
  return completeManifest(ports, work, manifest);
}

/** C7: strikes complete checkpoints off the registry, each only while nobody has pinned it. */
export async function retireCheckpoints(
  ports: JobPorts,
  references: readonly ManifestReference[],
): Promise<void> {
  const names = new Set(references.map(({ object }) => object));
  await changeRegistry(ports, (there) => {
    const pinned = new Set(there.pins.map(({ object }) => object));
    const complete = there.complete.filter(
      ({ object }) => !names.has(object) || pinned.has(object),
    );
    return complete.length === there.complete.length ? undefined : { ...there, complete };
  });
}
