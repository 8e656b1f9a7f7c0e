import type { Spill } from './emission.ts';
import { formatPosition, parsePosition, type Position } from './position.ts';
import type { SegmentReference } from './progress.ts';
import {
  corruptFile,
  decodeBlock,
  decodeEntries,
  encodeSortedFile,
  openSorted,
  readOrRefuse,
  sortedHeadBytes,
  type BlockIndexEntry,
  type OpenedFile,
  type SortedFormat,
} from './sorted-blocks.ts';
import type { StoredItem } from './stored-item.ts';
import { packTimer, unpackTimer, type PackedTimer } from './timer.ts';
import { noWatermarks, type Watermarks } from './watermark.ts';

/*
 * The segment: one immutable changelog object for each unit, with the new item of every key that the unit touched. It is a
 * sorted file (sorted-blocks.ts).
 */

/** How many committed segments each header names: reading a channel's whole chain takes one read for every so many (C5). */
export const chainReferencesMax = 64;

/** A key that is past the end of the unit, with the position that it has reached (P4). */
export interface AheadKey {
  readonly key: string;
  readonly position: Position;
}

export interface SegmentHeader {
  readonly channel: string;
  readonly generation: number;
  readonly number: number;
  readonly attempt: string;
  /** The positions that the unit covers: past `from`, up to and with `to`. */
  readonly from: Position | undefined;
  readonly to: Position;
  /** The committed segments before this one, newest first, at most {@link chainReferencesMax}. */
  readonly chain: readonly SegmentReference[];
  readonly ahead: readonly AheadKey[];
  /** The channel's watermarks at `to`. */
  readonly watermarks: Watermarks;
  readonly entries: number;
}

export interface Segment {
  readonly header: SegmentHeader;
  readonly items: readonly StoredItem[];
}

type PackedReference = [number, string, number, number];
type PackedSpill = [string, number, number, string];
type PackedEntry = [
  keyGroup: number,
  key: string,
  version: number,
  position: string,
  arrivalMs: number,
  states: Uint8Array | null,
  emissions: Uint8Array | null,
  spills: PackedSpill[],
  timers?: PackedTimer[],
];

const format: SortedFormat<StoredItem> = {
  what: 'segment',
  magic: 'HFSG',
  version: 1,
  compression: 'fast',
  itemOf: (item) => item,
  packEntry,
  unpackEntry: (row) => unpackEntry(row as PackedEntry),
};

/** Writes a segment; its items are sorted, and counted whatever the header says. */
export function encodeSegment({ header, items }: Segment): Uint8Array {
  return encodeSortedFile(format, items, (sorted) => packHeader(header, sorted.length));
}

/** Reads a whole segment and checks everything. */
export function decodeSegment(bytes: Uint8Array, name: string): Segment {
  const opened = openSorted(format, bytes, name);
  const header = readSegmentHeader(opened, name);
  const items = decodeEntries(format, bytes, opened, name);
  if (items.length !== header.entries) {
    throw corruptFile(
      format,
      name,
      `${items.length} entries, the header promises ${header.entries}`,
    );
  }
  return { header, items };
}

/** Reads the header alone; `bytes` may end anywhere after it. */
export function decodeSegmentHeader(bytes: Uint8Array, name: string): SegmentHeader {
  return readSegmentHeader(openSorted(format, bytes, name), name);
}

/** Reads the header and where the blocks are; `start` may end anywhere after the header. */
export function openSegment(
  start: Uint8Array,
  name: string,
): { header: SegmentHeader; blocks: readonly BlockIndexEntry[] } {
  const opened = openSorted(format, start, name);
  return { header: readSegmentHeader(opened, name), blocks: opened.blocks };
}

/** Reads one block of those that {@link openSegment} tells of. */
export function decodeSegmentBlock(
  block: Uint8Array,
  entry: BlockIndexEntry,
  name: string,
): StoredItem[] {
  return decodeBlock(format, block, entry, name);
}

/** How many bytes from its start a segment's header reaches to; `start` must hold the first 16. */
export function segmentHeadBytes(start: Uint8Array): number {
  return sortedHeadBytes(start);
}

function readSegmentHeader(opened: OpenedFile, name: string): SegmentHeader {
  return readOrRefuse(format, name, 'the header', () => unpackHeader(opened.header));
}

function packEntry(item: StoredItem): PackedEntry {
  const entry: PackedEntry = [
    item.keyGroup,
    item.key,
    item.version,
    formatPosition(item.position),
    item.arrivalMs,
    item.states ?? null,
    item.emissions ?? null,
    item.spills.map(packSpill),
  ];
  // Without timers an entry is that of the first version to the byte.
  if (item.timers.length > 0) entry.push(item.timers.map(packTimer));
  return entry;
}

function unpackEntry(row: PackedEntry): StoredItem {
  const [keyGroup, key, version, position, arrivalMs, states, emissions, spills, timers] = row;
  return {
    keyGroup,
    key,
    version,
    position: parsePosition(position),
    arrivalMs,
    states: states ?? undefined,
    emissions: emissions ?? undefined,
    spills: spills.map(unpackSpill),
    // Segments from before there were timers end here.
    timers: (timers ?? []).map(unpackTimer),
  };
}

function packSpill(spill: Spill): PackedSpill {
  return [spill.name, spill.bytes, spill.crc, formatPosition(spill.last)];
}

function unpackSpill([name, bytes, crc, last]: PackedSpill): Spill {
  return { name, bytes, crc, last: parsePosition(last) };
}

function packHeader(header: SegmentHeader, entries: number): Record<string, unknown> {
  return {
    channel: header.channel,
    generation: header.generation,
    number: header.number,
    attempt: header.attempt,
    from: header.from === undefined ? null : formatPosition(header.from),
    to: formatPosition(header.to),
    chain: header.chain
      .slice(0, chainReferencesMax)
      .map((r): PackedReference => [r.number, r.attempt, r.bytes, r.crc]),
    ahead: header.ahead.map(({ key, position }) => [key, formatPosition(position)]),
    ...packWatermarks(header.watermarks),
    entries,
  };
}

function packWatermarks({ event, arrival }: Watermarks): Record<string, unknown> {
  if (event === undefined && arrival === undefined) return {};
  return { watermarks: [event ?? null, arrival ?? null] };
}

function unpackHeader(packed: unknown): SegmentHeader {
  const raw = packed as {
    channel: string;
    generation: number;
    number: number;
    attempt: string;
    from: string | null;
    to: string;
    chain: PackedReference[];
    ahead: [string, string][];
    watermarks?: [event: number | null, arrival: number | null];
    entries: number;
  };
  return {
    channel: raw.channel,
    generation: raw.generation,
    number: raw.number,
    attempt: raw.attempt,
    from: raw.from === null ? undefined : parsePosition(raw.from),
    to: parsePosition(raw.to),
    chain: raw.chain.map(([number, attempt, bytes, crc]) => ({ number, attempt, bytes, crc })),
    ahead: raw.ahead.map(([key, position]) => ({ key, position: parsePosition(position) })),
    watermarks:
      raw.watermarks === undefined
        ? noWatermarks
        : { event: raw.watermarks[0] ?? undefined, arrival: raw.watermarks[1] ?? undefined },
    entries: raw.entries,
  };
}
