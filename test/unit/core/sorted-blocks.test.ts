import { describe, expect, it } from 'vitest';
import { isHoldfastError, type HoldfastError } from '../../../shared/core/errors.ts';
import { pack } from '../../../shared/core/pack.ts';
import { decodeRunFile, openSortedFile } from '../../../shared/core/run-file.ts';
import { decodeSegment } from '../../../shared/core/segment.ts';
import { sortedHeadBytes } from '../../../shared/core/sorted-blocks.ts';
import { forgeFrame, forgeRow, forgeSortedFile, type ForgedBlock } from './forge-sorted-file.ts';
import { runFileOf, makeEntry } from './run-file-fixture.ts';

/*
 * Files whose checksums are right and whose content is not: what a writer with a bug would leave behind.
 */

const header = {
  job: 'demo',
  operator: 'counts',
  groups: [1, 2],
  entries: 2,
  keys: 0,
  tombstones: 2,
  isLast: true,
  last: [2, 'a'],
};
const rows = [forgeRow(1, 'a'), forgeRow(2, 'a')];

const forge = (blocks: readonly ForgedBlock[], other: object = {}): Uint8Array =>
  forgeSortedFile('HFRN', { ...header, ...other }, blocks);

const messageOf = (bytes: Uint8Array): string => {
  try {
    decodeRunFile(bytes, 'forged');
  } catch (error) {
    expect(isHoldfastError(error, 'corrupt'), String(error)).toBe(true);
    return (error as HoldfastError).message;
  }
  return 'nothing was thrown';
};

describe('a sorted file with its checksums right', () => {
  it('is read where all else is right', () => {
    const read = decodeRunFile(forge([{ rows, groups: [1, 2] }]), 'forged');
    expect(read.entries.map(({ item }) => item.keyGroup)).toEqual([1, 2]);
  });

  it.each<[string, readonly ForgedBlock[], string]>([
    [
      'entries are out of order in a block',
      [{ rows: [forgeRow(1, 'b'), forgeRow(1, 'a')], groups: [1, 1] }],
      'has key "a" of key group 1 out of order',
    ],
    [
      'a key occurs twice',
      [{ rows: [forgeRow(1, 'a'), forgeRow(1, 'a')], groups: [1, 1] }],
      'has key "a" of key group 1 out of order',
    ],
    [
      'entries are out of order between blocks',
      [
        { rows: [forgeRow(1, 'b')], groups: [1, 1] },
        { rows: [forgeRow(1, 'a')], groups: [1, 1] },
      ],
      'key "a" of key group 1 is out of order between two blocks',
    ],
    [
      'blocks are out of order',
      [
        { rows: [forgeRow(2, 'a')], groups: [2, 2] },
        { rows: [forgeRow(1, 'a')], groups: [1, 1] },
      ],
      'the blocks of its index are not in order',
    ],
    [
      'a block ends before it begins',
      [{ rows, groups: [2, 1] }],
      'the blocks of its index are not in order',
    ],
    [
      'there is a gap between blocks',
      [{ rows, groups: [1, 2], offset: 1 }],
      'the blocks of its index are not in order',
    ],
    [
      'a block inflates to fewer bytes than its index says',
      [{ rows, groups: [1, 2], rawBytes: 100_000 }],
      'bytes, the header promises 100000',
    ],
    ['the first key group is another', [{ rows, groups: [0, 2] }], 'the key groups of its index'],
    ['the last key group is another', [{ rows, groups: [1, 3] }], 'the key groups of its index'],
    [
      'a block has fewer entries than its index says',
      [{ rows, groups: [1, 2], entries: 3 }],
      'has 2 entries, the header promises 3',
    ],
    [
      'a block has none',
      [{ rows: [], groups: [1, 2] }],
      'does not have the key groups of its index',
    ],
    ['there is no block', [], 'its entries are not those that the header tells of'],
    [
      'an entry is no list',
      [{ rows: [5, 6], groups: [1, 2] }],
      'cannot be read (row is not iterable',
    ],
    [
      'an entry has a position that is none',
      [{ rows: [[1, 'a', 2, 3, 'x', 0, null, null, []]], groups: [1, 1] }],
      'cannot be read (cannot read position "x"',
    ],
  ])('is refused where %s', (_what, blocks, problem) => {
    expect(messageOf(forge(blocks))).toContain(problem);
  });

  it.each([
    { groups: [1, 1] },
    { groups: [0, 2] },
    { entries: 3 },
    { keys: 1 },
    { tombstones: 1 },
    { last: [2, 'b'] },
    { last: [1, 'a'] },
  ])('is refused where the header says %o of other entries', (other) => {
    expect(messageOf(forge([{ rows, groups: [1, 2] }], other))).toContain(
      'its entries are not those that the header tells of',
    );
  });

  it.each([
    ['no MessagePack', new Uint8Array([0xc1])],
    ['a number', pack(5)],
    ['without an index', pack(header)],
    ['with a number for an index', pack({ ...header, index: 5 })],
    ['with numbers for blocks', pack({ ...header, index: [5] })],
    ['with texts in its index', pack({ ...header, index: [[1, 2, '0', 'x', 5, 5, 1]] })],
    ['with nothing but an index', pack({ index: [] })],
  ])('is refused where its header is %s', (_what, forged) => {
    expect(messageOf(forgeFrame('HFRN', forged, new Uint8Array()))).toMatch(/damaged/);
    expect(() => decodeSegment(forgeFrame('HFSG', forged, new Uint8Array()), 'forged')).toThrow(
      /segment forged is damaged/,
    );
  });
});

describe('what a damaged length makes us allocate', () => {
  it('is bounded for a block, by what the index may say and by what is then inflated', () => {
    const raw = 'x'.repeat(33 * 1024 * 1024);
    expect(messageOf(forge([{ rows: [raw], groups: [1, 2] }]))).toMatch(
      /block of \d+ bytes, \d+ compressed; at most 33554432 are written/,
    );
    expect(messageOf(forge([{ rows, groups: [1, 2], rawBytes: 100 }]))).toMatch(/cannot be read/);
    expect(() =>
      openSortedFile(forge([{ rows, groups: [1, 2], bytes: 2 ** 31 }]), 'forged'),
    ).toThrow(/at most/);
    expect(() => openSortedFile(forge([{ rows, groups: [1, 2], bytes: -1 }]), 'forged')).toThrow(
      /is damaged/,
    );
  });

  it('is bounded for a header', () => {
    const bytes = runFileOf([makeEntry()]);
    bytes.set([0xff, 0xff, 0xff, 0xff], 8);
    expect(sortedHeadBytes(bytes)).toBe(16 + 64 * 1024 * 1024);
    expect(messageOf(bytes)).toContain('the header does not have its checksum');
  });
});

describe('an item that is larger than any that is written', () => {
  it('is refused at once: nobody could read it back', () => {
    const states = new Uint8Array(33 * 1024 * 1024);
    expect(() => runFileOf([makeEntry({ states })])).toThrow(
      /a block of a run file would have 34\d+ bytes, at most 33554432 are read/,
    );
  });
});
