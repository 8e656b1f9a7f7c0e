import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  comparePositions,
  formatPosition,
  formatSortable,
  isPast,
  laterPosition,
  parsePosition,
  sequenceDigitsMax,
  subSequenceMax,
  type Position,
} from '../../shared/core/position.ts';

/** Sequence numbers of every length, and neighbours of each other as often as not. */
const sequence = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** BigInt(sequenceDigitsMax) - 1n }),
  fc.bigInt({ min: 10n ** 55n, max: 10n ** 55n + 3n }),
  fc.bigInt({ min: 0n, max: 12n }),
);

const position: fc.Arbitrary<Position> = fc.record({
  sequence: sequence.map(String),
  sub: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: subSequenceMax })),
});

const sign = (value: number | bigint): number => (value > 0 ? 1 : value < 0 ? -1 : 0);

const compareNumbers = (a: Position, b: Position): number =>
  sign(BigInt(a.sequence) - BigInt(b.sequence)) || sign(a.sub - b.sub);

describe('the order of positions', () => {
  it('is that of BigInt, then of the sub-sequence number', () => {
    fc.assert(
      fc.property(position, position, (a, b) => {
        expect(sign(comparePositions(a, b))).toBe(compareNumbers(a, b));
      }),
      { numRuns: 2000 },
    );
  });

  it('is that of BigInt where an emulator pads all numbers to one width', () => {
    const width = 40;
    const padded = fc
      .bigInt({ min: 0n, max: 10n ** BigInt(width) - 1n })
      .map((value) => ({ sequence: String(value).padStart(width, '0'), sub: 0 }));
    fc.assert(
      fc.property(padded, padded, (a, b) => {
        expect(sign(comparePositions(a, b))).toBe(compareNumbers(a, b));
      }),
    );
  });

  it('is that of the sortable text, together with an index', () => {
    const index = fc.nat({ max: 999_999 });
    fc.assert(
      fc.property(position, index, position, index, (a, i, b, j) => {
        const [left, right] = [formatSortable(a, i), formatSortable(b, j)];
        const byText = left < right ? -1 : left > right ? 1 : 0;
        expect(byText).toBe(compareNumbers(a, b) || sign(i - j));
        expect(left.length).toBe(right.length);
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with isPast and laterPosition', () => {
    fc.assert(
      fc.property(position, position, (a, b) => {
        expect(isPast(a, b)).toBe(compareNumbers(a, b) > 0);
        expect(laterPosition(a, b)).toEqual(compareNumbers(a, b) >= 0 ? a : b);
      }),
    );
  });
});

describe('the text of a position', () => {
  it('gives the position back', () => {
    fc.assert(
      fc.property(position, (p) => {
        expect(parsePosition(formatPosition(p))).toEqual(p);
      }),
    );
  });

  it('is the text that it was read from', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9x]{1,4}\.(0|[1-9][0-9]{0,2})$/), (text) => {
        let parsed: Position | undefined;
        try {
          parsed = parsePosition(text);
        } catch {
          expect(text).toMatch(/x/);
          return;
        }
        expect(formatPosition(parsed)).toBe(text);
      }),
    );
  });
});
