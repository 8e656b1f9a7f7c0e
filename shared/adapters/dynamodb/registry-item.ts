import { HoldfastError } from '../../core/errors.ts';
import { pack, unpack } from '../../core/pack.ts';
import { compressZstd, decompressZstd } from '../../core/platform.ts';
import type {
  ManifestKind,
  ManifestReference,
  PendingWork,
  Pin,
  Registry,
} from '../../core/registry.ts';
import type { Item, TableKey } from './table-keys.ts';

/*
 * The registry's item in the control table. It is written with every step of every checkpoint, and a write costs a unit for
 * each KB: so it is packed without names, and compressed, as the names of objects resemble each other.
 *
 *   version  N  optimistic lock
 *   format   N  of the body
 *   body     B  zstd of MessagePack, see PackedRegistry
 */

const formatVersion = 1;

/** Largest body in bytes. DynamoDB takes 400 KB with keys and names. */
export const registryBytesMax = 390 * 1024;

/** What a body may inflate to: far above what compresses to its maximum. */
const rawBytesMax = 64 * 1024 * 1024;

type PackedPending = [
  id: string,
  kind: PendingWork['kind'],
  number: number,
  generation: number,
  label: string,
  sinceMs: number,
  expiresAtMs: number,
];

type PackedReference = [
  kind: ManifestKind,
  generation: number,
  number: number,
  object: string,
  label: string,
  completedAtMs: number,
  bytes: number,
  isExact: boolean,
];

type PackedPin = [object: string, id: string, owner: string, sinceMs: number];

type PackedCleanup = [generation: number, operator: string, group: number];

type PackedRegistry = [
  nextNumber: number,
  pending: PackedPending[],
  complete: PackedReference[],
  pins: PackedPin[],
  base: [generation: number, object: string] | null,
  failures: number,
  triggeredAtMs: number,
  endedAtMs: number,
  lastFailure: string | null,
  /** Missing before anything was deleted. */
  cleanup?: PackedCleanup,
];

/** @throws HoldfastError `invalid` where it is too large for an item */
export function encodeRegistry(key: TableKey, job: string, registry: Registry): Item {
  const body = compressZstd(pack(packRegistry(registry)), 'small');
  if (body.length > registryBytesMax) {
    const { complete, pending, pins } = registry;
    throw new HoldfastError(
      'invalid',
      `the registry of job ${job} has ${body.length} bytes with ${complete.length} manifests, ${pending.length} pending and ${pins.length} pins, an item takes at most ${registryBytesMax}; delete savepoints that are not needed any more, or retain fewer checkpoints`,
    );
  }
  return {
    ...key,
    version: { N: String(registry.version) },
    format: { N: String(formatVersion) },
    body: { B: body },
  };
}

/** @throws HoldfastError `invalid` for a newer format, `corrupt` for what is no registry */
export function decodeRegistry(job: string, item: Item): Registry {
  const format = Number(item['format']?.N);
  if (format > formatVersion) {
    throw new HoldfastError(
      'invalid',
      `the registry of job ${job} has format ${format}, this code reads up to ${formatVersion}; deploy code that reads ${format}`,
    );
  }
  try {
    const packed = unpack(decompressZstd(item['body']!.B!, rawBytesMax)) as PackedRegistry;
    return unpackRegistry(Number(item['version']!.N), packed);
  } catch (cause) {
    throw new HoldfastError(
      'corrupt',
      `cannot read the registry of job ${job}: its item has no body that is a packed registry, so something else writes to the control table; stop it, delete the item and register the manifests that are in the bucket again`,
      { cause },
    );
  }
}

function packRegistry(registry: Registry): PackedRegistry {
  const { base, cleanup } = registry;
  const packed: PackedRegistry = [
    registry.nextNumber,
    registry.pending.map((work): PackedPending => [
      work.id,
      work.kind,
      work.number,
      work.generation,
      work.label,
      work.sinceMs,
      work.expiresAtMs,
    ]),
    registry.complete.map((reference): PackedReference => [
      reference.kind,
      reference.generation,
      reference.number,
      reference.object,
      reference.label,
      reference.completedAtMs,
      reference.bytes,
      reference.isExact,
    ]),
    registry.pins.map(({ object, id, owner, sinceMs }): PackedPin => [object, id, owner, sinceMs]),
    base === undefined ? null : [base.generation, base.object],
    registry.failures,
    registry.triggeredAtMs,
    registry.endedAtMs,
    registry.lastFailure ?? null,
  ];
  if (cleanup !== undefined) {
    packed[9] = [cleanup.generation, cleanup.operator, cleanup.group];
  }
  return packed;
}

function unpackRegistry(version: number, packed: PackedRegistry): Registry {
  const [nextNumber, pending, complete, pins, base, failures, ...rest] = packed;
  const [triggeredAtMs, endedAtMs, last, cleanup] = rest;
  return {
    version,
    nextNumber,
    pending: pending.map(unpackPending),
    complete: complete.map(unpackReference),
    pins: pins.map(([object, id, owner, sinceMs]): Pin => ({ object, id, owner, sinceMs })),
    base: base === null ? undefined : { generation: base[0], object: base[1] },
    failures,
    triggeredAtMs,
    endedAtMs,
    lastFailure: last ?? undefined,
    ...(cleanup !== undefined && {
      cleanup: { generation: cleanup[0], operator: cleanup[1], group: cleanup[2] },
    }),
  };
}

function unpackPending(packed: PackedPending): PendingWork {
  const [id, kind, number, generation, label, sinceMs, expiresAtMs] = packed;
  return { id, kind, number, generation, label, sinceMs, expiresAtMs };
}

function unpackReference(packed: PackedReference): ManifestReference {
  const [kind, generation, number, object, label, completedAtMs, bytes, isExact] = packed;
  return { kind, generation, number, object, label, completedAtMs, bytes, isExact };
}
