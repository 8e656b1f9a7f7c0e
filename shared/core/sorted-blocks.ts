import { describeThrown, HoldfastError } from './errors.ts';
import { compareKeys, type KeyPlace } from './key-order.ts';
import { pack, unpack } from './pack.ts';
import { crc32c } from './crc32c.ts';
import { compressZstd, decompressZstd, type Compression } from './platform.ts';
import { itemBytes, type StoredItem } from './stored-item.ts';

/*
 * What segments and run files have in common: immutable objects of entries that are sorted by (key group, key), so that a
 * reader of some key groups, or a merge of many files, fetches and holds few blocks at a time.
 *
 *   offset  bytes  content
 *   0       4      magic
 *   4       2      format version, big-endian like all numbers here
 *   6       2      zero
 *   8       4      length of the header
 *   12      4      CRC-32C of the header
 *   16      …      header, a MessagePack map; its last field is the index of the blocks
 *   …       …      blocks, one behind the other up to the end, each a zstd frame of a MessagePack list of entries
 *
 * The first 16 bytes tell how many are needed to read the header alone.
 */

/** One kind of sorted file. */
export interface SortedFormat<Entry> {
  /** What people call such a file. */
  readonly what: string;
  /** Four ASCII characters. */
  readonly magic: string;
  readonly version: number;
  readonly compression: Compression;
  /** What says where the entry belongs and how large it is. */
  readonly itemOf: (entry: Entry) => StoredItem;
  readonly packEntry: (entry: Entry) => readonly unknown[];
  readonly unpackEntry: (row: unknown) => Entry;
}

/** Where a block is, and what it must look like. */
export interface BlockIndexEntry {
  readonly firstGroup: number;
  readonly lastGroup: number;
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
  /** Bytes before compression. */
  readonly rawBytes: number;
  /** CRC-32C of the block as it is stored. */
  readonly crc: number;
  readonly entries: number;
}

/** The header of a file, with its checksum checked. */
export interface OpenedFile {
  /** The header as it was packed, with the index. */
  readonly header: unknown;
  readonly blocks: readonly BlockIndexEntry[];
  /** How long the whole file is. */
  readonly bytes: number;
}

type PackedBlock = [number, number, number, number, number, number, number];

const prefixBytes = 16;

/** A block is closed once its entries reach this size before compression. */
const blockBytesTarget = 256 * 1024;

/**
 * No block is larger than this before compression. Segments have blocks of the target and one item at most; an entry of a run
 * file also has the emissions that its item kept in objects of their own, and the last output for each of its view rows.
 */
const blockBytesMax = 32 * 1024 * 1024;

/** What zstd can add to bytes that it cannot compress. */
const blockOverheadBytesMax = 64 * 1024;

/** No header is larger: keys that are ahead take the most room, and a unit touches no more than fit into its records. */
const headerBytesMax = 64 * 1024 * 1024;

/**
 * Writes a file. The same entries give the same bytes before compression; those after it may differ between zstd versions.
 *
 * @param makeHeader gets the entries in their order
 */
export function encodeSortedFile<Entry>(
  format: SortedFormat<Entry>,
  entries: readonly Entry[],
  makeHeader: (sorted: readonly Entry[]) => Readonly<Record<string, unknown>>,
): Uint8Array {
  const sorted = sortEntries(format, entries);
  const twice = findUnordered(sorted.map(format.itemOf));
  if (twice !== undefined) {
    throw new HoldfastError(
      'internal',
      `a ${format.what} holds each key once, ${showPlace(twice)} occurs twice`,
    );
  }
  const blocks: Uint8Array[] = [];
  const index: PackedBlock[] = [];
  let offset = 0;
  for (const part of cutBlocks(format, sorted)) {
    const raw = pack(part.map(format.packEntry));
    assertAtMost(format, 'block', raw.length, blockBytesMax);
    const block = compressZstd(raw, format.compression);
    const firstGroup = format.itemOf(part[0]!).keyGroup;
    const lastGroup = format.itemOf(part[part.length - 1]!).keyGroup;
    const { length } = block;
    index.push([firstGroup, lastGroup, offset, length, raw.length, crc32c(block), part.length]);
    blocks.push(block);
    offset += length;
  }
  const header = pack({ ...makeHeader(sorted), index });
  assertAtMost(format, 'header', header.length, headerBytesMax);
  return joinFile(format, header, blocks);
}

