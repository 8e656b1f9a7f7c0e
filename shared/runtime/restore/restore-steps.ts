import { channelId, type Channel } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Base, Manifest, OperatorContract, SortedRun } from '../../core/manifest.ts';
import { encodeBase } from '../../core/manifest-codec.ts';
import type { PendingWork } from '../../core/registry.ts';
import type { DroppedState, Reservation } from '../../core/reservation.ts';
import type { Job, TimelineEntry } from '../../ports/control-store.ts';
import { changeRegistry, readRegistry } from '../checkpoint/change-registry.ts';
import {
  completeManifest,
  dropPending,
  readManifest,
  registerPending,
  writeManifest,
} from '../checkpoint/take-manifest.ts';
import { describeOperators } from '../checkpoint/manifest-facts.ts';
import { rebuildRegistry } from '../checkpoint/rebuild-registry.ts';
import { findBase } from '../checkpoint/find-manifest.ts';
import { pinManifest } from '../checkpoint/pin-manifest.ts';
import { planCompaction } from '../checkpoint/plan-compaction.ts';
import { baseName, compactionPrefix } from '../object-names.ts';
import { bringBackManifest, fallbackOf } from './backup-copies.ts';
import { compareContracts } from './compare-contracts.ts';
import { createHeldJob, nameUndo, readHeldJob, type HeldJob } from './hold.ts';
import { findLeft } from './left-behind.ts';
import { readReservation, readWay, reserveGeneration } from './reservation.ts';
import type { RestoreOrder, RestorePorts } from './restore-order.ts';
import { isUnborn } from './unborn-job.ts';

/*
 * The steps of a restore (R5), in the order of this file. Each can die anywhere and be run again, by itself or beside a twin.
 */

/** R11: makes the job's item and its registry again from what S3 has. What the backup alone has of manifests does not count. */
export async function recreateJob(
  ports: RestorePorts,
  order: RestoreOrder,
  holdId: string,
): Promise<void> {
  await bringBackManifest(ports, order.manifest);
  await rebuildRegistry(ports, fallbackOf(ports)?.primary);
  const { maxParallelism, operators, generation } = await readManifest(ports, order.manifest);
  const way = await readWay(ports, generation);
  const timeline = way
    .map((made): TimelineEntry => ({
      generation: made.generation,
      parent: made.parent,
      manifest: made.manifest,
    }))
    .reverse();
  const known = { maxParallelism, operators: operators.map(({ id }) => id), timeline };
  await createHeldJob(ports, { id: holdId, owner: order.restore }, known);
}

/** C7: the manifest and its files stay while the restore reads them. */
export async function pinForRestore(
  ports: RestorePorts,
  { restore, manifest }: RestoreOrder,
): Promise<void> {
  const owner = `restore ${restore}`;
  await pinManifest(ports, { id: restore, owner, object: manifest, sinceMs: ports.system.now() });
}

/** Ends what the restore has registered. */
export async function unpinManifest(ports: RestorePorts, restore: string): Promise<void> {
  await changeRegistry(ports, (there) => {
    const pins = there.pins.filter(({ id }) => id !== restore);
    const pending = there.pending.filter(({ label }) => !isWorkOf(label, restore));
    const isSame = pins.length === there.pins.length && pending.length === there.pending.length;
    return isSame ? undefined : { ...there, pins, pending };
  });
}

/** A restore may take so long before what it has registered counts as left behind, ms. */
export const restoreTimeoutMs = 24 * 3600 * 1000;

function workLabel(restore: string): string {
  return `restore:${restore}`;
}

/** An undo point belongs to one acquisition of the hold: the positions of an earlier one are not those of this. */
function undoLabel(restore: string, holdId: string): string {
  return `${workLabel(restore)}#${holdId}`;
}

function isWorkOf(label: string, restore: string): boolean {
  return label === workLabel(restore) || label.startsWith(undoLabel(restore, ''));
}

/** Work that is registered already, or is now: a twin finds it by its label. */
export async function claimWork(
  ports: RestorePorts,
  label: string,
  kind: 'compaction' | 'undo',
  generation: number,
): Promise<PendingWork> {
  const find = (works: readonly PendingWork[]): PendingWork | undefined =>
    works.find((work) => work.kind === kind && work.label === label);
  const known = find((await readRegistry(ports)).pending);
  if (known !== undefined) return known;
  return registerPending(ports, { kind, generation, label, timeoutMs: restoreTimeoutMs });
}

/**
 * Plans the merge of the manifest's files into runs, from which alone a generation is loaded; a manifest without segments
 * is loaded from its own, unless some of those may be in the backup alone: what the generation begins with stays in the bucket.
 */
export async function beginBase(
  ports: RestorePorts,
  order: RestoreOrder,
): Promise<{ readonly number: number; readonly mustMerge: boolean }> {
  const manifest = await readManifest(ports, order.manifest);
  const work = await claimWork(ports, workLabel(order.restore), 'compaction', manifest.generation);
  const mustMerge =
    order.fromBackup === true ||
    manifest.runs.length > 1 ||
    manifest.channels.some(({ segments }) => segments.length > 0);
  if (mustMerge) {
    const into = compactionPrefix(ports.job, work.number);
    await planCompaction(ports, work, manifest, { into, dropsTombstones: false });
  }
  return { number: work.number, mustMerge };
}

