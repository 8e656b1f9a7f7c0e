import { HoldfastError } from './errors.ts';
import type { Spill } from './emission.ts';
import { pack, unpack } from './pack.ts';
import { compressZstd, crc32c, decompressZstd } from './platform.ts';
import { formatPosition, parsePosition, type Position } from './position.ts';
import type { SegmentReference } from './progress.ts';
import { itemBytes, type StoredItem } from './stored-item.ts';
import { packTimer, unpackTimer, type PackedTimer } from './timer.ts';
import { noWatermarks, type Watermarks } from './watermark.ts';

/*
 * The segment: one immutable changelog object for each unit, with the new item of every key that the unit touched.
 *
 *   offset  bytes  content
 *   0       4      magic "HFSG"
 *   4       2      format version (1), big-endian like all numbers here
 *   6       2      reserved, zero
 *   8       4      length of the header
 *   12      4      CRC-32C of the header
 *   16      …      header, MessagePack: see SegmentHeader
 *   …       …      blocks, each a zstd frame of a MessagePack list of entries, at the offsets that the header's index gives
 *
 * Entries are sorted by (key group, key), so that a reader of some key groups fetches few blocks. The first 16 bytes and
 * the header's length are all that is needed to read the header alone.
 */

const magic = [0x48, 0x46, 0x53, 0x47] as const;
const formatVersion = 1;
const prefixBytes = 16;

/** A block is closed once its entries reach this size before compression. */
const blockBytesTarget = 256 * 1024;

/** No block can be larger than this before compression: the target and one item of the largest size. */
const blockBytesMax = 2 * 1024 * 1024;

/** How many committed segments each header names: reading a channel's whole chain takes one read for every so many (C5). */
export const chainReferencesMax = 64;

/** A key that is past the end of the unit, with the position that it has reached (P4). */
export interface AheadKey {
  readonly key: string;
  readonly position: Position;
}

interface BlockIndexEntry {
  readonly firstGroup: number;
  readonly lastGroup: number;
  readonly offset: number;
  readonly bytes: number;
  readonly rawBytes: number;
  readonly crc: number;
  readonly entries: number;
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

/** Writes a segment. The same input gives the same entries; the compressed bytes may differ between zstd versions. */
export function encodeSegment(segment: Segment): Uint8Array {
  const sorted = [...segment.items].sort(compareItems);
  const blocks: Uint8Array[] = [];
  const index: BlockIndexEntry[] = [];
  let offset = 0;
  for (const items of cutBlocks(sorted)) {
    const raw = pack(items.map(packEntry));
    const block = compressZstd(raw);
    index.push({
      firstGroup: items[0]!.keyGroup,
      lastGroup: items[items.length - 1]!.keyGroup,
      offset,
      bytes: block.length,
      rawBytes: raw.length,
      crc: crc32c(block),
      entries: items.length,
    });
    blocks.push(block);
    offset += block.length;
  }

  const header = pack(packHeader(segment.header, index, sorted.length));
  const bytes = new Uint8Array(prefixBytes + header.length + offset);
  const view = new DataView(bytes.buffer);
  bytes.set(magic, 0);
  view.setUint16(4, formatVersion);
  view.setUint32(8, header.length);
  view.setUint32(12, crc32c(header));
  bytes.set(header, prefixBytes);
  let at = prefixBytes + header.length;
  for (const block of blocks) {
    bytes.set(block, at);
    at += block.length;
  }
  return bytes;
}

/** Reads a whole segment and checks every checksum. */
export function decodeSegment(bytes: Uint8Array, name: string): Segment {
  const { header, index, blocksOffset } = decodeHead(bytes, name);
  const items: StoredItem[] = [];
  for (const entry of index) {
    const from = blocksOffset + entry.offset;
    const block = bytes.subarray(from, from + entry.bytes);
    if (block.length !== entry.bytes || crc32c(block) !== entry.crc) {
      throw corrupt(
        name,
        `block at byte ${from} does not have the checksum that the header promises`,
      );
    }
    if (entry.rawBytes > blockBytesMax) {
      throw corrupt(name, `block of ${entry.rawBytes} bytes, at most ${blockBytesMax} are written`);
    }
    const rows = unpack(decompressZstd(block, entry.rawBytes)) as PackedEntry[];
    for (const row of rows) items.push(unpackEntry(row));
  }
  if (items.length !== header.entries) {
    throw corrupt(name, `${items.length} entries, the header promises ${header.entries}`);
  }
  return { header, items };
}

/** Reads the header alone; `bytes` may end anywhere after it. */
export function decodeSegmentHeader(bytes: Uint8Array, name: string): SegmentHeader {
  return decodeHead(bytes, name).header;
}

/** How many bytes from its start a segment's header reaches to; `start` must hold the first 16. */
export function segmentHeadBytes(start: Uint8Array): number {
  if (start.length < prefixBytes) return prefixBytes;
  return prefixBytes + new DataView(start.buffer, start.byteOffset, start.byteLength).getUint32(8);
}

function decodeHead(
  bytes: Uint8Array,
  name: string,
): { header: SegmentHeader; index: readonly BlockIndexEntry[]; blocksOffset: number } {
  if (bytes.length < prefixBytes || magic.some((byte, at) => bytes[at] !== byte)) {
    throw corrupt(name, 'it does not begin like a segment');
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint16(4);
  if (version !== formatVersion) {
    throw new HoldfastError(
      'invalid',
      `segment ${name} has format version ${version}, this code reads ${formatVersion}; deploy code that reads it`,
    );
  }
  const headerBytes = view.getUint32(8);
  const header = bytes.subarray(prefixBytes, prefixBytes + headerBytes);
  if (header.length !== headerBytes || crc32c(header) !== view.getUint32(12)) {
    throw corrupt(name, 'the header does not have its checksum');
  }
  return { ...unpackHeader(unpack(header)), blocksOffset: prefixBytes + headerBytes };
}

function corrupt(name: string, why: string): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `segment ${name} is damaged: ${why}; restore from a checkpoint that does not list it`,
  );
}

