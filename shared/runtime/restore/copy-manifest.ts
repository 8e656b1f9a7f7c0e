import { HoldfastError, isHoldfastError } from '../../core/errors.ts';
import type { ChannelCut, Manifest, SortedRun } from '../../core/manifest.ts';
import { clonePinPrefix, type PendingWork } from '../../core/registry.ts';
import { changeRegistry, readRegistry } from '../checkpoint/change-registry.ts';
import { pinManifest } from '../checkpoint/pin-manifest.ts';
import { planCompaction, readPlan } from '../checkpoint/plan-compaction.ts';
import { runCompaction, type CompactionState } from '../checkpoint/run-compaction.ts';
import {
  completeManifest,
  countBytes,
  countKeys,
  createManifest,
  dropPending,
  manifestOf,
  readManifest,
  registerPending,
} from '../checkpoint/take-manifest.ts';
import type { Deadline } from '../deadline.ts';
import { compactionPrefix } from '../object-names.ts';
import type { CloneOrder } from './check-clone.ts';
import { readBesides, requireCloned } from './cloned-objects.ts';
import type { RestorePorts } from './restore-order.ts';
import { claimWork, restoreTimeoutMs } from './restore-steps.ts';
import { copiedGeneration } from './unborn-job.ts';

/*
 * R12: a clone begins with a manifest and files of its own, merged from those of the job that it clones. Once they stand, nothing
 * of the clone refers to that job any more, and its garbage collection is none of the clone's business. The steps stand in
 * this order; each can die anywhere and be run again, by itself or beside a twin.
 */

/** The tag of a copy that says which manifest it is one of. */
export const copyTag = 'holdfast:copy-of';

/** What the copy of a restore is called: in the registry, where a twin finds it. */
function copyLabel({ restore }: CloneOrder): string {
  return `clone:${restore}`;
}

/**
 * Pins the manifest in the registry of the cloned job (C7), and plans the merge of its files.
 *
 * @returns the number of the compaction; undefined where the copy is complete already
 * @throws HoldfastError `conflict` where a clone of this name copies another manifest
 */
export async function beginCopy(
  ports: RestorePorts,
  order: CloneOrder,
): Promise<number | undefined> {
  const cloned = requireCloned(ports);
  if ((await findCopy(ports, order)) !== undefined) return undefined;
  await pinCloned(ports, order);
  // A twin may have come to its end meanwhile, and its files with it. Our pin, which is not needed, goes with the last step.
  if ((await findCopy(ports, order)) !== undefined) return undefined;
  const manifest = await readManifest(cloned, order.copyOf);
  const work = await claimWork(
    ports,
    `restore:${order.restore}#copy`,
    'compaction',
    copiedGeneration,
  );
  const { number } = work;
  const into = compactionPrefix(ports.job, number);
  const objects = readBesides(ports.objects, cloned);
  const plan = await planCompaction({ ...ports, objects }, work, manifest, {
    ...{ into, dropsTombstones: false },
  });
  if (!isSame(plan.manifest, manifest)) throw otherManifest(order);
  return number;
}

/** Does as much of the merge as there is time for. */
export function runCopy(
  ports: RestorePorts,
  number: number,
  deadline: Deadline,
): Promise<CompactionState> {
  const objects = readBesides(ports.objects, requireCloned(ports));
  return runCompaction({ ...ports, objects }, number, deadline);
}

/**
 * Writes the copy's manifest, completes it, and lets go of the cloned job.
 *
 * @param number that of the compaction, merged to its end; undefined where the copy is complete already
 * @returns object name of the copy
 */
export async function finishCopy(
  ports: RestorePorts,
  order: CloneOrder,
  number: number | undefined,
): Promise<string> {
  const copy = (await findCopy(ports, order)) ?? (await writeCopy(ports, order, number));
  for (const { id, number: pending } of (await readRegistry(ports)).pending) {
    if (pending === number) await dropPending(ports, id);
  }
  await unpinCloned(ports, order);
  return copy;
}

/** Takes the pin away that the clone has in the registry of the cloned job. */
export async function unpinCloned(ports: RestorePorts, order: CloneOrder): Promise<void> {
  const id = pinId(ports, order);
  await changeRegistry(requireCloned(ports), (there) => {
    const pins = there.pins.filter((pin) => pin.id !== id);
    return pins.length === there.pins.length ? undefined : { ...there, pins };
  });
}

