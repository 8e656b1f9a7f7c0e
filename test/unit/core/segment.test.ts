import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../shared/core/random.ts';
import {
  chainReferencesMax,
  decodeSegment,
  decodeSegmentHeader,
  encodeSegment,
  segmentHeadBytes,
} from '../../../shared/core/segment.ts';
import type { StoredItem } from '../../../shared/core/stored-item.ts';
import { makeItem, makeSegment, positionAt } from './segment-fixture.ts';

const name = 'jobs/demo/segment.seg';

describe('encodeSegment and decodeSegment', () => {
  it('give every part of header and items back', () => {
    const spill = { name: 'jobs/demo/emissions/1', bytes: 70_000, crc: 5, last: positionAt(9, 2) };
    const segment = makeSegment(
      [
        makeItem({ key: 'bytes', emissions: new Uint8Array([9, 8]), spills: [spill] }),
        makeItem({ key: 'tombstone', states: undefined, position: positionAt(9, 2) }),
      ],
      { ahead: [{ key: 'tombstone', position: positionAt(9, 2) }] },
    );
    expect(decodeSegment(encodeSegment(segment), name)).toEqual(segment);
  });

  it('give a segment without a start, a chain or items back', () => {
    const segment = makeSegment([], { from: undefined, chain: [] });
    expect(decodeSegment(encodeSegment(segment), name)).toEqual(segment);
  });

  it('sort entries by key group, then by key', () => {
    const keys: [number, string][] = [
      [9, 'a'],
      [2, 'b'],
      [10, 'a'],
      [2, 'B'],
      [2, ''],
    ];
    const items = keys.map(([keyGroup, key]) => makeItem({ keyGroup, key }));
    const { items: read } = decodeSegment(encodeSegment(makeSegment(items)), name);
    expect(read.map(({ keyGroup, key }) => [keyGroup, key])).toEqual([
      [2, ''],
      [2, 'B'],
      [2, 'b'],
      [9, 'a'],
      [10, 'a'],
    ]);
  });

  it('leave the order of the items that they were given alone', () => {
    const items = [makeItem({ key: 'b' }), makeItem({ key: 'a' })];
    encodeSegment(makeSegment(items));
    expect(items.map(({ key }) => key)).toEqual(['b', 'a']);
  });

  it('count the items themselves, whatever the header says', () => {
    const bytes = encodeSegment(makeSegment([makeItem()], { entries: 99 }));
    expect(decodeSegment(bytes, name).header.entries).toBe(1);
  });

  it(`keep the ${chainReferencesMax} newest references of a longer chain`, () => {
    const chain = Array.from({ length: 100 }, (_, at) => ({
      number: 100 - at,
      attempt: String(at),
      bytes: at,
      crc: at,
    }));
    const { header } = decodeSegment(encodeSegment(makeSegment([], { chain })), name);
    expect(header.chain).toEqual(chain.slice(0, chainReferencesMax));
  });
});

describe('a segment of more than one block', () => {
  const random = seededRandom('blocks');
  const items = Array.from({ length: 60 }, (_, at): StoredItem => {
    const states = Uint8Array.from({ length: 16 * 1024 }, () => random() * 256);
    return makeItem({ key: `key-${String(at).padStart(3, '0')}`, keyGroup: at, states });
  });
  const bytes = encodeSegment(makeSegment(items));

  it('gives all of its items back in order', () => {
    expect(decodeSegment(bytes, name).items).toEqual(items);
  });

  it('is refused where one of its later blocks is damaged', () => {
    const damaged = bytes.slice();
    damaged[bytes.length - 10] = damaged[bytes.length - 10]! ^ 0xff;
    expect(() => decodeSegment(damaged, name)).toThrow(
      /segment jobs\/demo\/segment.seg is damaged: block at byte \d+ does not have the checksum/,
    );
    // The first block is whole: had there been one block only, nothing could be told apart.
    const at = /block at byte (\d+)/.exec(messageOf(() => decodeSegment(damaged, name)))?.[1];
    expect(Number(at)).toBeGreaterThan(segmentHeadBytes(bytes) + 256 * 1024);
  });

  it('holds one item of the largest size together with others', () => {
    const large = makeItem({ key: 'large', states: new Uint8Array(390 * 1024) });
    const some = [...items.slice(0, 15), large, ...items.slice(15, 20)];
    expect(decodeSegment(encodeSegment(makeSegment(some)), name).items).toHaveLength(21);
  });
});

describe('decodeSegmentHeader', () => {
  const segment = makeSegment([makeItem()], { ahead: [{ key: 'a', position: positionAt(8) }] });
  const bytes = encodeSegment(segment);

  it('reads the header from its first bytes alone', () => {
    const head = bytes.subarray(0, segmentHeadBytes(bytes));
    expect(head.length).toBeLessThan(bytes.length);
    expect(decodeSegmentHeader(head, name)).toEqual(segment.header);
  });

  it('is told by the first 16 bytes how many it needs', () => {
    expect(segmentHeadBytes(bytes.subarray(0, 16))).toBe(segmentHeadBytes(bytes));
    expect(segmentHeadBytes(bytes.subarray(0, 15))).toBe(16);
  });

  it('reads from the middle of a larger buffer', () => {
    const larger = new Uint8Array(bytes.length + 7);
    larger.set(bytes, 7);
    const inside = larger.subarray(7);
    expect(segmentHeadBytes(inside)).toBe(segmentHeadBytes(bytes));
    expect(decodeSegment(inside, name)).toEqual(segment);
  });

  it('refuses a header of which a byte is missing', () => {
    const head = bytes.subarray(0, segmentHeadBytes(bytes) - 1);
    expect(() => decodeSegmentHeader(head, name)).toThrow(/header does not have its checksum/);
  });
});

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return 'nothing was thrown';
}
