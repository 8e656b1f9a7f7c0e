import { HoldfastError } from '../../../../shared/core/errors.ts';
import type { ManifestReference, PendingWork } from '../../../../shared/core/registry.ts';
import { noDeadline } from '../../../../shared/runtime/deadline.ts';
import {
  abortHold,
  fenceChannels,
  readJob,
  stopUnderHold,
  takeHold,
} from '../../../../shared/runtime/restore/hold.ts';
import {
  readFacts,
  type CheckpointPorts,
} from '../../../../shared/runtime/checkpoint/manifest-facts.ts';
import { runCompaction } from '../../../../shared/runtime/checkpoint/run-compaction.ts';
import {
  beginSavepoint,
  completeSavepoint,
  cutSavepoint,
  verifyFiles,
  waitUntilExact,
} from '../../../../shared/runtime/checkpoint/savepoint-steps.ts';
import { dropPending } from '../../../../shared/runtime/checkpoint/take-manifest.ts';

/*
 * A whole savepoint in one process: the steps that the workflow runs as tasks of their own, in the same order, called one after
 * the other.
 */

export interface SavepointOrder {
  /** Names the savepoint. */
  readonly label: string;
  /** Names this making of it; whoever calls again with it goes on where it ended. */
  readonly execution: string;
  readonly note: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The job stands still at the savepoint, until it is resumed or restored (R14). */
  readonly stops: boolean;
}

/** @throws HoldfastError; nothing is left of a savepoint that failed, and the job runs */
export async function makeSavepoint(
  ports: CheckpointPorts,
  order: SavepointOrder,
): Promise<ManifestReference> {
  const work = await beginSavepoint(ports, order);
  let holdId: string | undefined;
  try {
    const facts = await readFacts(ports, order);
    if (order.stops) holdId = await stopExactly(ports, order);
    await cutSavepoint(ports, work, facts);
    const reference = await fillSavepoint(ports, work);
    if (holdId !== undefined) await stopUnderHold(ports, holdId);
    return reference;
  } catch (thrown) {
    if (holdId !== undefined) await abortHold(ports, holdId);
    await dropPending(ports, work.id);
    throw thrown;
  }
}

async function fillSavepoint(
  ports: CheckpointPorts,
  work: PendingWork,
): Promise<ManifestReference> {
  for (;;) {
    const merge = await runCompaction(ports, work.number, noDeadline);
    if (!merge.isDone || merge.runs === undefined) continue;
    await verifyFiles(ports, merge.runs, 0, noDeadline);
    return completeSavepoint(ports, work, merge.runs);
  }
}

/** How many times a job is held and let go again until it was held at an exact cut. */
const holdsMax = 10;

/**
 * Holds the job at a moment at which its cut is exact (C3): under a hold it would never become so. Called again by the
 * same savepoint it finds its hold.
 *
 * @returns the id of the hold
 */
export async function stopExactly(
  ports: CheckpointPorts,
  { label }: Pick<SavepointOrder, 'label'>,
): Promise<string> {
  for (let tries = 0; tries < holdsMax; tries += 1) {
    const { version: jobVersion, hold } = await readJob(ports);
    const isOurs = hold?.kind === 'savepoint' && hold.owner === label;
    const id = isOurs ? hold.id : ports.system.randomId();
    const wanted = { id, kind: 'savepoint', owner: label, takesOver: false } as const;
    await takeHold(ports, { ...wanted, jobVersion });
    await fenceChannels(ports, id);
    if (await waitUntilExact(ports, { waitMs: 0 })) return id;
    await abortHold(ports, id);
    await waitUntilExact(ports);
  }
  throw new HoldfastError(
    'unavailable',
    `job ${ports.job} could not be held at an exact cut in ${holdsMax} tries: attempts die all the time; try again once it runs quietly`,
  );
}
