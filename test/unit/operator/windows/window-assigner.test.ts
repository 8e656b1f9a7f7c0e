import { describe, expect, it } from 'vitest';
import {
  session,
  sliding,
  tumbling,
  windowsAt,
  windowsPerEvent,
} from '../../../../shared/operator/windows/window-assigner.ts';

describe('tumbling windows', () => {
  it.each([
    [0, 0, 10],
    [9, 0, 10],
    [10, 10, 20],
    [-1, -10, 0],
    [-10, -10, 0],
    [-11, -20, -10],
  ])('put %i into [%i, %i)', (time, start, end) => {
    expect(windowsAt(tumbling(10), time)).toEqual([{ start, end }]);
  });

  it.each([
    [3, 2, 3, 13],
    [3, 12, 3, 13],
    [-3, 6, -3, 7],
    [-3, 7, 7, 17],
  ])('are moved by their offset: %i', (offset, timeAfter, start, end) => {
    const time = timeAfter < start ? start : timeAfter;
    expect(windowsAt(tumbling(10, offset), time)).toEqual([{ start, end }]);
  });

  it.each([0, -10, 2.5, Number.NaN, Number.POSITIVE_INFINITY, 1e16])(
    'refuse a size of %d',
    (sizeMs) => {
      expect(() => tumbling(sizeMs)).toThrow(
        new RangeError(
          `tumbling: sizeMs is ${sizeMs}, expected a whole number of milliseconds from 1 to 4320000000000000; give it in milliseconds`,
        ),
      );
    },
  );

  it.each([10, -10, 0.5, Number.NaN])('refuse an offset of %d in windows of 10', (offsetMs) => {
    expect(() => tumbling(10, offsetMs)).toThrow(/offsetMs is .* take the remainder/);
  });
});

describe('sliding windows', () => {
  it('put an event into each window that covers it, earliest first', () => {
    expect(windowsAt(sliding(30, 10), 25)).toEqual([
      { start: 0, end: 30 },
      { start: 10, end: 40 },
      { start: 20, end: 50 },
    ]);
  });

  it('begin at an event on the slide and end before one on their end', () => {
    expect(windowsAt(sliding(20, 10), 20)).toEqual([
      { start: 10, end: 30 },
      { start: 20, end: 40 },
    ]);
  });

  it('lie before 1970 likewise', () => {
    expect(windowsAt(sliding(20, 10), -5)).toEqual([
      { start: -20, end: 0 },
      { start: -10, end: 10 },
    ]);
  });

  it('need not be a multiple of the slide', () => {
    expect(windowsAt(sliding(25, 10), 4)).toHaveLength(3);
    expect(windowsAt(sliding(25, 10), 5)).toHaveLength(2);
    expect(windowsPerEvent(sliding(25, 10))).toBe(3);
  });

  it('refuse to leave gaps', () => {
    expect(() => sliding(10, 11)).toThrow(
      new RangeError(
        'sliding: slideMs is 11, expected at most sizeMs, 10: events between two windows would be lost; slide less, or filter them before and use tumbling',
      ),
    );
  });

  it.each([
    [0, 0, /sizeMs is 0/],
    [10, 0, /slideMs is 0/],
    [10, -5, /slideMs is -5/],
    [10, 1.5, /slideMs is 1.5/],
  ])('refuse a size of %d with a slide of %d', (sizeMs, slideMs, message) => {
    expect(() => sliding(sizeMs, slideMs)).toThrow(message);
    expect(() => sliding(sizeMs, slideMs)).toThrow(RangeError);
  });
});

describe('session windows', () => {
  it('last for a gap behind an event', () => {
    expect(windowsAt(session(10), 25)).toEqual([{ start: 25, end: 35 }]);
  });

  it.each([0, -1, 0.5])('refuse a gap of %d', (gapMs) => {
    expect(() => session(gapMs)).toThrow(/^session: gapMs is .* give it in milliseconds$/);
  });
});
