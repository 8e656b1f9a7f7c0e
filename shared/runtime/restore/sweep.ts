import { channelId, identifyKey, originOf } from '../../core/channel.ts';
import { emissionId, unpackEmissions, type Emission } from '../../core/emission.ts';
import { HoldfastError } from '../../core/errors.ts';
import { findOwner } from '../../core/key-cuts.ts';
import { keyGroupOf } from '../../core/key-group.ts';
import type { Base, Manifest } from '../../core/manifest.ts';
import { isPast, type Position } from '../../core/position.ts';
import { isExact } from '../../core/progress.ts';
import type { Reservation } from '../../core/reservation.ts';
import type { RunEntry } from '../../core/run-file.ts';
import { createRowRule, type RowRule } from '../../core/row-validity.ts';
import type { PlacedRow, SinkRow, SinkSource, SweptSink } from '../../ports/sink.ts';
import { hasTimeFor, type Deadline } from '../deadline.ts';
import type { JobPorts } from '../job-ports.ts';
import { readManifest } from '../checkpoint/take-manifest.ts';
import { readGroups } from './compare.ts';
import { readWay } from './reservation.ts';
import { readBaseObject } from './restore-steps.ts';

/*
 * R10: rows of the abandoned timeline are removed, and a view row that they had replaced is written again from what the
 * manifest keeps of it. Zombies of that time may write some more, so a sweep goes on until a pass finds none, and can be
 * made again at any later time.
 */

export interface SweepReport {
  readonly rows: number;
  readonly removed: number;
  readonly rewritten: number;
  /** A whole pass has found no void row. */
  readonly isClean: boolean;
  /** Passes that came to their end. */
  readonly passes: number;
  /** Where to go on unless it is clean. */
  readonly next: SweepPlace;
}

/** How far a pass through a sink's table is. */
export interface SweepPlace {
  /** Of the last row that was dealt with; empty at the beginning. */
  readonly mark: string;
  /** Void rows that the pass has found so far. */
  readonly voids: number;
}

const beginningOfPass: SweepPlace = { mark: '', voids: 0 };

/** Rows that are dealt with together. */
const rowsAtOnce = 500;

/** Passes of one call; a zombie that goes on for longer is met by the next. */
const passesMax = 5;

const reserveMs = 20_000;

/** The rule of a job's present generation. */
export async function readRowRule(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  generation: number,
): Promise<RowRule> {
  const way = await readWay(ports, generation);
  const first = way.at(-1)?.parent ?? generation;
  if (first !== 1) {
    throw new HoldfastError(
      'corrupt',
      `generation ${first} of job ${ports.job} has no reservation in the bucket; which rows count cannot be told`,
    );
  }
  return createRowRule(generation, way);
}

/** What the present generation began with. */
export interface Beginning {
  readonly generation: number;
  readonly manifest: Manifest;
  readonly base: Base;
}

export async function readBeginning(
  ports: Pick<JobPorts, 'objects' | 'job'>,
  { generation, manifest, base }: Reservation,
): Promise<Beginning> {
  return {
    generation,
    manifest: await readManifest(ports, manifest),
    base: await readBaseObject(ports, base),
  };
}

/**
 * Goes through a sink's table until a pass finds nothing void, or the deadline comes near. A pass may take any number of calls, each
 * of which goes on where the one before it ended; it is clean where none of them has found a void row.
 */
export async function sweepSink(
  ports: JobPorts,
  swept: SweptSink,
  beginning: Beginning,
  deadline: Deadline,
  from: SweepPlace = beginningOfPass,
): Promise<SweepReport> {
  const rule = await readRowRule(ports, beginning.generation);
  const total = { rows: 0, removed: 0, rewritten: 0, passes: 0 };
  let { mark, voids } = from;
  while (total.passes < passesMax) {
    let batch: PlacedRow[] = [];
    const settle = async (): Promise<void> => {
      if (batch.length === 0) return;
      voids += batch.length;
      const done = await settleRows(ports, swept, beginning, batch);
      total.removed += done.removed;
      total.rewritten += done.rewritten;
      batch = [];
    };
    for await (const row of swept.table.scan(mark === '' ? undefined : mark)) {
      total.rows += 1;
      // What a later restore has made since is none of this sweep's business.
      const isOlder = row.generation <= beginning.generation;
      if (isOlder && !rule(row)) batch.push(row);
      if (batch.length >= rowsAtOnce) await settle();
      if (hasTimeFor(deadline, reserveMs)) continue;
      // The mark may only stand behind what has been dealt with.
      await settle();
      return { ...total, isClean: false, next: { mark: row.mark, voids } };
    }
    await settle();
    total.passes += 1;
    if (voids === 0) return { ...total, isClean: true, next: beginningOfPass };
    ({ mark, voids } = beginningOfPass);
  }
  return { ...total, isClean: false, next: beginningOfPass };
}

/**
 * Writes every view row as the manifest has it; newer ones stay. For a sink whose table was lost.
 *
 * @returns the key group from which to go on; undefined where all were written
 */
