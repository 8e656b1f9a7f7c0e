import { HoldfastError } from '../../core/errors.ts';
import type { Manifest, SortedRun } from '../../core/manifest.ts';
import { isExact } from '../../core/progress.ts';
import type { ManifestReference, PendingWork, Registry } from '../../core/registry.ts';
import type { JobPorts } from '../job-ports.ts';
import { hasObject } from '../has-object.ts';
import { cutName, manifestName, savepointPrefix } from '../object-names.ts';
import { readJob } from '../restore/hold.ts';
import { readStateFile } from '../restore/load.ts';
import { isUnborn } from '../restore/unborn-job.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import type { ManifestFacts } from './manifest-facts.ts';
import { refuseCopied } from './back-up.ts';
import { readRegistry } from './change-registry.ts';
import { findManifest } from './find-manifest.ts';
import { readProgressOfAll } from './read-cut.ts';
import { planCompaction } from './plan-compaction.ts';
import {
  completeManifest,
  countBytes,
  countKeys,
  createManifest,
  makeCut,
  readManifest,
  registerPending,
} from './take-manifest.ts';

/*
 * A savepoint (C3, R14): an exact cut → files of its own, which no later compaction or collection touches → each of
 * them read back → the manifest. The steps stand in this order; each can be run again, by itself or beside a twin.
 */

/** A savepoint may take so long before its work counts as left behind, ms. */
const savepointTimeoutMs = 24 * 3600 * 1000;

/**
 * Registers a savepoint under its name; asked again by the same execution it finds its work.
 *
 * @throws HoldfastError `conflict` where there is one of this name, made or in the making, or a copy of one in the backup
 */
export async function beginSavepoint(
  ports: JobPorts,
  request: { readonly label: string; readonly execution: string },
): Promise<PendingWork> {
  const { label, execution } = request;
  // Spelled here, so that a bad name is refused before anything is done.
  const object = manifestName(ports.job, { kind: 'savepoint', label });
  const job = await readJob(ports);
  if (isUnborn(job)) {
    throw new HoldfastError(
      'invalid',
      `job ${ports.job} has not begun; there is nothing to make a savepoint of before the restore that it begins with`,
    );
  }
  const there = await readRegistry(ports);
  const known = there.pending.find(({ id }) => id === execution);
  if (known !== undefined) return known;
  const refuse = (registry: Registry): void => refuseTaken(ports.job, registry, label);
  refuse(there);
  if (await hasObject(ports.objects, object)) throw standing(object, label);
  await refuseCopied(ports, label);
  return registerPending(
    ports,
    {
      kind: 'savepoint',
      generation: job.generation,
      label,
      timeoutMs: savepointTimeoutMs,
      id: execution,
    },
    refuse,
  );
}

function standing(object: string, label: string): HoldfastError {
  return new HoldfastError(
    'conflict',
    `manifest ${object} of an earlier savepoint ${label} stands in the bucket, of one that came to nothing, or that a generation was made from; choose another name`,
  );
}

function refuseTaken(job: string, { complete, pending }: Registry, label: string): void {
  const made = complete.find((one) => one.kind === 'savepoint' && one.label === label);
  const making = pending.find((one) => one.kind === 'savepoint');
  if (made !== undefined) {
    throw new HoldfastError(
      'conflict',
      `job ${job} has a savepoint ${label} from ${new Date(made.completedAtMs).toISOString()}; choose another name, or delete it first`,
    );
  }
  if (making !== undefined) {
    throw new HoldfastError(
      'conflict',
      `savepoint ${making.label} of job ${job} is being made by ${making.id} since ${new Date(making.sinceMs).toISOString()}; wait for it`,
    );
  }
}

/** How long is waited for an exact cut, and between two looks, ms. */
const exactWaitMs = 30_000;
const exactPauseMs = 500;

/**
 * Cuts exactly (C3): a channel on which an attempt has died with some keys ahead is exact again a few units later. Writes the
 * cut down and plans its merge into the savepoint's own files.
 */
