import { HoldfastError } from './errors.ts';

/**
 * A place in one shard: the Kinesis sequence number (decimal text, as Kinesis wrote it), the index of a record inside
 * a KPL-aggregated one (0 where nothing was aggregated), and, after the record itself, the timers that fire behind it.
 *
 * Positions are ordered along one channel lineage only: siblings do not compare (P6).
 */
export interface Position {
  readonly sequence: string;
  readonly sub: number;
  /** A timer that fires right after the record; absent for the record itself. */
  readonly step?: FiringStep;
}

/** One firing behind a record. Keys fire by hash, the timers of a key by time and name (P11). */
export interface FiringStep {
  readonly keyHash: string;
  readonly key: string;
  /** ms since the epoch. */
  readonly time: number;
  readonly name: string;
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
  return a.sub - b.sub || compareSteps(a.step, b.step);
}

/** Orders the steps behind one record; the record itself (`undefined`) is first. */
export function compareSteps(a: FiringStep | undefined, b: FiringStep | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  return (
    compareTexts(a.keyHash, b.keyHash) ||
    compareTexts(a.key, b.key) ||
    a.time - b.time ||
    compareTexts(a.name, b.name)
  );
}

/** Orders texts by their code units, the same everywhere. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Behind every timer that a record can make due: where a cut stands once all of them have fired. */
export const endOfFiring: FiringStep = { keyHash: 'g'.repeat(32), key: '', time: 0, name: '' };

/** The record that a position is at or behind. */
export function recordOf(position: Position): Position {
  return position.step === undefined
    ? position
    : { sequence: position.sequence, sub: position.sub };
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

/** Writes a position as `<sequence>.<sub>`, a firing behind it as `<sequence>.<sub>.<hash>.<time>.<name>.<key>`. */
export function formatPosition({ sequence, sub, step }: Position): string {
  if (step === undefined) return `${sequence}.${sub}`;
  return `${sequence}.${sub}.${step.keyHash}.${step.time}.${step.name}.${step.key}`;
}

const positionPattern = /^(\d+)\.(0|[1-9]\d{0,6})(?:\.([0-9a-g]{32})\.(-?\d+)\.([^.]*)\.(.*))?$/s;

/** Reads what {@link formatPosition} wrote. */
export function parsePosition(text: string): Position {
  const [, sequence, sub, keyHash, time, name, key] = positionPattern.exec(text) ?? [];
  if (sequence === undefined) {
    throw new HoldfastError(
      'corrupt',
      `cannot read position ${JSON.stringify(text)}: expected "<sequence number>.<sub-sequence>"`,
    );
  }
  if (keyHash === undefined) return { sequence, sub: Number(sub) };
  const step = { keyHash, key: key!, time: Number(time), name: name! };
  return { sequence, sub: Number(sub), step };
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
  const counter = String(index).padStart(6, '0');
  const { step } = position;
  if (step === undefined) return `${sequence}.${sub}.${counter}`;
  // Rows are compared within one key, so that time and name order its firings. "t" sorts behind every digit, "!" before
  // every character of a name.
  return `${sequence}.${sub}.t${formatSortableTime(step.time)}!${step.name}!${counter}`;
}

/** Times are shifted by this, so that those before 1970 sort in front. */
const timeShift = 2 ** 52;

/** Writes a time (ms since the epoch, a whole number) as text whose alphabetical order is that of the times. */
export function formatSortableTime(time: number): string {
  return String(time + timeShift).padStart(16, '0');
}

/** Reads what {@link formatSortableTime} wrote. */
export function parseSortableTime(text: string): number {
  return Number(text) - timeShift;
}