export async function rewriteView(
  ports: JobPorts,
  swept: SweptSink,
  beginning: Beginning,
  deadline: Deadline,
  fromGroup = 0,
): Promise<number | undefined> {
  if (swept.table.kind !== 'upsert') return undefined;
  const { manifest, base } = beginning;
  const read = readGroups(ports, base, swept.operator);
  for (let group = fromGroup; group < manifest.maxParallelism; group += 1) {
    if (!hasTimeFor(deadline, reserveMs)) return group;
    const rows = (await read(group)).flatMap(({ entry }) =>
      listLastRows(manifest, swept, entry).map((emission) => ({ key: entry.item.key, emission })),
    );
    await rewriteRows(ports, swept, beginning, rows);
  }
  return undefined;
}

/** A row of a view as the manifest has it. */
interface LastRow {
  readonly key: string;
  readonly emission: Emission;
}

/**
 * Writes rows of the present generation, so that they replace void ones, and give way to all that this generation has written.
 *
 * @returns how many were written
 */
async function rewriteRows(
  ports: JobPorts,
  swept: SweptSink,
  beginning: Beginning,
  rows: readonly LastRow[],
): Promise<number> {
  const bySource = new Map<string, { readonly source: SinkSource; readonly rows: SinkRow[] }>();
  for (const { key, emission } of rows) {
    const { source, id } = placeRow(ports, swept, beginning, key, emission);
    const there = bySource.get(source.channel) ?? { source, rows: [] };
    there.rows.push({ emission, key, id });
    bySource.set(source.channel, there);
  }
  let written = 0;
  for (const { source, rows: some } of bySource.values()) {
    for (let at = 0; at < some.length; at += rowsAtOnce) {
      written += (await swept.sink.write(source, some.slice(at, at + rowsAtOnce))).written;
    }
  }
  return written;
}

async function settleRows(
  ports: JobPorts,
  swept: SweptSink,
  beginning: Beginning,
  rows: readonly PlacedRow[],
): Promise<{ removed: number; rewritten: number }> {
  const last =
    swept.table.kind === 'upsert'
      ? await findLastRows(ports, swept, beginning, rows)
      : new Map<string, Emission>();
  const gone = rows.filter((row) => !last.has(nameOf(row)));
  const removed = await swept.table.remove(gone);
  const kept = rows.flatMap((row): LastRow[] => {
    const emission = last.get(nameOf(row));
    return emission === undefined ? [] : [{ key: row.key, emission }];
  });
  return { removed, rewritten: await rewriteRows(ports, swept, beginning, kept) };
}

/** Of each view row the last output before the cut, from the files that the generation began with. */
async function findLastRows(
  ports: JobPorts,
  swept: SweptSink,
  { manifest, base }: Beginning,
  rows: readonly PlacedRow[],
): Promise<Map<string, Emission>> {
  const wanted = new Map<number, Set<string>>();
  for (const { key } of rows) {
    const group = keyGroupOf(identifyKey(key).hash, manifest.maxParallelism);
    wanted.set(group, (wanted.get(group) ?? new Set()).add(key));
  }
  const read = readGroups(ports, base, swept.operator);
  const last = new Map<string, Emission>();
  for (const [group, keys] of [...wanted].sort(([a], [b]) => a - b)) {
    for (const { entry } of await read(group)) {
      const { key } = entry.item;
      if (!keys.has(key)) continue;
      for (const emission of listLastRows(manifest, swept, entry)) {
        last.set(nameOf({ key, row: emission.row }), emission);
      }
    }
  }
  return last;
}

/** The last output of each of a key's rows in a view, of those that were published at the cut. */
function listLastRows(
  manifest: Manifest,
  { operator, name }: SweptSink,
  { item }: RunEntry,
): Emission[] {
  if (item.emissions === undefined) return [];
  const end = endOfOutputs(manifest, operator, item.key);
  return unpackEmissions(item.emissions).filter(
    ({ sink, position }) => sink === name && (end === undefined || !isPast(position, end)),
  );
}

/** Up to where a key's outputs were published at the cut; undefined where all were. */
function endOfOutputs(manifest: Manifest, operator: string, key: string): Position | undefined {
  if (manifest.isExact) return undefined;
  const owner = findOwner(manifest.channels, operator, key);
  return owner === undefined || isExact(owner.progress) ? undefined : owner.progress.position;
}

function placeRow(
  { job }: JobPorts,
  { operator }: SweptSink,
  { generation, manifest }: Beginning,
  key: string,
  emission: Emission,
): { source: SinkSource; id: string } {
  const owner = findOwner(manifest.channels, operator, key);
  if (owner === undefined) {
    throw new HoldfastError(
      'internal',
      `key ${JSON.stringify(key)} belongs to no channel of operator ${operator}`,
    );
  }
  const origin = originOf(owner.channel.stream);
  const source = { job, operator, generation, channel: channelId(owner.channel), origin };
  return { source, id: emissionId(operator, origin, identifyKey(key).hash, emission) };
}

function nameOf({ key, row }: { readonly key: string; readonly row: string }): string {
  return JSON.stringify([key, row]);
}