/** How many bytes from its start a file's header reaches to; `start` must hold the first 16. */
export function sortedHeadBytes(start: Uint8Array): number {
  if (start.length < prefixBytes) return prefixBytes;
  return prefixBytes + Math.min(viewOf(start).getUint32(8), headerBytesMax);
}

/**
 * Reads the header alone; `start` may end anywhere after it.
 *
 * @throws HoldfastError `corrupt` where it is not what was written, `invalid` where it is newer than this code
 */
export function openSorted<Entry>(
  format: SortedFormat<Entry>,
  start: Uint8Array,
  name: string,
): OpenedFile {
  const packed = readHeader(format, start, name);
  const { header, index } = readOrRefuse(format, name, 'the header', () => unpackIndex(packed));
  const blocksOffset = prefixBytes + packed.length;
  const blocks: BlockIndexEntry[] = [];
  let end = blocksOffset;
  let group = 0;
  for (const [firstGroup, lastGroup, offset, bytes, rawBytes, crc, entries] of index) {
    if (blocksOffset + offset !== end || firstGroup < group || lastGroup < firstGroup) {
      throw corruptFile(format, name, 'the blocks of its index are not in order');
    }
    if (rawBytes > blockBytesMax || bytes > blockBytesMax + blockOverheadBytesMax) {
      const problem = `block of ${rawBytes} bytes, ${bytes} compressed; at most ${blockBytesMax} are written`;
      throw corruptFile(format, name, problem);
    }
    blocks.push({ firstGroup, lastGroup, offset: end, bytes, rawBytes, crc, entries });
    end += bytes;
    group = lastGroup;
  }
  return { header, blocks, bytes: end };
}

/** Reads one block, whose bytes are those that its index entry names; checks all that the entry says of it. */
export function decodeBlock<Entry>(
  format: SortedFormat<Entry>,
  block: Uint8Array,
  expected: BlockIndexEntry,
  name: string,
): Entry[] {
  const what = `block at byte ${expected.offset}`;
  if (block.length !== expected.bytes || crc32c(block) !== expected.crc) {
    throw corruptFile(format, name, `${what} does not have the checksum that the header promises`);
  }
  const raw = readOrRefuse(format, name, what, () => decompressZstd(block, expected.rawBytes));
  if (raw.length !== expected.rawBytes) {
    throw corruptFile(
      format,
      name,
      `${what} inflates to ${raw.length} bytes, the header promises ${expected.rawBytes}`,
    );
  }
  const entries = readOrRefuse(format, name, what, () =>
    (unpack(raw) as readonly unknown[]).map(format.unpackEntry),
  );
  if (entries.length !== expected.entries) {
    throw corruptFile(
      format,
      name,
      `${what} has ${entries.length} entries, the header promises ${expected.entries}`,
    );
  }
  const places = entries.map(format.itemOf);
  const unordered = findUnordered(places);
  if (unordered !== undefined) {
    throw corruptFile(format, name, `${what} has ${showPlace(unordered)} out of order`);
  }
  if (
    places[0]?.keyGroup !== expected.firstGroup ||
    places.at(-1)?.keyGroup !== expected.lastGroup
  ) {
    throw corruptFile(format, name, `${what} does not have the key groups of its index`);
  }
  return entries;
}

/** Reads all entries of a whole file and checks everything but what is in the header besides the index. */
export function decodeEntries<Entry>(
  format: SortedFormat<Entry>,
  bytes: Uint8Array,
  opened: OpenedFile,
  name: string,
): Entry[] {
  if (bytes.length !== opened.bytes) {
    throw corruptFile(format, name, `${bytes.length} bytes, its index ends at ${opened.bytes}`);
  }
  const all: Entry[] = [];
  for (const block of opened.blocks) {
    const part = bytes.subarray(block.offset, block.offset + block.bytes);
    const entries = decodeBlock(format, part, block, name);
    const before = all.at(-1);
    if (before !== undefined) {
      const seam = findUnordered([format.itemOf(before), format.itemOf(entries[0]!)]);
      if (seam !== undefined) {
        throw corruptFile(format, name, `${showPlace(seam)} is out of order between two blocks`);
      }
    }
    // A block can hold more entries than a call takes arguments.
    for (const entry of entries) all.push(entry);
  }
  return all;
}

/** The error for a file that is not what was written. */
export function corruptFile(
  format: { readonly what: string },
  name: string,
  why: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `${format.what} ${name} is damaged: ${why}; restore from a checkpoint that does not list it`,
    cause === undefined ? undefined : { cause },
  );
}