async function pinCloned(ports: RestorePorts, order: CloneOrder): Promise<void> {
  await pinManifest(requireCloned(ports), {
    id: pinId(ports, order),
    owner: `clone ${order.restore} of job ${ports.job}`,
    object: order.copyOf,
    sinceMs: ports.system.now(),
  });
}

/** Restores of the cloned job have names of their own there. */
function pinId({ job }: RestorePorts, { restore }: CloneOrder): string {
  return `${clonePinPrefix}${job}:${restore}`;
}

async function findCopy(ports: RestorePorts, order: CloneOrder): Promise<string | undefined> {
  const { complete } = await readRegistry(ports);
  const known = complete.find(({ label }) => label === copyLabel(order));
  if (known === undefined) return undefined;
  const { tags } = await readManifest(ports, known.object);
  if (tags[copyTag] !== order.copyOf) throw otherManifest(order);
  return known.object;
}

/** C4, in the generation before the first that the clone runs in. */
async function writeCopy(
  ports: RestorePorts,
  order: CloneOrder,
  number: number | undefined,
): Promise<string> {
  const { runs } =
    number === undefined ? {} : await runCopy(ports, number, { remainingMs: () => 0 });
  if (number === undefined || runs === undefined) {
    throw new HoldfastError(
      'internal',
      `the files of ${order.copyOf} are not copied to their end; begin clone ${order.restore} again`,
    );
  }
  const work = await registerCopy(ports, order);
  if (work !== undefined) {
    const { manifest } = await readPlan(ports, number);
    const copy = makeCopy(ports, order, { manifest, work, runs });
    const written = await createManifest(ports, manifestOf(ports.job, work), copy);
    await completeManifest(ports, work, written);
  }
  const made = await findCopy(ports, order);
  if (made !== undefined) return made;
  throw new HoldfastError(
    'conflict',
    `the copy of ${order.copyOf} was taken away before it was complete; begin clone ${order.restore} again`,
  );
}

/** Undefined where a twin has completed it meanwhile. */
async function registerCopy(
  ports: RestorePorts,
  order: CloneOrder,
): Promise<PendingWork | undefined> {
  const label = copyLabel(order);
  try {
    return await registerPending(
      ports,
      {
        ...{ kind: 'checkpoint', generation: copiedGeneration, label, id: label },
        timeoutMs: restoreTimeoutMs,
      },
      ({ complete }) => {
        if (complete.some((one) => one.label === label)) throw otherManifest(order);
      },
    );
  } catch (thrown) {
    if (isHoldfastError(thrown, 'conflict') && (await findCopy(ports, order)) !== undefined) {
      return undefined;
    }
    throw thrown;
  }
}

/** The cut is the same, of the same stream; files, generation and names are the clone's own. */
function makeCopy(
  { job, system }: RestorePorts,
  { copyOf }: CloneOrder,
  made: {
    readonly manifest: Manifest;
    readonly work: PendingWork;
    readonly runs: readonly SortedRun[];
  },
): Manifest {
  const { manifest, work, runs } = made;
  const channels = manifest.channels.map((cut): ChannelCut => ({
    ...cut,
    segments: [],
    progress: {
      ...cut.progress,
      generation: copiedGeneration,
      // Its segments are the cloned job's: there is none that outputs could be brought back from.
      head: undefined,
      fence: undefined,
    },
  }));
  const content = { generation: copiedGeneration, channels, runs };
  const bytes = countBytes(content);
  return {
    ...manifest,
    ...content,
    job,
    kind: 'checkpoint',
    number: work.number,
    label: work.label,
    tags: { ...manifest.tags, [copyTag]: copyOf },
    writtenAtMs: system.now(),
    newBytes: bytes,
    totalBytes: bytes,
    keysInRuns: countKeys(runs),
  };
}

function isSame(a: Manifest, b: Manifest): boolean {
  return (
    a.job === b.job &&
    a.kind === b.kind &&
    a.generation === b.generation &&
    a.number === b.number &&
    a.label === b.label
  );
}

function otherManifest({ restore, copyOf }: CloneOrder): HoldfastError {
  return new HoldfastError(
    'conflict',
    `clone ${restore} has been one from another manifest; give the one from ${copyOf} another name`,
  );
}
