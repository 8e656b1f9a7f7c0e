import type { Base, Manifest, StateFile } from '../../core/manifest.ts';
import { pack } from '../../core/pack.ts';
import { crc32c } from '../../core/crc32c.ts';
import { formatPosition } from '../../core/position.ts';
import type { Reservation } from '../../core/reservation.ts';
import type { RunEntry } from '../../core/run-file.ts';
import type { StoredItem } from '../../core/stored-item.ts';
import { packTimer } from '../../core/timer.ts';
import type { StateScope } from '../../ports/state-store.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import { isGone, makeLoaded, readStateFile, type LoadPorts } from './load.ts';

/** A generation that was loaded, and what from. */
export interface LoadedGeneration {
  readonly reservation: Reservation;
  readonly manifest: Manifest;
  readonly base: Base;
}

/** What a comparison of a loaded generation with its files found. */
export interface Comparison {
  readonly keys: number;
  readonly tombstones: number;
  /** Of states and keys. */
  readonly bytes: number;
  readonly differing: number;
  /** The first few differences, each as a sentence. */
  readonly examples: readonly string[];
  /** The key group from which to go on; undefined where all were compared. */
  readonly nextGroup: number | undefined;
}

const examplesMax = 10;

/** A group is not begun with less time than this left, ms. */
const reserveMs = 20_000;

/**
 * R5: compares the loaded state with the files that it came from, item by item and in both directions, by consistent reads.
 * Goes through the key groups in order and stops before the deadline.
 */
export async function compareState(
  ports: LoadPorts,
  { reservation, manifest, base }: LoadedGeneration,
  part: { readonly operator: string; readonly fromGroup: number; readonly toGroup: number },
  deadline: Deadline,
): Promise<Comparison> {
  const { operator, fromGroup, toGroup } = part;
  const scope: StateScope = { job: ports.job, generation: reservation.generation, operator };
  const found = { keys: 0, tombstones: 0, bytes: 0, differing: 0, examples: [] as string[] };
  const differ = (text: string): void => {
    found.differing += 1;
    if (found.examples.length < examplesMax) found.examples.push(`operator ${operator}: ${text}`);
  };
  if (isGone(reservation, operator)) return { ...found, nextGroup: undefined };
  const reader = readGroups(ports, base, operator);
  for (let group = fromGroup; group <= toGroup; group += 1) {
    if (!hasTimeFor(deadline, reserveMs)) return { ...found, nextGroup: group };
    const expected = new Map<string, number>();
    for (const { file, entry } of await reader(group)) {
      const { item } = makeLoaded(reservation, manifest, file, entry);
      expected.set(item.key, itemCrc(item));
    }
    for await (const item of ports.state.scan(scope, group)) {
      found[item.states === undefined ? 'tombstones' : 'keys'] += 1;
      found.bytes += item.key.length + (item.states?.length ?? 0);
      const crc = expected.get(item.key);
      expected.delete(item.key);
      if (crc === undefined) differ(`key ${JSON.stringify(item.key)} is in no file`);
      else if (crc !== itemCrc(item))
        differ(`key ${JSON.stringify(item.key)} is not what its file has`);
    }
    for (const key of expected.keys()) differ(`key ${JSON.stringify(key)} was not loaded`);
  }
  return { ...found, nextGroup: undefined };
}

interface FiledEntry {
  readonly file: StateFile;
  readonly entry: RunEntry;
}

/** Gives the entries of key groups in ascending order; holds one file at a time, besides what the group has. */
export function readGroups(
  ports: Pick<LoadPorts, 'objects'>,
  base: Base,
  operator: string,
): (group: number) => Promise<FiledEntry[]> {
  const files = base.runs.flatMap((run) => run.files).filter((file) => file.operator === operator);
  let held: { readonly file: StateFile; readonly entries: readonly RunEntry[] } | undefined;
  return async (group) => {
    const found: FiledEntry[] = [];
    for (const file of files) {
      if (file.groups[0] > group || group > file.groups[1]) continue;
      if (held?.file !== file) held = { file, entries: await readStateFile(ports, file) };
      for (const entry of held.entries) {
        if (entry.item.keyGroup === group) found.push({ file, entry });
      }
    }
    return found;
  };
}

/** Everything of an item that a restore has to bring back. */
function itemCrc(item: StoredItem): number {
  const { key, version, position, arrivalMs, states, emissions, spills, timers } = item;
  // Bytes by their checksum: MessagePack spells those of Node's buffers and of other arrays in two ways.
  const bytesCrc = (bytes: Uint8Array | undefined): number | null =>
    bytes === undefined ? null : crc32c(bytes);
  const packed = [
    ...[key, version, formatPosition(position), arrivalMs],
    ...[bytesCrc(states), bytesCrc(emissions), timers.map(packTimer)],
    spills.map(({ name, crc }) => [name, crc]),
  ];
  return crc32c(pack(packed));
}
