import { findObstacle, type CheckpointSettings } from '../../core/coordination.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { ManifestReference, PendingWork, Registry } from '../../core/registry.ts';
import type { Job } from '../../ports/control-store.ts';
import type { OperatorCalls } from '../../ports/operator-calls.ts';
import type { JobPorts } from '../job-ports.ts';
import { readJob } from '../restore/hold.ts';
import { changeRegistry } from './change-registry.ts';
import { findManifest } from './find-manifest.ts';
import {
  completeManifest,
  manifestOf,
  registerPending,
  writeManifest,
  type ManifestFacts,
} from './take-manifest.ts';

export interface CheckpointPorts extends JobPorts {
  readonly calls: OperatorCalls;
}

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

/** What of a job coordination looks at. */
export function factsOf({ generation, status, hold }: Job): {
  readonly generation: number;
  readonly isRunning: boolean;
  readonly isHeld: boolean;
} {
  return { generation, isRunning: status === 'running', isHeld: hold !== undefined };
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
    (await writeManifest(ports, work, await describeJob(ports)));
  return completeManifest(ports, work, manifest);
}

/** What the deployed code of the job is a contract about. */
export async function describeJob(ports: CheckpointPorts): Promise<ManifestFacts> {
  const { maxParallelism, operators } = await readJob(ports);
  const contracts = await Promise.all(operators.map((operator) => ports.calls.describe(operator)));
  return { maxParallelism, operators: contracts, note: '', tags: {} };
}

/**
 * Takes pending work away, so that it can never complete; who finds it gone already changes nothing.
 *
 * @param failure why the checkpoint has failed: it then counts among the failures in a row. Undefined where nothing has
 * @returns true where it was there
 */
export async function takeAway(
  ports: JobPorts,
  work: PendingWork,
  failure: string | undefined,
): Promise<boolean> {
  const nowMs = ports.system.now();
  let wasThere = false;
  await changeRegistry(ports, (there) => {
    const pending = there.pending.filter(({ id }) => id !== work.id);
    wasThere = pending.length < there.pending.length;
    if (!wasThere) return undefined;
    return {
      ...there,
      pending,
      ...(failure === undefined
        ? {}
        : { failures: there.failures + 1, lastFailure: failure, endedAtMs: nowMs }),
    };
  });
  return wasThere;
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
