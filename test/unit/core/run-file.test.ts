import { describe, expect, it } from 'vitest';
import { isHoldfastError } from '../../../shared/core/errors.ts';
import { seededRandom } from '../../../shared/core/random.ts';
import {
  decodeRunBlock,
  decodeRunFile,
  encodeRunFile,
  openSortedFile,
  type RunEntry,
} from '../../../shared/core/run-file.ts';
import { sortedHeadBytes } from '../../../shared/core/sorted-blocks.ts';
import { makeEntry, runFileOf, runFileOrigin } from './run-file-fixture.ts';
import { positionAt } from './segment-fixture.ts';

const name = 'jobs/demo/compactions/000000000001/000000.run';

describe('encodeRunFile and decodeRunFile', () => {
  it('give every part of an entry back', () => {
    const step = { keyHash: 'f'.repeat(32), key: 'a.b', time: -5, name: 'e:close' };
    const entries = [
      makeEntry({ key: 'a', emissions: new Uint8Array([9]) }, 1),
      makeEntry({ key: 'b', position: { ...positionAt(9, 2), step } }, 7),
      makeEntry({ key: 'c', timers: [{ domain: 'arrival', time: 5, name: 'close' }] }),
      makeEntry({ key: 'd', states: undefined }),
    ];
    expect(decodeRunFile(runFileOf(entries), name).entries).toEqual(entries);
  });

  it('say what is in the file: key groups, entries, keys, tombstones, the last key', () => {
    const entries = [
      makeEntry({ keyGroup: 9, key: 'a' }),
      makeEntry({ keyGroup: 2, key: 'z', states: undefined }),
      makeEntry({ keyGroup: 4, key: 'm' }),
    ];
    const { bytes, header } = encodeRunFile({ ...runFileOrigin, isLast: false }, entries);
    expect(header).toEqual({
      job: 'demo',
      operator: 'counts',
      isLast: false,
      groups: [2, 9],
      entries: 3,
      keys: 2,
      tombstones: 1,
      last: { keyGroup: 9, key: 'a' },
    });
    expect(decodeRunFile(bytes, name).header).toEqual(header);
  });

  it('sort entries by key group, then by the units of the key, and leave the given list alone', () => {
    const places: [number, string][] = [
      [9, 'a'],
      [2, 'b'],
      [10, 'a'],
      // One character of two units sorts before one of a single, higher unit.
      [2, '\uFF5E'],
      [2, '😀'],
      [2, 'B'],
      [2, ''],
    ];
    const entries = places.map(([keyGroup, key]) => makeEntry({ keyGroup, key }));
    const read = decodeRunFile(runFileOf(entries), name).entries;
    expect(read.map(({ item }) => [item.keyGroup, item.key])).toEqual([
      [2, ''],
      [2, 'B'],
      [2, 'b'],
      [2, '😀'],
      [2, '\uFF5E'],
      [9, 'a'],
      [10, 'a'],
    ]);
    expect(entries.map(({ item }) => item.key)).toEqual(places.map(([, key]) => key));
  });

  it('refuse to write what is no run: nothing, a key twice, an item whose emissions are elsewhere', () => {
    const spill = { name: 'jobs/demo/emissions/1', bytes: 7, crc: 5, last: positionAt(9) };
    expect(() => runFileOf([])).toThrow('a run file of counts would have no entries');
    expect(() => runFileOf([makeEntry({}, 1), makeEntry({}, 2)])).toThrow(
      'a run file holds each key once, key "key" of key group 7 occurs twice',
    );
    expect(() => runFileOf([makeEntry({ spills: [spill] })])).toThrow(
      'key "key" names jobs/demo/emissions/1, but run files are self-contained',
    );
  });

  it('write the same entries to the same bytes in whatever order they come', () => {
    const entries = ['a', 'b', 'c'].map((key) => makeEntry({ key }));
    expect(runFileOf(entries.toReversed())).toEqual(runFileOf(entries));
  });
});

describe('a run file of more than one block', () => {
  const random = seededRandom('blocks');
  const entries = Array.from({ length: 60 }, (_, at): RunEntry => {
    const states = Uint8Array.from({ length: 16 * 1024 }, () => random() * 256);
    return makeEntry({ key: `key-${String(at).padStart(3, '0')}`, keyGroup: at, states });
  });
  const bytes = runFileOf(entries);

  it('is read block by block, from nothing but its start and the ranges of its blocks', () => {
    const start = bytes.slice(0, sortedHeadBytes(bytes.slice(0, 16)));
    const { header, blocks } = openSortedFile(start, name);
    expect(header.entries).toBe(60);
    expect(blocks.length).toBeGreaterThan(2);
    const read = blocks.flatMap((block) =>
      decodeRunBlock(bytes.slice(block.offset, block.offset + block.bytes), block, name),
    );
    expect(read).toEqual(entries);
    expect(blocks.map(({ firstGroup }) => firstGroup)).toEqual(
      blocks.map(({ entries: count }, at) =>
        blocks.slice(0, at).reduce((sum, before) => sum + before.entries, count - count),
      ),
    );
  });

  it('has one reader for the whole of it, too', () => {
    expect(decodeRunFile(bytes, name).entries).toEqual(entries);
  });

  it('refuses a block in the place of another one', () => {
    const { blocks } = openSortedFile(bytes, name);
    const [first, second] = blocks;
    const block = bytes.slice(first!.offset, first!.offset + first!.bytes);
    let thrown: unknown;
    try {
      decodeRunBlock(block, second!, name);
    } catch (error) {
      thrown = error;
    }
    expect(isHoldfastError(thrown, 'corrupt')).toBe(true);
    expect(String(thrown)).toContain(
      `run file ${name} is damaged: block at byte ${second!.offset} does not have the checksum`,
    );
  });
});

describe('a run file of very many small entries', () => {
  it('can be read: 50,000 tombstones', () => {
    const entries = Array.from({ length: 50_000 }, (_, at) =>
      makeEntry({ key: `k${at}`, keyGroup: 1, states: undefined }),
    );
    const { header, entries: read } = decodeRunFile(runFileOf(entries), name);
    expect(read).toHaveLength(50_000);
    expect(header.tombstones).toBe(50_000);
  });
});
