import { HoldfastError } from './errors.ts';
import { compareKeys, type KeyPlace } from './key-order.ts';
import { formatPosition, parsePosition } from './position.ts';
import {
  corruptFile,
  decodeBlock,
  decodeEntries,
  encodeSortedFile,
  openSorted,
  readOrRefuse,
  type BlockIndexEntry,
  type OpenedFile,
  type SortedFormat,
} from './sorted-blocks.ts';
import type { StoredItem } from './stored-item.ts';
import { packTimer, unpackTimer, type PackedTimer } from './timer.ts';

/*
 * The run file: the newest items of some keys of one operator (C6), self-contained. A run is a list of such files, each
 * behind the one before it in the order of keys. It is a sorted file (sorted-blocks.ts).
 */

/** The newest item of a key, and the generation that wrote it: positions compare within one generation's lineage only. */
export interface RunEntry {
  readonly generation: number;
  /**
   * Never with `spills`: their emissions are in it. It has all emissions past the cut, and of each row of an upsert sink the
   * last one (R10).
   */
  readonly item: StoredItem;
}

export interface RunFileHeader {
  readonly job: string;
  readonly operator: string;
  /** The first and the last key group in it. */
  readonly groups: readonly [first: number, last: number];
  readonly entries: number;
  /** Entries with a state. */
  readonly keys: number;
  readonly tombstones: number;
  /** The last key in it. */
  readonly last: KeyPlace;
  /** It is the run's last file of this operator. */
  readonly isLast: boolean;
}

/** What the writer of a run file says of it; the rest is counted. */
export type RunFileOrigin = Pick<RunFileHeader, 'job' | 'operator' | 'isLast'>;

type PackedEntry = [
  keyGroup: number,
  key: string,
  generation: number,
  version: number,
  position: string,
  arrivalMs: number,
  states: Uint8Array | null,
  emissions: Uint8Array | null,
  timers: PackedTimer[],
];

const format: SortedFormat<RunEntry> = {
  what: 'run file',
  magic: 'HFRN',
  version: 1,
  compression: 'small',
  itemOf: (entry) => entry.item,
  packEntry,
  unpackEntry: (row) => unpackEntry(row as PackedEntry),
};

/** Writes a run file of one entry or more; they are sorted here. */
export function encodeRunFile(
  origin: RunFileOrigin,
  entries: readonly RunEntry[],
): { bytes: Uint8Array; header: RunFileHeader } {
  if (entries.length === 0) {
    throw new HoldfastError('internal', `a run file of ${origin.operator} would have no entries`);
  }
  let header: RunFileHeader | undefined;
  const bytes = encodeSortedFile(format, entries, (sorted) => {
    header = describeEntries(origin, sorted);
    return packHeader(header);
  });
  return { bytes, header: header! };
}

/**
 * Reads a whole run file and checks everything.
 *
 * @throws HoldfastError `corrupt` where it is not what was written, `invalid` where it is newer than this code
 */
export function decodeRunFile(
  bytes: Uint8Array,
  name: string,
): { header: RunFileHeader; entries: RunEntry[] } {
  const opened = openSorted(format, bytes, name);
  const header = readRunHeader(opened, name);
  const entries = decodeEntries(format, bytes, opened, name);
  const found = entries.length === 0 ? undefined : describeEntries(header, entries);
  if (found === undefined || !isSameHeader(found, header)) {
    throw corruptFile(format, name, 'its entries are not those that the header tells of');
  }
  return { header, entries };
}

/** Reads the header and where the blocks are; `start` may end anywhere after the header (`sortedHeadBytes`). */
export function openSortedFile(
  start: Uint8Array,
  name: string,
): { header: RunFileHeader; blocks: readonly BlockIndexEntry[] } {
  const opened = openSorted(format, start, name);
  return { header: readRunHeader(opened, name), blocks: opened.blocks };
}

/** Reads one block of those that {@link openSortedFile} tells of. */
export function decodeRunBlock(
  block: Uint8Array,
  entry: BlockIndexEntry,
  name: string,
): RunEntry[] {
  return decodeBlock(format, block, entry, name);
}

function readRunHeader(opened: OpenedFile, name: string): RunFileHeader {
  return readOrRefuse(format, name, 'the header', () => unpackHeader(opened.header));
}

function packEntry({ generation, item }: RunEntry): PackedEntry {
  if (item.spills.length > 0) {
    throw new HoldfastError(
      'internal',
      `key ${JSON.stringify(item.key)} names ${item.spills[0]!.name}, but run files are self-contained: read its emissions in first`,
    );
  }
  return [
    item.keyGroup,
    item.key,
    generation,
    item.version,
    formatPosition(item.position),
    item.arrivalMs,
    item.states ?? null,
    item.emissions ?? null,
    item.timers.map(packTimer),
  ];
}

function unpackEntry(row: PackedEntry): RunEntry {
  const [keyGroup, key, generation, version, position, arrivalMs, states, emissions, timers] = row;
  const item: StoredItem = {
    key,
    keyGroup,
    version,
    position: parsePosition(position),
    arrivalMs,
    states: states ?? undefined,
    emissions: emissions ?? undefined,
    spills: [],
    timers: timers.map(unpackTimer),
  };
  return { generation, item };
}

function describeEntries(
  { job, operator, isLast }: RunFileOrigin,
  sorted: readonly RunEntry[],
): RunFileHeader {
  const first = sorted[0]!.item;
  const { keyGroup, key } = sorted[sorted.length - 1]!.item;
  const keys = sorted.filter(({ item }) => item.states !== undefined).length;
  return {
    job,
    operator,
    groups: [first.keyGroup, keyGroup],
    entries: sorted.length,
    keys,
    tombstones: sorted.length - keys,
    last: { keyGroup, key },
    isLast,
  };
}

function isSameHeader(a: RunFileHeader, b: RunFileHeader): boolean {
  return (
    a.groups[0] === b.groups[0] &&
    a.groups[1] === b.groups[1] &&
    a.entries === b.entries &&
    a.keys === b.keys &&
    a.tombstones === b.tombstones &&
    compareKeys(a.last, b.last) === 0
  );
}

function packHeader({ last, ...header }: RunFileHeader): Record<string, unknown> {
  return { ...header, last: [last.keyGroup, last.key] };
}

function unpackHeader(header: unknown): RunFileHeader {
  const { job, operator, groups, entries, keys, tombstones, last, isLast } = header as Omit<
    RunFileHeader,
    'last'
  > & { readonly last: readonly [keyGroup: number, key: string] };
  const [keyGroup, key] = last;
  return { job, operator, groups, entries, keys, tombstones, last: { keyGroup, key }, isLast };
}
