import { channelId } from '../../core/channel.ts';
import type { CompactionPlan } from '../../core/compaction-plan.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Base, Manifest } from '../../core/manifest.ts';
import type { Progress } from '../../core/progress.ts';
import type { Registry } from '../../core/registry.ts';
import type { Reservation } from '../../core/reservation.ts';
import type { Job } from '../../ports/control-store.ts';
import { inParallel } from '../in-parallel.ts';
import type { JobPorts } from '../job-ports.ts';
import { baseName, cutName, manifestName, parseObjectName } from '../object-names.ts';
import { readReservation } from '../restore/reservation.ts';
import type { GarbageFacts } from './classify-objects.ts';
import { readRegistry } from './change-registry.ts';
import { findBase, findManifest, pendingManifestName } from './find-manifest.ts';
import { createFindNeeded, type MadeGeneration } from './needed-segments.ts';
import { findPlan } from './plan-compaction.ts';

/** Requests at once. */
const requestsMax = 32;

/** What is read before segments and spills are looked at one by one. */
export interface RootFacts extends Omit<GarbageFacts, 'committedAt' | 'isSpillPassed'> {
  /** Of the present generation's channels, by id. */
  readonly progress: ReadonlyMap<string, Progress>;
}

/**
 * Reads what is registered, and what that names. To be called with what was listed before: what was put since then is not
 * touched, and what was registered before it was listed is seen here.
 *
 * @throws HoldfastError `corrupt` where a manifest or a base that counts is missing, `conflict` where it may have gone by
 *   another collection since the registry was read: nothing must be deleted then
 */
export async function gatherRoots(
  ports: JobPorts,
  { generation: present, timeline, hold }: Job,
  registry: Registry,
  listed: readonly string[],
): Promise<RootFacts> {
  const { job } = ports;
  // R11, R12: a job that has not begun is in none, and what it begins with is numbered behind the manifest that it is.
  const known = registry.complete.map(({ generation }) => generation);
  const reservations = await readReservations(ports, Math.max(present, ...known));
  const plans = await readPlans(ports, registry, listed);
  const compactions = new Set([...registry.pending, ...plans].map(({ number }) => number));
  const { manifests, isUnclear } = await readManifests(ports, registry, hold?.undo);
  const bases = await readBases(ports, present, registry, { reservations, compactions });
  const progress = await readProgress(ports, present);
  const flipped = new Set(timeline.map(({ generation }) => generation));
  const restores = await readOrigins(
    ports,
    registry,
    reservations.filter(({ generation }) => flipped.has(generation)),
  );
  const current = registry.base === undefined ? undefined : bases.get(registry.base.object);
  const compacted = new Map(
    current?.generation === present
      ? current.compacted.map(({ channel, number }) => [channel, number])
      : [],
  );
  return {
    ...{ job, present, registry, manifests, compactions, bases, isUnclear, progress },
    listing: [...manifests.values(), ...plans.map(({ manifest }) => manifest)],
    origins: new Set(reservations.map(({ manifest }) => manifest)),
    headOf: (channel) => progress.get(channel)?.head,
    findNeeded: createFindNeeded({
      present,
      manifests: [...manifests.values()],
      restores,
      compacted: (channel) => compacted.get(channel) ?? 0,
    }),
  };
}

/** Numbers are taken without gaps behind the newest generation; before it some may be missing. */
async function readReservations(ports: JobPorts, newest: number): Promise<Reservation[]> {
  const numbers = Array.from({ length: newest }, (_, at) => at + 1);
  const known = await inParallel(numbers, requestsMax, (number) => readReservation(ports, number));
  const found = known.filter((one) => one !== undefined);
  for (let number = newest + 1; ; number += 1) {
    const next = await readReservation(ports, number);
    if (next === undefined) return found;
    found.push(next);
  }
}

async function readOrigins(
  ports: JobPorts,
  registry: Registry,
  reservations: readonly Reservation[],
): Promise<MadeGeneration[]> {
  return inParallel(reservations, requestsMax, async ({ generation, manifest: name, left }) => ({
    generation,
    manifest: await mustFind(ports, name, registry),
    areTablesLost: left === 'all',
  }));
}

/**
 * The plans of compactions that stay: while their work is pending, and while their manifest is pinned, since whoever pinned it
 * may have ordered them.
 */
