import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareKeys } from '../../shared/core/key-order.ts';
import {
  decodeRunBlock,
  decodeRunFile,
  encodeRunFile,
  openSortedFile,
  type RunEntry,
  type RunFileOrigin,
} from '../../shared/core/run-file.ts';
import { sortedHeadBytes } from '../../shared/core/sorted-blocks.ts';
import type { StoredItem } from '../../shared/core/stored-item.ts';
import { anyKey, anyPosition } from './arbitrary-progress.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
const bytes = fc.uint8Array({ maxLength: 200 });

const item: fc.Arbitrary<StoredItem> = fc.record({
  key: anyKey,
  keyGroup: fc.nat({ max: 32_767 }),
  version: fc.nat({ max: 2 ** 40 }),
  position: anyPosition,
  arrivalMs: fc.nat({ max: 2 ** 42 }),
  states: fc.option(bytes, { nil: undefined }),
  emissions: fc.option(bytes, { nil: undefined }),
  spills: fc.constant([]),
  timers: fc.array(
    fc.record({
      domain: fc.constantFrom('event' as const, 'arrival' as const),
      time: fc.integer({ min: -(2 ** 42), max: 2 ** 42 }),
      name: fc.stringMatching(/^[a-z:_-]{1,20}$/),
    }),
    { maxLength: 3 },
  ),
});

const entries: fc.Arbitrary<RunEntry[]> = fc.uniqueArray(
  fc.record({ generation: fc.nat({ max: 99_999_999 }), item }),
  { minLength: 1, maxLength: 20, selector: (one) => `${one.item.keyGroup}/${one.item.key}` },
);
const origin: fc.Arbitrary<RunFileOrigin> = fc.record({
  job: name,
  operator: name,
  isLast: fc.boolean(),
});

describe('a run file', () => {
  it('is read back as it was written, in order, as a whole and block by block', () => {
    fc.assert(
      fc.property(origin, entries, (from, written) => {
        const { bytes: file, header } = encodeRunFile(from, written);
        const inOrder = written.toSorted((a, b) => compareKeys(a.item, b.item));
        expect(decodeRunFile(file, 'property')).toEqual({ header, entries: inOrder });

        const opened = openSortedFile(file.slice(0, sortedHeadBytes(file)), 'property');
        expect(opened.header).toEqual(header);
        const read = opened.blocks.flatMap((block) => {
          const part = file.slice(block.offset, block.offset + block.bytes);
          return decodeRunBlock(part, block, 'property');
        });
        expect(read).toEqual(inOrder);
      }),
      { numRuns: 200 },
    );
  });

  it('is refused with any of its bytes changed', () => {
    fc.assert(
      fc.property(origin, entries, fc.nat(), fc.integer({ min: 1, max: 255 }), (...given) => {
        const [from, written, seed, mask] = given;
        const damaged = encodeRunFile(from, written).bytes;
        const at = seed % damaged.length;
        damaged[at] = damaged[at]! ^ mask;
        expect(() => decodeRunFile(damaged, 'property')).toThrow(/run file property/);
      }),
      { numRuns: 200 },
    );
  });
});
