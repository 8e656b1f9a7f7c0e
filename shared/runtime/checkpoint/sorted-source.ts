import { channelId } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import { compareKeys, type KeyPlace } from '../../core/key-order.ts';
import type { Manifest, StateFile } from '../../core/manifest.ts';
import { decodeRunBlock, openSortedFile, type RunEntry } from '../../core/run-file.ts';
import { decodeSegmentBlock, openSegment } from '../../core/segment.ts';
import { sortedHeadBytes, type BlockIndexEntry } from '../../core/sorted-blocks.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { segmentName } from '../object-names.ts';

/** A file that is merged. */
export interface SourceFile {
  readonly name: string;
  readonly bytes: number;
  /** Undefined for a run file, whose entries name theirs. */
  readonly segmentOf: { readonly generation: number } | undefined;
  /** The first and the last key group in it, where they are known without opening it. */
  readonly groups: readonly [first: number, last: number] | undefined;
}

/** Files that together hold each key once at most, in the order of keys. */
export type SourceFiles = readonly SourceFile[];

export interface OpenedSource {
  readonly blocks: readonly BlockIndexEntry[];
  readonly entries: number;
}

/** A source in memory: one decoded block, and at most this many bytes behind it that were read along, or one block. */
export const readAheadBytesMax = 512 * 1024;

/** What is read of a file to begin with: the header, and the whole of a small segment. */
const headBytesGuess = 64 * 1024;

/** A segment of a manifest as a source. */
export function segmentSource(
  manifest: Manifest,
  [channel, at]: readonly [channel: number, segment: number],
): SourceFiles {
  const cut = manifest.channels[channel]!;
  const reference = cut.segments[at]!;
  const { generation } = cut.progress;
  const name = segmentName(manifest.job, generation, channelId(cut.channel), reference);
  return [{ name, bytes: reference.bytes, segmentOf: { generation }, groups: undefined }];
}

/** Run files of one operator as a source. */
export function runSource(files: readonly StateFile[], operator: string): SourceFiles {
  return files
    .filter((file) => file.operator === operator)
    .map(({ name, bytes, groups }) => ({ name, bytes, groups, segmentOf: undefined }));
}

/** Reads the header of a file. */
export async function openSource(objects: ObjectStore, file: SourceFile): Promise<OpenedSource> {
  return openAt(file, await readHead(objects, file));
}

/**
 * The entries of a source behind a key, block by block. A block is decoded once it is asked for.
 *
 * @param passed is told of the bytes of each block once it is done with
 */
export async function* readBlocks(
  objects: ObjectStore,
  files: SourceFiles,
  after: KeyPlace | undefined,
  passed: (bytes: number) => void,
): AsyncGenerator<RunEntry[]> {
  const isBehind = (groups: readonly [number, number] | undefined): boolean =>
    after !== undefined && groups !== undefined && groups[1] < after.keyGroup;
  for (const file of files) {
    if (isBehind(file.groups)) {
      passed(file.bytes);
      continue;
    }
    let loaded: Loaded = { offset: 0, bytes: await readHead(objects, file) };
    const { blocks } = openAt(file, loaded.bytes);
    for (const [at, block] of blocks.entries()) {
      if (!isBehind([block.firstGroup, block.lastGroup])) {
        if (!isLoaded(loaded, block)) loaded = await load(objects, file, blocks.slice(at));
        const entries = decode(file, loaded, block).filter(
          ({ item }) => after === undefined || compareKeys(item, after) > 0,
        );
        // A source may wait here until the end of the merge: what is of no more use is let go.
        const next = blocks[at + 1];
        if (next === undefined || !isLoaded(loaded, next)) loaded = nothingLoaded;
        yield entries;
      }
      passed(block.bytes);
    }
  }
}

interface Loaded {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const nothingLoaded: Loaded = { offset: 0, bytes: new Uint8Array() };

function isLoaded({ offset, bytes }: Loaded, block: BlockIndexEntry): boolean {
  return offset <= block.offset && block.offset + block.bytes <= offset + bytes.length;
}

/** Reads the first of some blocks, and those behind it as far as they fit. */
async function load(
  objects: ObjectStore,
  file: SourceFile,
  blocks: readonly BlockIndexEntry[],
): Promise<Loaded> {
  const { offset } = blocks[0]!;
  let length = 0;
  for (const { bytes } of blocks) {
    if (length > 0 && length + bytes > readAheadBytesMax) break;
    length += bytes;
  }
  return { offset, bytes: found(file, await objects.readRange(file.name, offset, length)) };
}

async function readHead(objects: ObjectStore, file: SourceFile): Promise<Uint8Array> {
  const start = found(file, await objects.readStart(file.name, headBytesGuess));
  const headBytes = sortedHeadBytes(start);
  if (headBytes <= start.length) return start;
  return found(file, await objects.readStart(file.name, headBytes));
}

function openAt(file: SourceFile, start: Uint8Array): OpenedSource {
  const opened =
    file.segmentOf === undefined ? openSortedFile(start, file.name) : openSegment(start, file.name);
  const last = opened.blocks.at(-1);
  const bytes = last === undefined ? sortedHeadBytes(start) : last.offset + last.bytes;
  if (bytes !== file.bytes) {
    throw damaged(file, `its index ends at byte ${bytes}, it was listed with ${file.bytes}`);
  }
  return { blocks: opened.blocks, entries: opened.header.entries };
}

function decode(file: SourceFile, loaded: Loaded, block: BlockIndexEntry): RunEntry[] {
  const begin = block.offset - loaded.offset;
  const bytes = loaded.bytes.subarray(begin, begin + block.bytes);
  if (file.segmentOf === undefined) return decodeRunBlock(bytes, block, file.name);
  const { generation } = file.segmentOf;
  return decodeSegmentBlock(bytes, block, file.name).map((item) => ({ generation, item }));
}

function found(file: SourceFile, bytes: Uint8Array | undefined): Uint8Array {
  if (bytes !== undefined) return bytes;
  throw damaged(file, 'it is not in the bucket');
}

function damaged({ name }: SourceFile, why: string): HoldfastError {
  return new HoldfastError(
    'corrupt',
    `file ${name} cannot be merged: ${why}; checkpoints that list it cannot be restored, take a savepoint of the running job`,
  );
}
