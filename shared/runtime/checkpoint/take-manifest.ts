import { channelId } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import type { Base, Manifest, SortedRun } from '../../core/manifest.ts';
import { encodeManifest } from '../../core/manifest-codec.ts';
import type {
  ManifestKind,
  ManifestReference,
  PendingWork,
  Registry,
} from '../../core/registry.ts';
import type { JobPorts } from '../job-ports.ts';
import { completionName, reservationName } from '../object-names.ts';
import { readReservation } from '../restore/reservation.ts';
import { changeRegistry } from './change-registry.ts';
import { findBase, findManifest, pendingManifestName } from './find-manifest.ts';
import type { ManifestFacts } from './manifest-facts.ts';
import { completeCut, readProgressOfAll, type Cut } from './read-cut.ts';

/*
 * C4, the order of a manifest: registered as pending → its files and the progress heads are read → the object → complete,
 * by compare-and-swap on what is pending → the completion object, so that S3 alone tells complete ones from abandoned
 * ones. Whoever finds a pending one may go on with it, beside its owner: the first object that stands is the manifest.
 */

export interface ManifestRequest {
  readonly kind: ManifestKind;
  readonly generation: number;
  /** The savepoint's name; empty for checkpoints. */
  readonly label: string;
  /** It may be taken away after this time, ms. */
  readonly timeoutMs: number;
  /** Whoever asks again with it finds the same work. @default a fresh random id */
  readonly id?: string;
}

/** Registers work; `refuse` looks at what is there first and throws where it must not begin. */
export async function registerPending(
  ports: JobPorts,
  request: Omit<ManifestRequest, 'kind'> & { readonly kind: PendingWork['kind'] },
  refuse: (registry: Registry) => void = () => undefined,
): Promise<PendingWork> {
  const id = request.id ?? ports.system.randomId();
  const nowMs = ports.system.now();
  const { kind, generation, label, timeoutMs } = request;
  const registry = await changeRegistry(ports, (there) => {
    if (there.pending.some((work) => work.id === id)) return undefined;
    refuse(there);
    const work: PendingWork = {
      id,
      kind,
      generation,
      label,
      number: there.nextNumber,
      sinceMs: nowMs,
      expiresAtMs: nowMs + timeoutMs,
    };
    return {
      ...there,
      nextNumber: there.nextNumber + 1,
      pending: [...there.pending, work],
      ...(kind === 'checkpoint' ? { triggeredAtMs: nowMs } : {}),
    };
  });
  return registry.pending.find((work) => work.id === id)!;
}

/**
 * Takes pending work away, so that it can never complete; who finds it gone already changes nothing.
 *
 * @param failure why a checkpoint has failed: it then counts among the failures in a row. Undefined where nothing has
 * @returns true where it was there
 */
