import { describe, expect, it } from 'vitest';
import { isHoldfastError } from '../../../shared/core/errors.ts';
import {
  decodeBase,
  decodeManifest,
  encodeBase,
  encodeManifest,
} from '../../../shared/core/manifest-codec.ts';
import { makeBase, makeCut, makeFile, makeManifest, makeProgress } from './manifest-fixture.ts';

const name = 'jobs/demo/checkpoints/00000001/000000000007.json';
const demo = { job: 'demo' };

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const thrownBy = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('encodeManifest and decodeManifest', () => {
  it('give every part back, and what is absent as undefined', () => {
    const manifest = makeManifest();
    expect(decodeManifest(encodeManifest(manifest), name, demo)).toStrictEqual(manifest);
  });

  it('give a firing that has not begun back', () => {
    const cut = makeCut({ progress: makeProgress({ firing: 'none' }) });
    const read = decodeManifest(encodeManifest(makeManifest({ channels: [cut] })), name, demo);
    expect(read.channels[0]!.progress.firing).toBe('none');
  });

  it('give the manifest of a job that has done nothing yet back', () => {
    const manifest = makeManifest({ operators: [], channels: [], runs: [], tags: {} });
    expect(decodeManifest(encodeManifest(manifest), name, demo)).toStrictEqual(manifest);
  });

  it('write the same bytes in whatever order fields and tags were given', () => {
    const manifest = makeManifest();
    const backwards = Object.fromEntries(Object.entries(manifest).toReversed());
    const tags = { 'team:name': 'billing', git: 'ca15fc0' };
    const other = { ...backwards, tags } as unknown as typeof manifest;
    expect(textOf(encodeManifest(other))).toBe(textOf(encodeManifest(manifest)));
  });

  it('write JSON for people: one line for each channel and each file, nothing for what is absent', () => {
    const lines = textOf(encodeManifest(makeManifest())).split('\n');
    expect(lines.slice(0, 8)).toEqual([
      '{',
      '  "format": "holdfast-manifest",',
      '  "version": 1,',
      expect.stringMatching(/^ {2}"crc32c": "[0-9a-f]{8}",$/) as string,
      '  "body": {',
      '    "job": "demo",',
      '    "kind": "checkpoint",',
      '    "generation": 1,',
    ]);
    expect(lines).toContain('    "triggeredAt": "2025-01-01T00:00:00.000Z",');
    expect(lines.filter((line) => line.startsWith('      {"operator":"counts"'))).toHaveLength(2);
    expect(lines.filter((line) => line.startsWith('        {"name":"jobs/demo/'))).toHaveLength(2);
    expect(lines.find((line) => line.includes('"channels"'))).toBe('    "channels": [');
    expect(lines.find((line) => line.includes('"shard":'))).not.toMatch(/null|undefined|"fence"/);
  });
});

describe('encodeManifest', () => {
  it.each([
    [{ triggeredAtMs: Number.NaN }, 'triggeredAt: expected a time'],
    [{ readAtMs: 0.5 }, 'readAt: expected a time like 2025-01-31T12:00:00.000Z, got "0.5"'],
    [{ writtenAtMs: 9e15 }, 'writtenAt: expected a time'],
    [{ number: -1 }, 'number: '],
    [{ totalBytes: 1.5 }, 'totalBytes: '],
    [{ keysInRuns: Number.POSITIVE_INFINITY }, 'keysInRuns: '],
    [{ tags: { __proto__x: 'a' } }, 'tags.__proto__x: '],
    [{ tags: { '1': 'a' } }, 'tags.1: '],
    [{ kind: 'compaction' as 'checkpoint' }, 'kind: '],
    [{ runs: [{ files: [makeFile({ crc: 2 ** 32 })] }] }, 'runs.0.0.crc: '],
    [
      { channels: [makeCut({ progress: makeProgress({ position: { sequence: 'x', sub: 0 } }) })] },
      'channels.0.progress.position: cannot read position "x.0"',
    ],
  ])('refuses what nobody could read back: %o', (overrides, problem) => {
    const error = thrownBy(() => encodeManifest(makeManifest(overrides)));
    expect(isHoldfastError(error, 'invalid')).toBe(true);
    expect(String(error)).toContain(`cannot write a manifest: ${problem}`);
  });
});

describe('decodeManifest', () => {
  it('refuses a manifest of another job, with both jobs', () => {
    const error = thrownBy(() =>
      decodeManifest(encodeManifest(makeManifest({ job: 'other' })), name, demo),
    );
    expect(isHoldfastError(error, 'invalid')).toBe(true);
    expect(String(error)).toContain(`manifest ${name} is one of job other, expected demo`);
  });

  it('refuses a base', () => {
    const error = thrownBy(() => decodeManifest(encodeBase(makeBase()), name, demo));
    expect(isHoldfastError(error, 'corrupt')).toBe(true);
    expect(String(error)).toContain('its format is "holdfast-base", expected "holdfast-manifest"');
  });

  it('reads a manifest that was laid out anew: white space does not count', () => {
    const manifest = makeManifest();
    const text = JSON.stringify(JSON.parse(textOf(encodeManifest(manifest))), undefined, '\t');
    expect(decodeManifest(new TextEncoder().encode(text), name, demo)).toStrictEqual(manifest);
  });
});

describe('encodeBase and decodeBase', () => {
  it.each([makeBase(), makeBase({ runs: [], compacted: [] })])('give %o back', (base) => {
    expect(decodeBase(encodeBase(base), name, demo)).toStrictEqual(base);
  });

  it('refuse the base of another job, and one that nobody could read back', () => {
    expect(() => decodeBase(encodeBase(makeBase({ job: 'other' })), name, demo)).toThrow(
      `base ${name} is one of job other, expected demo; name one of job demo`,
    );
    const compacted = [{ channel: 'counts/events@5/shardId-0', number: -1 }];
    expect(() => encodeBase(makeBase({ compacted }))).toThrow(
      'cannot write a base: compacted.0.number: ',
    );
  });
});
