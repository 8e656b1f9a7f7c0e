import { isForeignKey } from './channel.ts';
import { compareEmissions, packEmissions, unpackEmissions, type Emission } from './emission.ts';
import type { RangeCut } from './key-cuts.ts';
import { comparePositions, isPast, type Position } from './position.ts';
import type { RunEntry } from './run-file.ts';

/** What a merge has to know of the cut that it is made for. */
export interface MergeRule {
  /** Where the cut lies for a key; undefined for a key that no channel owns. */
  readonly cutOf: (key: string) => Omit<RangeCut, 'from'> | undefined;
  /** Names of the operator's upsert sinks. */
  readonly upserts: ReadonlySet<string>;
  /** Up to where tombstones of a key are dropped (C6); undefined where they are kept. */
  readonly dropsUpTo: (key: string) => Position | undefined;
}

/**
 * Merges the entries of one key (C6): the one with the highest (generation, position) counts, never the version, which says
 * nothing across files. Of the emissions it gets those past the cut, which the cut has not published, and of each row of an
 * upsert sink the last one before it, from whichever entry has it (R10). Merging in several steps gives the same.
 *
 * @param entries at least one, without spills
 * @returns undefined for a tombstone that may be dropped
 */
export function mergeEntries(entries: readonly RunEntry[], rule: MergeRule): RunEntry | undefined {
  const sorted = entries.toSorted(compareEntries);
  const newest = sorted[sorted.length - 1]!;
  const emissions = mergeEmissions(sorted, newest, rule);
  if (isDroppable(newest, emissions, rule)) return undefined;
  const packed = emissions.length === 0 ? undefined : packEmissions(emissions);
  return { generation: newest.generation, item: { ...newest.item, emissions: packed, spills: [] } };
}

function compareEntries(a: RunEntry, b: RunEntry): number {
  return a.generation - b.generation || comparePositions(a.item.position, b.item.position);
}

function mergeEmissions(
  sorted: readonly RunEntry[],
  newest: RunEntry,
  { cutOf, upserts }: MergeRule,
): Emission[] {
  const cut = cutOf(newest.item.key);
  const last = new Map<string, Placed>();
  const pending = new Map<string, Emission>();
  for (const entry of sorted) {
    if (entry.item.emissions === undefined) continue;
    const isNewest = compareEntries(entry, newest) === 0;
    for (const emission of unpackEmissions(entry.item.emissions)) {
      if (cut !== undefined && !cut.isExact && isPast(emission.position, cut.position)) {
        // Segments hold an item anew, with fewer emissions, as often as it is touched (P3).
        if (isNewest) pending.set(idOf(emission), emission);
      } else if (upserts.has(emission.sink)) {
        keepLater(last, { generation: entry.generation, emission });
      }
    }
  }
  const rows = [...last.values()].map(({ emission }) => emission);
  return [...rows.sort(compareEmissions), ...[...pending.values()].sort(compareEmissions)];
}

interface Placed {
  readonly generation: number;
  readonly emission: Emission;
}

function keepLater(last: Map<string, Placed>, placed: Placed): void {
  const { sink, row } = placed.emission;
  const name = JSON.stringify([sink, row]);
  const there = last.get(name);
  if (there === undefined || comparePlaced(there, placed) <= 0) last.set(name, placed);
}

function comparePlaced(a: Placed, b: Placed): number {
  return a.generation - b.generation || compareEmissions(a.emission, b.emission);
}

function idOf({ position, index }: Emission): string {
  const { sequence, sub, step } = position;
  return JSON.stringify([sequence, sub, step?.keyHash, step?.key, step?.time, step?.name, index]);
}

/**
 * A tombstone says that its key has been applied up to its position: a replay from an earlier cut needs it. It is kept, too,
 * while a timer is pending or a view row stands that it has written last.
 */
function isDroppable(
  { item }: RunEntry,
  emissions: readonly Emission[],
  { dropsUpTo }: MergeRule,
): boolean {
  if (item.states !== undefined || item.timers.length > 0 || isForeignKey(item.key)) return false;
  const upTo = dropsUpTo(item.key);
  if (upTo === undefined || isPast(item.position, upTo)) return false;
  return emissions.every(({ position, value }) => value === null && !isPast(position, upTo));
}