async function readPlans(
  ports: JobPorts,
  { pending, pins }: Registry,
  listed: readonly string[],
): Promise<readonly CompactionPlan[]> {
  const pendingNumbers = new Set(pending.map(({ number }) => number));
  const numbers = new Set(pendingNumbers);
  for (const name of listed) {
    const identity = parseObjectName(ports.job, name);
    const isPart = ['plan', 'cut', 'run', 'base'].includes(identity.kind);
    if (isPart && 'number' in identity) numbers.add(identity.number);
  }
  const pinned = new Set(pins.map(({ object }) => object));
  const plans = await inParallel([...numbers], requestsMax, (number) => findPlan(ports, number));
  return plans
    .filter((plan) => plan !== undefined)
    .filter(
      ({ number, manifest }) =>
        pendingNumbers.has(number) || pinned.has(manifestName(ports.job, manifest)),
    );
}

async function readManifests(
  ports: JobPorts,
  registry: Registry,
  undo: string | undefined,
): Promise<{ manifests: ReadonlyMap<string, Manifest>; isUnclear: boolean }> {
  const { complete, pins, pending } = registry;
  const manifests = new Map<string, Manifest>();
  const names = new Set(complete.map(({ object }) => object));
  if (undo !== undefined) names.add(undo);
  await inParallel([...names], requestsMax, async (name) => {
    manifests.set(name, await mustFind(ports, name, registry));
  });
  let isUnclear = false;
  for (const work of pending) {
    const name = pendingManifestName(ports.job, work);
    const written = name === undefined ? undefined : await findManifest(ports, name);
    const cut = written ?? (await findManifest(ports, cutName(ports.job, work.number)));
    const isPlanned = (await findPlan(ports, work.number)) !== undefined;
    if (cut !== undefined) manifests.set(name ?? cutName(ports.job, work.number), cut);
    else if (!isPlanned) isUnclear = true;
  }
  for (const { object } of pins) {
    const pinned = await findManifest(ports, object);
    if (pinned !== undefined) manifests.set(object, pinned);
  }
  return { manifests, isUnclear };
}

/** The base that counts, those of compactions that stay, and those that generations are, or may yet be, loaded from. */
async function readBases(
  ports: JobPorts,
  present: number,
  { base, pins }: Registry,
  {
    reservations,
    compactions,
  }: {
    readonly reservations: readonly Reservation[];
    readonly compactions: ReadonlySet<number>;
  },
): Promise<ReadonlyMap<string, Base>> {
  const pinned = new Set(pins.map(({ object }) => object));
  // Void rows are written anew from what the present generation began with (R10), however often it has been merged since.
  const loaded = reservations.filter(
    ({ generation, manifest }) => generation >= present || pinned.has(manifest),
  );
  const names = new Set([
    ...loaded.map((reservation) => reservation.base),
    ...[...compactions].map((number) => baseName(ports.job, number)),
  ]);
  const counting = base?.generation === present ? base.object : undefined;
  if (counting !== undefined) names.add(counting);
  const bases = new Map<string, Base>();
  await inParallel([...names], requestsMax, async (name) => {
    const found = await findBase(ports, name);
    if (found !== undefined) bases.set(name, found);
    else if (name === counting) throw lost('base', name);
  });
  return bases;
}

async function readProgress(
  { control, job }: JobPorts,
  present: number,
): Promise<ReadonlyMap<string, Progress>> {
  const channels = await control.listChannels(job, present);
  const read = await inParallel(channels, requestsMax, async (channel) => {
    const progress = await control.readProgress(job, present, channel);
    return progress === undefined ? [] : [[channelId(channel), progress] as const];
  });
  return new Map(read.flat());
}

async function mustFind(ports: JobPorts, name: string, registry: Registry): Promise<Manifest> {
  const manifest = await findManifest(ports, name);
  if (manifest !== undefined) return manifest;
  if ((await readRegistry(ports)).version === registry.version) throw lost('manifest', name);
  throw new HoldfastError(
    'conflict',
    `manifest ${name} has gone while garbage of job ${ports.job} was being looked for: another collection is at work; nothing is collected now`,
  );
}

function lost(what: string, name: string): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `${what} ${name} is registered, but not in the bucket; nothing is collected, since nobody can tell what it named. Bring it back from a copy, or delete its entry`,
  );
}