function compareItems(a: StoredItem, b: StoredItem): number {
  if (a.keyGroup !== b.keyGroup) return a.keyGroup - b.keyGroup;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

function* cutBlocks(items: readonly StoredItem[]): Generator<StoredItem[]> {
  let block: StoredItem[] = [];
  let bytes = 0;
  for (const item of items) {
    block.push(item);
    bytes += itemBytes(item);
    if (bytes >= blockBytesTarget) {
      yield block;
      block = [];
      bytes = 0;
    }
  }
  if (block.length > 0) yield block;
}

function packEntry(item: StoredItem): PackedEntry {
  const entry = [
    item.keyGroup,
    item.key,
    item.version,
    formatPosition(item.position),
    item.arrivalMs,
    item.states ?? null,
    item.emissions ?? null,
    item.spills.map(packSpill),
  ] as const;
  // Without timers an entry is that of the first version to the byte.
  return item.timers.length === 0 ? [...entry] : [...entry, item.timers.map(packTimer)];
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

function packHeader(
  header: SegmentHeader,
  index: readonly BlockIndexEntry[],
  entries: number,
): Record<string, unknown> {
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
    index: index.map((b) => [
      b.firstGroup,
      b.lastGroup,
      b.offset,
      b.bytes,
      b.rawBytes,
      b.crc,
      b.entries,
    ]),
  };
}

function packWatermarks({ event, arrival }: Watermarks): Record<string, unknown> {
  if (event === undefined && arrival === undefined) return {};
  return { watermarks: [event ?? null, arrival ?? null] };
}

function unpackHeader(packed: unknown): { header: SegmentHeader; index: BlockIndexEntry[] } {
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
    index: [number, number, number, number, number, number, number][];
  };
  return {
    header: {
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
    },
    index: raw.index.map(([firstGroup, lastGroup, offset, bytes, rawBytes, crc, entries]) => ({
      firstGroup,
      lastGroup,
      offset,
      bytes,
      rawBytes,
      crc,
      entries,
    })),
  };
}
