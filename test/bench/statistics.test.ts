import { describe, expect, it } from 'vitest';
import { formatBenchTable } from '../../bench/harness/results.ts';
import { median, takeTurns } from '../../bench/harness/statistics.ts';

describe('the median', () => {
  it.each([
    [[3], 3],
    [[10, 9, 1], 9],
    [[1, 100, 2, 3], 2.5],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('of nothing is refused', () => {
    expect(() => median([])).toThrow('no numbers');
  });
});

describe('variants', () => {
  it('take turns, and each gets what it has measured', async () => {
    const order: string[] = [];
    const measured = await takeTurns(2, ['a', 'b'], async (variant, round) => {
      order.push(variant);
      return `${variant}${round}`;
    });
    expect(order).toEqual(['a', 'b', 'a', 'b']);
    expect(measured).toEqual([
      ['a0', 'a1'],
      ['b0', 'b1'],
    ]);
  });
});

describe('a table', () => {
  it('groups digits, rounds, and shows what was not measured', () => {
    const text = formatBenchTable({
      title: 'Sizes',
      columns: [
        { field: 'what', heading: 'what' },
        { field: 'bytes', heading: 'bytes' },
        { field: 'ratio', heading: '×', digits: 2 },
      ],
      rows: [
        { what: 'one', bytes: 1_234_567, ratio: 0.126 },
        { what: 'two', bytes: 12 },
      ],
    });
    expect(text.split('\n').slice(3)).toEqual(['one   1,234,567  0.13', 'two          12     -']);
  });
});
