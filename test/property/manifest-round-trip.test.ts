import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Base, ChannelCut, Manifest, SortedRun } from '../../shared/core/manifest.ts';
import {
  decodeBase,
  decodeManifest,
  encodeBase,
  encodeManifest,
} from '../../shared/core/manifest-codec.ts';
import {
  anyKey,
  anyPosition,
  anyProgress,
  anyReference,
  anyWallClock,
} from './arbitrary-progress.ts';

/** Any text, lone surrogates and control characters included. */
const text = fc.string({ unit: 'binary', maxLength: 40 });
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });

const channel: fc.Arbitrary<ChannelCut> = fc.record({
  channel: fc.record({
    operator: text,
    stream: fc.record({ name: text, createdAtMs: anyWallClock }),
    shardId: text,
  }),
  progress: anyProgress,
  ahead: fc.array(fc.record({ key: anyKey, position: anyPosition }), { maxLength: 3 }),
  segments: fc.array(anyReference, { maxLength: 5 }),
});

const run: fc.Arbitrary<SortedRun> = fc.record({
  files: fc.array(
    fc.record({
      name: text,
      operator: text,
      bytes: count,
      crc: fc.nat({ max: 2 ** 32 - 1 }),
      groups: fc.tuple(count, count),
      keys: count,
      tombstones: count,
    }),
    { maxLength: 3 },
  ),
});
const runs = fc.array(run, { maxLength: 3 });

const manifest: fc.Arbitrary<Manifest> = fc.record({
  job: text,
  kind: fc.constantFrom('checkpoint' as const, 'savepoint' as const, 'undo' as const),
  generation: count,
  number: count,
  label: text,
  note: text,
  maxParallelism: count,
  operators: fc.array(
    fc.record({
      id: text,
      states: fc.array(
        fc.record({
          name: text,
          kind: fc.constantFrom(...(['value', 'list', 'map', 'aggregating'] as const)),
          version: count,
        }),
        { maxLength: 3 },
      ),
      sinks: fc.array(
        fc.record({ name: text, kind: fc.constantFrom('append' as const, 'upsert' as const) }),
        { maxLength: 3 },
      ),
      timeRules: text,
    }),
    { maxLength: 2 },
  ),
  channels: fc.array(channel, { maxLength: 4 }),
  runs,
  isExact: fc.boolean(),
  tags: fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z0-9._:/-]{0,20}$/), text, {
    maxKeys: 4,
    noNullPrototype: true,
  }),
  triggeredAtMs: anyWallClock,
  readAtMs: anyWallClock,
  writtenAtMs: anyWallClock,
  newBytes: count,
  totalBytes: count,
  keysInRuns: count,
});

const base: fc.Arbitrary<Base> = fc.record({
  job: text,
  generation: count,
  runs,
  compacted: fc.array(fc.record({ channel: text, number: count }), { maxLength: 4 }),
});

/** With the prototype of plain objects, which fast-check leaves away now and then. */
const plain = <T>(any: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  any.map((value) => structuredClone(value));

describe('a manifest', () => {
  it('is read back exactly as it was written, and writes the same bytes again', () => {
    fc.assert(
      fc.property(plain(manifest), (written) => {
        const bytes = encodeManifest(written);
        const read = decodeManifest(bytes, 'property', written);
        expect(read).toStrictEqual(written);
        expect(encodeManifest(read)).toEqual(bytes);
      }),
      { numRuns: 300 },
    );
  });

  it('is refused with any of its bytes changed, white space excepted', () => {
    fc.assert(
      fc.property(manifest, fc.nat(), fc.integer({ min: 1, max: 255 }), (written, seed, mask) => {
        const damaged = encodeManifest(written);
        const at = seed % damaged.length;
        const isSpace = (byte: number): boolean => [0x09, 0x0a, 0x0d, 0x20].includes(byte);
        fc.pre(!isSpace(damaged[at]!) || !isSpace(damaged[at]! ^ mask));
        damaged[at] = damaged[at]! ^ mask;
        expect(() => decodeManifest(damaged, 'property', written)).toThrow(/manifest property/);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a base', () => {
  it('is read back exactly as it was written', () => {
    fc.assert(
      fc.property(plain(base), (written) => {
        expect(decodeBase(encodeBase(written), 'property', written)).toStrictEqual(written);
      }),
      { numRuns: 200 },
    );
  });
});