export async function dropPending(ports: JobPorts, id: string, failure?: string): Promise<boolean> {
  const nowMs = ports.system.now();
  let wasThere = false;
  await changeRegistry(ports, (there) => {
    const pending = there.pending.filter((work) => work.id !== id);
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

/** Cuts, and writes the manifest of pending work; where it stands already, that one counts. */
export async function writeManifest(
  ports: JobPorts,
  pending: PendingWork,
  facts: ManifestFacts,
): Promise<Manifest> {
  const name = manifestOf(ports.job, pending);
  return (
    (await findManifest(ports, name)) ??
    createManifest(ports, name, await makeCut(ports, pending, facts))
  );
}

/** Writes a manifest under a name; where one stands already, that one counts. */
export async function createManifest(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  name: string,
  manifest: Manifest,
): Promise<Manifest> {
  const outcome = await ports.objects.create(name, encodeManifest(manifest));
  return outcome === 'created' ? manifest : readManifest(ports, name);
}

/** Cuts at this moment: what a manifest of the pending work says, if it is written now. */
export async function makeCut(
  ports: JobPorts,
  pending: PendingWork,
  facts: ManifestFacts,
): Promise<Manifest> {
  const registry = await ports.control.readRegistry(ports.job);
  const [base, before] = await Promise.all([
    readBase(ports, registry, pending.generation),
    readNewest(ports, registry, pending.generation),
  ]);
  const read = await readProgressOfAll(ports, pending.generation);
  const readAtMs = ports.system.now();
  const cut = await completeCut(ports, read, base, before);
  return makeManifest(ports, pending, facts, { cut, readAtMs, runs: base?.runs ?? [], before });
}

/**
 * Completes a manifest that stands. Undefined where its work is not pending any more: somebody found it too old, or the job
 * has gone over to another generation.
 */
export async function completeManifest(
  ports: JobPorts,
  pending: PendingWork,
  manifest: Manifest,
): Promise<ManifestReference | undefined> {
  const object = manifestOf(ports.job, pending);
  const reference: ManifestReference = {
    kind: manifest.kind,
    generation: manifest.generation,
    number: manifest.number,
    object,
    label: manifest.label,
    completedAtMs: ports.system.now(),
    bytes: manifest.totalBytes,
    isExact: manifest.isExact,
  };
  const registry = await changeRegistry(ports, (there) => {
    // Its number, too: a late registration of the same work is of other work (C4).
    const rest = there.pending.filter(
      ({ id, number }) => id !== pending.id || number !== pending.number,
    );
    if (rest.length === there.pending.length) return undefined;
    const isCheckpoint = pending.kind === 'checkpoint';
    return {
      ...there,
      pending: rest,
      complete: [...there.complete, reference].sort(compareManifests),
      ...(isCheckpoint
        ? { failures: 0, lastFailure: undefined, endedAtMs: reference.completedAtMs }
        : {}),
    };
  });
  const complete = registry.complete.find((one) => one.object === object);
  if (complete !== undefined) await markComplete(ports, complete);
  return complete;
}

/** C4: S3 alone tells a complete manifest from an abandoned one. */
export async function markComplete(ports: JobPorts, reference: ManifestReference): Promise<void> {
  const text = JSON.stringify({ completedAtMs: reference.completedAtMs });
  await ports.objects.create(completionName(ports.job, reference), new TextEncoder().encode(text));
}

/** C4: newest means highest (generation, number), never the clock. */
export function compareManifests(
  a: { readonly generation: number; readonly number: number },
  b: { readonly generation: number; readonly number: number },
): number {
  return a.generation - b.generation || a.number - b.number;
}

export async function readManifest(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  name: string,
): Promise<Manifest> {
  const manifest = await findManifest(ports, name);
  if (manifest !== undefined) return manifest;
  throw new HoldfastError(
    'invalid',
    `manifest ${name} is not in the bucket; list what there is with: holdfast checkpoint list`,
  );
}

/** The base of a generation: of its newest compaction, or the one that it began with. */
export async function readBase(
  ports: JobPorts,
  registry: Registry | undefined,
  generation: number,
): Promise<Base | undefined> {
  const name =
    registry?.base?.generation === generation
      ? registry.base.object
      : (await readReservation(ports, generation))?.base;
  if (name === undefined) return undefined;
  const base = await findBase(ports, name);
  if (base !== undefined) return base;
  throw new HoldfastError(
    'corrupt',
    `base ${name} of generation ${generation} (${reservationName(ports.job, generation)}) is not in the bucket; restore from another checkpoint`,
  );
}

async function readNewest(
  ports: JobPorts,
  registry: Registry | undefined,
  generation: number,
): Promise<Manifest | undefined> {
  const newest = registry?.complete.findLast(
    (one) => one.generation === generation && one.kind !== 'savepoint',
  );
  return newest === undefined ? undefined : readManifest(ports, newest.object);
}

export function manifestOf(job: string, pending: PendingWork): string {
  const name = pendingManifestName(job, pending);
  if (name !== undefined) return name;
  throw new HoldfastError('internal', `compaction ${pending.number} has no manifest`);
}

function makeManifest(
  { job, system }: JobPorts,
  pending: PendingWork,
  facts: ManifestFacts,
  made: {
    readonly cut: Cut;
    readonly readAtMs: number;
    readonly runs: readonly SortedRun[];
    readonly before: Manifest | undefined;
  },
): Manifest {
  const { cut, readAtMs, runs, before } = made;
  const content = { channels: cut.channels, runs, generation: pending.generation };
  const known = new Set(before === undefined ? [] : listFiles(before).map(({ name }) => name));
  return {
    job,
    kind: pending.kind as ManifestKind,
    number: pending.number,
    label: pending.label,
    ...facts,
    ...content,
    isExact: cut.isExact,
    triggeredAtMs: pending.sinceMs,
    readAtMs,
    writtenAtMs: system.now(),
    newBytes: sumBytes(listFiles(content).filter(({ name }) => !known.has(name))),
    totalBytes: countBytes(content),
    keysInRuns: countKeys(runs),
  };
}

type Content = Pick<Manifest, 'channels' | 'runs' | 'generation'>;

/** Bytes of all files that a manifest lists. */
export function countBytes(content: Content): number {
  return sumBytes(listFiles(content));
}

/** Keys with a state in runs. */
export function countKeys(runs: readonly SortedRun[]): number {
  return runs.flatMap(({ files }) => files).reduce((total, { keys }) => total + keys, 0);
}

function sumBytes(files: readonly ListedFile[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0);
}

interface ListedFile {
  /** Tells files of one job apart; not an object name where it is a segment's. */
  readonly name: string;
  readonly bytes: number;
}

function listFiles({ channels, runs, generation }: Content): ListedFile[] {
  const segments = channels.flatMap(({ channel, segments: some }) =>
    some.map(({ number, attempt, bytes }) => ({
      name: `${generation}/${channelId(channel)}/${number}-${attempt}`,
      bytes,
    })),
  );
  return [...runs.flatMap(({ files }) => files), ...segments];
}
