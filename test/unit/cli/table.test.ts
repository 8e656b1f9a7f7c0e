import { describe, expect, it } from 'vitest';
import {
  formatAge,
  formatBytes,
  formatFacts,
  formatTable,
  formatTime,
} from '../../../cli/table.ts';

describe('what the command line prints', () => {
  it('is aligned: numbers to the right, all else to the left', () => {
    const table = formatTable(
      [{ heading: 'NUMBER', isNumber: true }, { heading: 'KIND' }, { heading: 'SIZE' }],
      [
        ['1', 'checkpoint', '5 B'],
        ['1234567', 'undo', ''],
      ],
    );
    expect(table.split('\n')).toEqual([
      ' NUMBER  KIND        SIZE',
      '      1  checkpoint  5 B',
      '1234567  undo',
    ]);
    expect(
      formatFacts([
        ['job', 'flights'],
        ['generation', '1'],
      ]),
    ).toBe('job         flights\ngeneration  1');
  });

  it.each([
    [0, '0 s'],
    [-5_000, '0 s'],
    [1_499, '1 s'],
    [60_000, '1 min'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [90_061_000, '1 d 1 h'],
  ])('tells %i ms as %s', (ms, text) => {
    expect(formatAge(ms)).toBe(text);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.0 kB'],
    [12_345_678, '12.3 MB'],
    [4e18, '4000.0 PB'],
  ])('tells %i bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('tells moments in UTC', () => {
    expect(formatTime(0)).toBe('never');
    expect(formatTime(1_735_689_600_000)).toBe('2025-01-01T00:00:00.000Z');
  });
});
