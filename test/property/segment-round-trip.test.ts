import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Position } from '../../shared/core/position.ts';
import {
  chainReferencesMax,
  decodeSegment,
  decodeSegmentHeader,
  encodeSegment,
  segmentHeadBytes,
  type Segment,
  type SegmentHeader,
} from '../../shared/core/segment.ts';
import type { StoredItem } from '../../shared/core/stored-item.ts';

const position: fc.Arbitrary<Position> = fc.record({
  sequence: fc.bigInt({ min: 0n, max: 10n ** 56n - 1n }).map(String),
  sub: fc.nat({ max: 9_999_999 }),
});
const crc = fc.nat({ max: 2 ** 32 - 1 });
const time = fc.option(fc.integer({ min: -(2 ** 42), max: 2 ** 42 }), { nil: undefined });
const key = fc.string({ unit: 'grapheme', maxLength: 30 });
const bytes = fc.uint8Array({ maxLength: 200 });

const item: fc.Arbitrary<StoredItem> = fc.record({
  key,
  keyGroup: fc.nat({ max: 32_767 }),
  version: fc.nat({ max: 2 ** 40 }),
  position,
  arrivalMs: fc.nat({ max: 2 ** 42 }),
  states: fc.option(bytes, { nil: undefined }),
  emissions: fc.option(bytes, { nil: undefined }),
  spills: fc.array(fc.record({ name: key, bytes: fc.nat(), crc, last: position }), {
    maxLength: 2,
  }),
  timers: fc.array(
    fc.record({
      domain: fc.constantFrom('event' as const, 'arrival' as const),
      time: fc.integer({ min: -(2 ** 42), max: 2 ** 42 }),
      name: fc.stringMatching(/^[a-z:_-]{1,20}$/),
    }),
    { maxLength: 3 },
  ),
});

const items = fc.uniqueArray(item, {
  maxLength: 20,
  selector: (one) => `${one.keyGroup}/${one.key}`,
});

const header: fc.Arbitrary<Omit<SegmentHeader, 'entries'>> = fc.record({
  channel: key,
  generation: fc.nat(),
  number: fc.nat(),
  attempt: fc.stringMatching(/^[0-9a-f]{32}$/),
  from: fc.option(position, { nil: undefined }),
  to: position,
  chain: fc.array(fc.record({ number: fc.nat(), attempt: key, bytes: fc.nat(), crc }), {
    maxLength: chainReferencesMax,
  }),
  ahead: fc.array(fc.record({ key, position }), { maxLength: 5 }),
  watermarks: fc.record({ event: time, arrival: time }),
});

const segment: fc.Arbitrary<Segment> = fc
  .tuple(header, items)
  .map(([rest, all]) => ({ header: { ...rest, entries: all.length }, items: all }));

const inOrder = (all: readonly StoredItem[]): StoredItem[] =>
  all.toSorted((a, b) => a.keyGroup - b.keyGroup || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));

describe('a segment', () => {
  it('is read back as it was written, with its items in order', () => {
    fc.assert(
      fc.property(segment, (written) => {
        const read = decodeSegment(encodeSegment(written), 'property');
        expect(read).toEqual({ header: written.header, items: inOrder(written.items) });
      }),
      { numRuns: 300 },
    );
  });

  it('gives its header from the bytes that its start promises, and from no fewer', () => {
    fc.assert(
      fc.property(segment, (written) => {
        const whole = encodeSegment(written);
        const headBytes = segmentHeadBytes(whole.subarray(0, 16));
        expect(decodeSegmentHeader(whole.subarray(0, headBytes), 'property')).toEqual(
          written.header,
        );
        expect(() => decodeSegmentHeader(whole.subarray(0, headBytes - 1), 'property')).toThrow(
          /is damaged/,
        );
      }),
    );
  });

  it('is refused with any of its bytes changed', () => {
    fc.assert(
      fc.property(segment, fc.nat(), fc.integer({ min: 1, max: 255 }), (written, seed, mask) => {
        const damaged = encodeSegment(written);
        const at = seed % damaged.length;
        damaged[at] = damaged[at]! ^ mask;
        expect(() => decodeSegment(damaged, 'property')).toThrow(/segment property/);
      }),
      { numRuns: 300 },
    );
  });
});
