import { HoldfastError } from './errors.ts';

/**
 * A place in one shard: the Kinesis sequence number (decimal text, as Kinesis wrote it) and the index of a record inside
 * a KPL-aggregated one (0 where nothing was aggregated).
 *
 * Positions are ordered along one channel lineage only: siblings do not compare (P6).
 */
export interface Position {
  readonly sequence: string;
  readonly sub: number;
}

/** Longest sequence number that is accepted, in decimal digits. AWS uses 56. */
export const sequenceDigitsMax = 64;

/** Highest sub-sequence number. A record of 10 MiB cannot hold more sub-records than this. */
export const subSequenceMax = 9_999_999;

/**
 * Orders two positions of one lineage: negative, zero or positive.
 *
 * Decimal texts without leading zeros compare like the numbers they spell by (length, text); emulators that pad, pad to
 * one width. So the order is that of BigInt without making one for each record.
 */
export function comparePositions(a: Position, b: Position): number {
  const left = a.sequence;
  const right = b.sequence;
  if (left !== right) {
    if (left.length !== right.length) return left.length - right.length;
    return left < right ? -1 : 1;
  }
  return a.sub - b.sub;
}

/** True where `position` lies beyond `cut`; everything lies beyond the start of a channel (`undefined`). */
export function isPast(position: Position, cut: Position | undefined): boolean {
  return cut === undefined || comparePositions(position, cut) > 0;
}

/** The later of two positions, where `undefined` is the start of the channel. */
export function laterPosition(
  a: Position | undefined,
  b: Position | undefined,
): Position | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  return comparePositions(a, b) >= 0 ? a : b;
}

/** Writes a position as `<sequence>.<sub>`; a firing step may follow a second point in later formats. */
export function formatPosition(position: Position): string {
  return `${position.sequence}.${position.sub}`;
}

/** Reads what {@link formatPosition} wrote. */
export function parsePosition(text: string): Position {
  const [, sequence, sub] = /^(\d+)\.(0|[1-9]\d{0,6})$/.exec(text) ?? [];
  if (sequence === undefined) {
    throw new HoldfastError(
      'corrupt',
      `cannot read position ${JSON.stringify(text)}: expected "<sequence number>.<sub-sequence>"`,
    );
  }
  return { sequence, sub: Number(sub) };
}

/**
 * Writes a position with a counter as text whose alphabetical order is the order of positions, for conditions that
 * DynamoDB evaluates on strings (its numbers end at 38 digits). Example: `000…4959…898.0000000.000000`.
 */
export function formatSortable(position: Position, index: number): string {
  if (position.sequence.length > sequenceDigitsMax) {
    throw new HoldfastError(
      'invalid',
      `sequence number ${position.sequence} has ${position.sequence.length} digits, at most ${sequenceDigitsMax} are supported`,
    );
  }
  const sequence = position.sequence.padStart(sequenceDigitsMax, '0');
  const sub = String(position.sub).padStart(7, '0');
  return `${sequence}.${sub}.${String(index).padStart(6, '0')}`;
}
