import { describe, expect, it } from 'vitest';
import { isHoldfastError } from '../../../shared/core/errors.ts';
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
} from '../../../shared/core/position.ts';

const at = (sequence: string, sub = 0): Position => ({ sequence, sub });

/** As wide as AWS's: in a parent shard, in its child, and in the child's child, which were created later. */
const lineage = [
  '49548859072981407302346402143218936873296131498190471170',
  '49548859213225472914283502918279102913729371928371928371',
  '49548859483502918273645102938475610293847561029384756102',
];

describe('comparePositions', () => {
  it('orders sequence numbers as the numbers that they spell', () => {
    expect(comparePositions(at('9'), at('10'))).toBeLessThan(0);
    expect(comparePositions(at('10'), at('9'))).toBeGreaterThan(0);
    expect(comparePositions(at('100'), at('99'))).toBeGreaterThan(0);
  });

  it('tells numbers apart that differ beyond the 53 bits of a double', () => {
    const [first] = lineage;
    const next = (BigInt(first!) + 1n).toString();
    expect(Number(first)).toBe(Number(next));
    expect(comparePositions(at(first!), at(next))).toBeLessThan(0);
  });

  it('puts children after their parent', () => {
    const shuffled = [lineage[2]!, lineage[0]!, lineage[1]!].map((sequence) => at(sequence));
    expect(shuffled.sort(comparePositions).map((p) => p.sequence)).toEqual(lineage);
  });

  it('orders sub-records within one sequence number and no further', () => {
    expect(comparePositions(at('5', 9), at('5', 10))).toBeLessThan(0);
    expect(comparePositions(at('5', 10), at('6', 0))).toBeLessThan(0);
    expect(comparePositions(at('5', 7), at('5', 7))).toBe(0);
  });

  it('orders numbers that an emulator has padded to one width', () => {
    expect(comparePositions(at('000009'), at('000010'))).toBeLessThan(0);
  });
});

describe('isPast', () => {
  it('is true for everything at the start of a channel', () => {
    expect(isPast(at('0'), undefined)).toBe(true);
  });

  it('is false for the cut itself', () => {
    expect(isPast(at('5', 1), at('5', 1))).toBe(false);
    expect(isPast(at('5', 2), at('5', 1))).toBe(true);
    expect(isPast(at('5', 0), at('5', 1))).toBe(false);
  });
});

describe('laterPosition', () => {
  it('takes the start of a channel for the earliest position', () => {
    expect(laterPosition(undefined, undefined)).toBeUndefined();
    expect(laterPosition(at('1'), undefined)).toEqual(at('1'));
    expect(laterPosition(undefined, at('1'))).toEqual(at('1'));
  });

  it('takes the later of two, whichever comes first', () => {
    expect(laterPosition(at('9'), at('10'))).toEqual(at('10'));
    expect(laterPosition(at('10'), at('9'))).toEqual(at('10'));
  });
});

describe('formatPosition and parsePosition', () => {
  it('give a position back as it was', () => {
    for (const position of [at('0'), at(lineage[0]!, 3), at('000012', subSequenceMax)]) {
      expect(parsePosition(formatPosition(position))).toEqual(position);
    }
  });

  it('write the sequence number, a point and the sub-sequence number', () => {
    expect(formatPosition(at('4959', 12))).toBe('4959.12');
  });

  it.each([
    '',
    '12',
    '.',
    '.5',
    '12.x',
    '12.-1',
    '12.5.5',
    '12.0.5',
    '-12.0',
    '1e3.0',
    ' 12.0',
    'ab.0',
  ])('refuse %j and say what it should look like', (text) => {
    expect(() => parsePosition(text)).toThrow(
      `cannot read position ${JSON.stringify(text)}: expected "<sequence number>.<sub-sequence>"`,
    );
    try {
      parsePosition(text);
    } catch (error) {
      expect(isHoldfastError(error, 'corrupt')).toBe(true);
    }
  });
});

describe('formatSortable', () => {
  it('pads all three parts to one width', () => {
    expect(formatSortable(at('42', 7), 3)).toBe(`${'0'.repeat(62)}42.0000007.000003`);
  });

  it('sorts as text where the sequence numbers differ in length', () => {
    expect(formatSortable(at('9'), 0) < formatSortable(at('10'), 0)).toBe(true);
  });

  it('takes the longest sequence number and refuses a longer one', () => {
    const longest = '9'.repeat(sequenceDigitsMax);
    expect(formatSortable(at(longest, subSequenceMax), 999_999)).toBe(`${longest}.9999999.999999`);
    expect(() => formatSortable(at(`${longest}9`), 0)).toThrow(
      /has 65 digits, at most 64 are supported/,
    );
  });
});
