import { HoldfastError } from './errors.ts';
import { pack, unpack } from './pack.ts';
import {
  comparePositions,
  formatPosition,
  formatSortable,
  isPast,
  parsePosition,
  type Position,
} from './position.ts';

/** One output of an operator. Its identity is where it was made: (key, position, index), never when or by which attempt. */
export interface Emission {
  readonly position: Position;
  /** Counts the emissions of one callback, from 0 (P13). */
  readonly index: number;
  readonly sink: string;
  /** Upsert sinks: which of the key's rows it replaces. Append sinks: empty. */
  readonly row: string;
  /** A plain object; null removes an upsert row. */
  readonly value: unknown;
}

/** The sink that takes poison records; no sink of an operator can have this name. */
export const deadLetterSink = '!dead-letters';

/** Emissions of an item above this size go to an object of their own (P2). */
export const inlineEmissionBytesMax = 64 * 1024;

/**
 * Largest output, packed. A row of a table takes 400 KB, and numbers and names take up to twice their packed size there.
 * Dead letters are not bound by it: their data goes to an object of its own.
 */
export const rowBytesMax = 180 * 1024;

/** A callback may emit no more than this; the counter in ids has six digits. */
export const emissionsPerCallbackMax = 100_000;

/** An object in S3 that holds emissions of an item which were too large to stay in it. */
export interface Spill {
  readonly name: string;
  readonly bytes: number;
  readonly crc: number;
  /** The last position in it: past it the object is needed no more. */
  readonly last: Position;
}

/**
 * The id of an output (P13): operator # origin # sequence # sub # key hash # step # index. The step is `r` for a record, the
 * time and name of the timer for a firing.
 */
export function emissionId(
  operator: string,
  origin: string,
  keyHash: string,
  emission: Emission,
): string {
  const { sequence, sub, step } = emission.position;
  const callback = step === undefined ? 'r' : `${step.time},${step.name}`;
  return `${operator}#${origin}#${sequence}#${sub}#${keyHash}#${callback}#${emission.index}`;
}

/** The order of a key's emissions, as text that sorts. */
export function emissionOrder(emission: Emission): string {
  return formatSortable(emission.position, emission.index);
}

/**
 * The emissions past a cut, in order. Emissions of a list are in the order of their positions, so this is a suffix.
 */
export function emissionsPast(
  emissions: readonly Emission[],
  cut: Position | undefined,
): readonly Emission[] {
  if (cut === undefined) return emissions;
  let first = emissions.length;
  while (first > 0 && isPast(emissions[first - 1]!.position, cut)) first -= 1;
  return first === 0 ? emissions : emissions.slice(first);
}

/** The emissions at or before a cut. */
export function emissionsUpTo(emissions: readonly Emission[], cut: Position): readonly Emission[] {
  let end = 0;
  while (end < emissions.length && !isPast(emissions[end]!.position, cut)) end += 1;
  return end === emissions.length ? emissions : emissions.slice(0, end);
}

/** Orders emissions of one key. */
export function compareEmissions(a: Emission, b: Emission): number {
  return comparePositions(a.position, b.position) || a.index - b.index;
}

export function packEmissions(emissions: readonly Emission[]): Uint8Array {
  return pack(
    emissions.map(({ position, index, sink, row, value }) => [
      formatPosition(position),
      index,
      sink,
      row,
      value,
    ]),
  );
}

/** An output that no row can hold, if there is one. Only to be asked where emissions are large together. */
export function findOversized(emissions: readonly Emission[]): Emission | undefined {
  return emissions.find(
    ({ sink, value }) => sink !== deadLetterSink && pack(value).length > rowBytesMax,
  );
}

export function unpackEmissions(bytes: Uint8Array): Emission[] {
  const rows = unpack(bytes);
  if (!Array.isArray(rows)) {
    throw new HoldfastError(
      'corrupt',
      `cannot read emissions: expected a list, got ${typeof rows}`,
    );
  }
  return rows.map((row: unknown) => {
    const [position, index, sink, name, value] = row as [string, number, string, string, unknown];
    return { position: parsePosition(position), index, sink, row: name, value };
  });
}
