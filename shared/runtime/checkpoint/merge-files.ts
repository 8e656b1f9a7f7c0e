import { packEmissions, unpackEmissions, type Emission } from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import { compareKeys, type KeyPlace } from '../../core/key-order.ts';
import { mergeEntries, type MergeRule } from '../../core/merge-entries.ts';
import { crc32c } from '../../core/crc32c.ts';
import type { RunEntry } from '../../core/run-file.ts';
import type { ObjectStore } from '../../ports/object-store.ts';
import { inParallel } from '../in-parallel.ts';
import { readBlocks, type SourceFiles } from './sorted-source.ts';

/** Sources that are opened at once. */
const requestsMax = 32;

export interface MergeOptions {
  readonly rule: MergeRule;
  /** The merge goes on behind this key. */
  readonly after: KeyPlace | undefined;
  /** Is told of bytes of the sources once they are done with. */
  readonly passed?: (bytes: number) => void;
}

/**
 * Merges sources of one operator into one sequence in the order of keys (C6). Holds what is still to come of one block of each
 * source, and what was read along with it.
 */
export async function* mergeFiles(
  objects: ObjectStore,
  sources: readonly SourceFiles[],
  { rule, after, passed = () => undefined }: MergeOptions,
): AsyncGenerator<RunEntry> {
  const opened = await inParallel(sources, requestsMax, (files) =>
    openCursor(readBlocks(objects, files, after, passed)),
  );
  // Sorted backwards: the cursor with the first key is at the end.
  const cursors = opened.filter(isOpen).sort((a, b) => compareKeys(b.entry.item, a.entry.item));
  while (cursors.length > 0) {
    const { item: place } = cursors.at(-1)!.entry;
    const entries: RunEntry[] = [];
    const read: Cursor[] = [];
    while (cursors.length > 0 && compareKeys(cursors.at(-1)!.entry.item, place) === 0) {
      const cursor = cursors.pop()!;
      entries.push(await inlineSpills(objects, cursor.entry));
      read.push(cursor);
    }
    const merged = mergeEntries(entries, rule);
    if (merged !== undefined) yield merged;
    for (const cursor of read) {
      await advance(cursor);
      if (isOpen(cursor)) insert(cursors, cursor);
    }
  }
}

/** A place in a source. */
interface Cursor {
  readonly blocks: AsyncGenerator<RunEntry[]>;
  /** What is to come of the block, backwards: what has been merged is let go. */
  rest: RunEntry[];
  /** Undefined at the end. */
  entry: RunEntry | undefined;
}

type OpenCursor = Cursor & { readonly entry: RunEntry };

function isOpen(cursor: Cursor): cursor is OpenCursor {
  return cursor.entry !== undefined;
}

async function openCursor(blocks: AsyncGenerator<RunEntry[]>): Promise<Cursor> {
  const cursor: Cursor = { blocks, rest: [], entry: undefined };
  await advance(cursor);
  return cursor;
}

async function advance(cursor: Cursor): Promise<void> {
  while (cursor.rest.length === 0) {
    const next = await cursor.blocks.next();
    if (next.done === true) {
      cursor.entry = undefined;
      return;
    }
    cursor.rest = next.value.reverse();
  }
  cursor.entry = cursor.rest.pop();
}

function insert(cursors: OpenCursor[], cursor: OpenCursor): void {
  let low = 0;
  let high = cursors.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(cursors[middle]!.entry.item, cursor.entry.item) > 0) low = middle + 1;
    else high = middle;
  }
  cursors.splice(low, 0, cursor);
}

/** Run files are self-contained: the emissions that an item keeps in objects of their own (P2) are read into it. */
async function inlineSpills(objects: ObjectStore, entry: RunEntry): Promise<RunEntry> {
  const { item, generation } = entry;
  if (item.spills.length === 0) return entry;
  const emissions: Emission[] = [];
  for (const spill of item.spills) {
    const bytes = await objects.read(spill.name);
    if (bytes === undefined || crc32c(bytes) !== spill.crc) {
      throw new HoldfastError(
        'corrupt',
        `key ${JSON.stringify(item.key)} names the emissions object ${spill.name}, which is ${bytes === undefined ? 'not in the bucket' : 'damaged'}; its segment cannot be merged, take a savepoint of the running job`,
      );
    }
    emissions.push(...unpackEmissions(bytes));
  }
  if (item.emissions !== undefined) emissions.push(...unpackEmissions(item.emissions));
  const packed = packEmissions(emissions);
  return { generation, item: { ...item, emissions: packed, spills: [] } };
}