export async function cutSavepoint(
  ports: JobPorts,
  pending: PendingWork,
  facts: ManifestFacts,
): Promise<Manifest> {
  const name = cutName(ports.job, pending.number);
  const cut =
    (await findManifest(ports, name)) ??
    (await createManifest(ports, name, await waitForExactCut(ports, pending, facts)));
  const into = `${savepointPrefix(ports.job, pending.label)}files/`;
  await planCompaction(ports, pending, cut, { into, dropsTombstones: false });
  return cut;
}

async function waitForExactCut(
  ports: JobPorts,
  pending: PendingWork,
  facts: ManifestFacts,
): Promise<Manifest> {
  for (let tries = 0; ; tries += 1) {
    const cut = await makeCut(ports, pending, facts);
    if (cut.isExact) return cut;
    const { generation } = await readJob(ports);
    if (generation !== pending.generation) {
      throw new HoldfastError(
        'conflict',
        `job ${ports.job} has gone over to generation ${generation} before savepoint ${pending.label} had an exact cut of generation ${pending.generation}; make another savepoint`,
      );
    }
    if (tries > 0 && !(await waitUntilExact(ports))) {
      const { channel } = cut.channels.find(({ progress }) => progress.aheadMax !== undefined)!;
      throw new HoldfastError(
        'unavailable',
        `shard ${channel.shardId} has had keys past its progress for ${exactWaitMs / 1000} s: an attempt died there and no records have come since; try again once some have`,
      );
    }
  }
}

/** Waits until the cut of this moment is exact; false where it did not become so in time. */
export async function waitUntilExact(
  ports: JobPorts,
  { waitMs = exactWaitMs }: { readonly waitMs?: number } = {},
): Promise<boolean> {
  const endMs = ports.system.now() + waitMs;
  for (;;) {
    const { generation } = await readJob(ports);
    const read = await readProgressOfAll(ports, generation);
    if (read.every(({ progress }) => isExact(progress))) return true;
    if (ports.system.now() >= endMs) return false;
    await ports.system.sleep(exactPauseMs);
  }
}

export interface Verification {
  readonly files: number;
  readonly bytes: number;
  readonly keys: number;
  /** The file from which to go on; undefined where all have been read. */
  readonly nextFile: number | undefined;
}

const reserveMs = 20_000;

/** Reads the files of a savepoint back, every block with its checksum. */
export async function verifyFiles(
  ports: JobPorts,
  runs: readonly SortedRun[],
  fromFile: number,
  deadline: Deadline,
): Promise<Verification> {
  const files = runs.flatMap((run) => run.files);
  const seen = { files: 0, bytes: 0, keys: 0 };
  for (let at = fromFile; at < files.length; at += 1) {
    if (!hasTimeFor(deadline, reserveMs)) return { ...seen, nextFile: at };
    const file = files[at]!;
    const entries = await readStateFile(ports, file);
    seen.files += 1;
    seen.bytes += file.bytes;
    seen.keys += entries.filter(({ item }) => item.states !== undefined).length;
  }
  return { ...seen, nextFile: undefined };
}

/** Writes the manifest of a verified savepoint and completes it. */
export async function completeSavepoint(
  ports: JobPorts,
  pending: PendingWork,
  runs: readonly SortedRun[],
): Promise<ManifestReference> {
  const known = (await readRegistry(ports)).complete.find(
    (one) =>
      one.kind === 'savepoint' && one.label === pending.label && one.number === pending.number,
  );
  if (known !== undefined) return known;
  const cut = await readManifest(ports, cutName(ports.job, pending.number));
  const channels = cut.channels.map((channel) => ({ ...channel, segments: [] }));
  const bytes = countBytes({ ...cut, channels, runs });
  const name = manifestName(ports.job, { kind: 'savepoint', label: pending.label });
  const manifest = await createManifest(ports, name, {
    ...cut,
    runs,
    channels,
    writtenAtMs: ports.system.now(),
    newBytes: bytes,
    totalBytes: bytes,
    keysInRuns: countKeys(runs),
  });
  const complete = await completeManifest(ports, pending, manifest);
  if (complete !== undefined) return complete;
  throw new HoldfastError(
    'conflict',
    `savepoint ${pending.label} was taken away as too old before it was complete; make another one`,
  );
}