/** Runs a step of reading; what throws there on bytes that have their checksum was not written by us. */
export function readOrRefuse<T>(
  format: { readonly what: string },
  name: string,
  what: string,
  read: () => T,
): T {
  try {
    return read();
  } catch (error) {
    throw corruptFile(format, name, `${what} cannot be read (${describeThrown(error)})`, error);
  }
}

function readHeader<Entry>(
  format: SortedFormat<Entry>,
  start: Uint8Array,
  name: string,
): Uint8Array {
  const isOurs = start.length >= prefixBytes && magicOf(start) === format.magic;
  if (!isOurs) throw corruptFile(format, name, `it does not begin like a ${format.what}`);
  const view = viewOf(start);
  const version = view.getUint16(4);
  if (version !== format.version) {
    throw new HoldfastError(
      'invalid',
      `${format.what} ${name} has format version ${version}, this code reads ${format.version}; deploy code that reads it`,
    );
  }
  if (view.getUint16(6) !== 0) throw corruptFile(format, name, 'bytes 6 and 7 are not zero');
  const headerBytes = view.getUint32(8);
  const header = start.subarray(prefixBytes, prefixBytes + headerBytes);
  if (header.length !== headerBytes || crc32c(header) !== view.getUint32(12)) {
    throw corruptFile(format, name, 'the header does not have its checksum');
  }
  return header;
}

function unpackIndex(packed: Uint8Array): { header: unknown; index: readonly PackedBlock[] } {
  const header = unpack(packed) as { readonly index: readonly PackedBlock[] };
  for (const block of header.index) {
    const isWhole = block.every((value) => Number.isSafeInteger(value) && value >= 0);
    if (!isWhole || block.length !== 7) {
      throw new HoldfastError('corrupt', `its index has ${JSON.stringify(block)}`);
    }
  }
  return { header, index: header.index };
}

function joinFile<Entry>(
  format: SortedFormat<Entry>,
  header: Uint8Array,
  blocks: readonly Uint8Array[],
): Uint8Array {
  const blocksOffset = prefixBytes + header.length;
  const bytes = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, blocksOffset));
  const view = viewOf(bytes);
  for (let at = 0; at < 4; at += 1) bytes[at] = format.magic.charCodeAt(at);
  view.setUint16(4, format.version);
  view.setUint32(8, header.length);
  view.setUint32(12, crc32c(header));
  bytes.set(header, prefixBytes);
  let offset = blocksOffset;
  for (const block of blocks) {
    bytes.set(block, offset);
    offset += block.length;
  }
  return bytes;
}

/** By group first, so that few keys are compared with each other. */
function sortEntries<Entry>(
  { itemOf }: SortedFormat<Entry>,
  entries: readonly Entry[],
): readonly Entry[] {
  const groups = new Map<number, Entry[]>();
  for (const entry of entries) {
    const { keyGroup } = itemOf(entry);
    const group = groups.get(keyGroup);
    if (group === undefined) groups.set(keyGroup, [entry]);
    else group.push(entry);
  }
  const sorted: Entry[] = [];
  for (const keyGroup of [...groups.keys()].sort((a, b) => a - b)) {
    const group = groups.get(keyGroup)!;
    group.sort((a, b) => compareKeys(itemOf(a), itemOf(b)));
    for (const entry of group) sorted.push(entry);
  }
  return sorted;
}

function* cutBlocks<Entry>(
  format: SortedFormat<Entry>,
  entries: readonly Entry[],
): Generator<Entry[]> {
  let block: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    block.push(entry);
    bytes += itemBytes(format.itemOf(entry));
    if (bytes >= blockBytesTarget) {
      yield block;
      block = [];
      bytes = 0;
    }
  }
  if (block.length > 0) yield block;
}

/** The first place that does not lie behind the one before it. */
function findUnordered(places: readonly KeyPlace[]): KeyPlace | undefined {
  return places.find((place, at) => at > 0 && compareKeys(places[at - 1]!, place) >= 0);
}

function assertAtMost(
  format: { readonly what: string },
  part: string,
  bytes: number,
  bytesMax: number,
): void {
  if (bytes <= bytesMax) return;
  throw new HoldfastError(
    'internal',
    `a ${part} of a ${format.what} would have ${bytes} bytes, at most ${bytesMax} are read`,
  );
}

function showPlace({ keyGroup, key }: KeyPlace): string {
  return `key ${JSON.stringify(key)} of key group ${keyGroup}`;
}

function magicOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 4));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