/** Writes the list of the files that the generation is loaded from. */
export async function writeBase(
  ports: RestorePorts,
  order: RestoreOrder,
  number: number,
  merged: readonly SortedRun[] | undefined,
): Promise<string> {
  const { generation, runs } = await readManifest(ports, order.manifest);
  const base: Base = { job: ports.job, generation, runs: merged ?? runs, compacted: [] };
  const name = baseName(ports.job, number);
  await ports.objects.create(name, encodeBase(base));
  return name;
}

export async function readBaseObject(
  ports: Pick<RestorePorts, 'objects' | 'job'>,
  name: string,
): Promise<Base> {
  const base = await findBase(ports, name);
  if (base !== undefined) return base;
  throw new HoldfastError('corrupt', `base ${name} is not in the bucket; begin the restore again`);
}

/**
 * R2: the manifest at the held positions, by which the restore can be undone. Undefined where the job has no generation yet:
 * there is nothing to go back to.
 */
export async function writeUndo(
  ports: RestorePorts,
  order: RestoreOrder,
  holdId: string,
): Promise<string | undefined> {
  const job = await readHeldJob(ports, holdId);
  if (isUnborn(job)) return undefined;
  if (job.hold.undo !== undefined) return job.hold.undo;
  const operators = await describeOperators(ports, job.operators);
  const known = (await readRegistry(ports)).complete.find(
    ({ label }) => label === undoLabel(order.restore, holdId),
  );
  const object = known?.object ?? (await completeUndo(ports, order, job, operators));
  await nameUndo(ports, holdId, object);
  return object;
}

async function completeUndo(
  ports: RestorePorts,
  order: RestoreOrder,
  { hold, generation, maxParallelism }: HeldJob,
  operators: readonly OperatorContract[],
): Promise<string> {
  const work = await claimWork(ports, undoLabel(order.restore, hold.id), 'undo', generation);
  const undo = await writeManifest(ports, work, {
    maxParallelism,
    operators,
    note: `before restore ${order.restore}`,
    tags: {},
  });
  const complete = await completeManifest(ports, work, undo);
  if (complete !== undefined) return complete.object;
  throw new HoldfastError(
    'conflict',
    `the undo point of restore ${order.restore} was taken away as too old before it was complete; begin the restore again`,
  );
}

/** What of a manifest the deployed code does not declare: where a restore goes on, that was allowed. */
export async function listDropped(
  ports: RestorePorts,
  { maxParallelism, operators }: Pick<Job, 'maxParallelism' | 'operators'>,
  manifest: Manifest,
): Promise<DroppedState[]> {
  const deployed = { maxParallelism, operators: await describeOperators(ports, operators) };
  return compareContracts(manifest, deployed).flatMap(({ loss }) => loss ?? []);
}

/** R4: the number of the generation, with where it forks. */
export async function reserve(
  ports: RestorePorts,
  order: RestoreOrder,
  holdId: string,
  base: string,
): Promise<Reservation> {
  const job = await readHeldJob(ports, holdId);
  if (job.hold.isFlipped) {
    const made = await readReservation(ports, job.generation);
    if (made?.restore === order.restore) return made;
  }
  const manifest = await readManifest(ports, order.manifest);
  const listed = new Map(
    manifest.channels.map(({ channel, progress }) => [channelId(channel), progress.position]),
  );
  const lacking = (await listLaterChannels(ports, job, manifest))
    .map(channelId)
    .filter((channel, at, all) => !listed.has(channel) && all.indexOf(channel) === at);
  return reserveGeneration(ports, Math.max(job.generation, manifest.generation), {
    parent: manifest.generation,
    manifest: order.manifest,
    restore: order.restore,
    hold: holdId,
    base,
    dropped: await listDropped(ports, job, manifest),
    left: await findLeft(ports, job, manifest.generation),
    // R10: what was begun behind the cut has no row that counts.
    forks: [...listed, ...lacking.map((channel) => [channel, undefined] as const)].map(
      ([channel, position]) => ({ channel, position }),
    ),
  });
}

/** Every channel that may have been begun behind the cut. */
async function listLaterChannels(
  ports: RestorePorts,
  { hold, operators }: HeldJob,
  manifest: Manifest,
): Promise<Channel[]> {
  const undo = hold.undo === undefined ? undefined : await readManifest(ports, hold.undo);
  const { incarnation: stream } = await ports.reader.describe();
  const shards = await ports.reader.listShards();
  return [
    ...(await ports.control.listChannels(ports.job, manifest.generation)),
    ...(undo?.channels.map(({ channel }) => channel) ?? []),
    ...operators.flatMap((operator) =>
      shards.map(({ shardId }) => ({ operator, stream, shardId })),
    ),
  ];
}

/** Takes away what a restore that failed has registered. */
export async function abandonWork(ports: RestorePorts, restore: string): Promise<void> {
  for (const { id, label } of (await readRegistry(ports)).pending) {
    if (isWorkOf(label, restore)) await dropPending(ports, id);
  }
  await unpinManifest(ports, restore);
}
