import { describe, expect, it } from 'vitest';
import { isHoldfastError } from '../../../shared/core/errors.ts';
import {
  decodeBase,
  decodeManifest,
  encodeBase,
  encodeManifest,
} from '../../../shared/core/manifest-codec.ts';
import { crc32c } from '../../../shared/core/crc32c.ts';
import { fullProgress, makeBase, makeCut, makeManifest } from './manifest-fixture.ts';

const name = 'jobs/demo/checkpoints/00000001/000000000007.json';
const demo = { job: 'demo' };
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

type Fields = Record<string, unknown>;

const documents = [
  {
    what: 'manifest',
    bytes: encodeManifest(
      makeManifest({ operators: [], channels: [makeCut({ progress: fullProgress })], runs: [] }),
    ),
    read: (bytes: Uint8Array) => decodeManifest(bytes, name, demo),
    remedy: 'restore from another one',
  },
  {
    what: 'base',
    bytes: encodeBase(makeBase()),
    read: (bytes: Uint8Array) => decodeBase(bytes, name, demo),
    remedy: 'restore from a checkpoint, which names its files itself',
  },
];

describe.each(documents)('a damaged $what', ({ what, bytes, read, remedy }) => {
  const thrownBy = (damaged: Uint8Array): unknown => {
    try {
      read(damaged);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  /** The document with other fields in it, its checksum made right again. */
  const change = (fields: Fields, bodyFields: Fields = {}): Uint8Array => {
    const file = JSON.parse(new TextDecoder().decode(bytes)) as { readonly body: Fields };
    const body = { ...file.body, ...bodyFields };
    const checksum = crc32c(encode(JSON.stringify(body)))
      .toString(16)
      .padStart(8, '0');
    return encode(JSON.stringify({ ...file, crc32c: checksum, body, ...fields }));
  };

  it('is whole before it is damaged', () => {
    expect(thrownBy(bytes)).toBeUndefined();
    expect(thrownBy(change({}))).toBeUndefined();
  });

  it('is refused wherever a bit is flipped, as corrupt or as newer, and named', () => {
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const damaged = bytes.slice();
      const at = bit >> 3;
      damaged[at] = damaged[at]! ^ (1 << (bit & 7));
      const error = thrownBy(damaged);
      expect(isHoldfastError(error), `bit ${bit}`).toBe(true);
      expect(String(error)).toContain(`${what} ${name}`);
      if (!String(error).includes('has format version')) {
        expect(isHoldfastError(error, 'corrupt'), `bit ${bit}`).toBe(true);
      }
    }
  });

  it('is refused as corrupt wherever it ends too early, and where something follows it', () => {
    for (let length = 0; length < bytes.length; length += 1) {
      const error = thrownBy(bytes.subarray(0, length));
      expect(isHoldfastError(error, 'corrupt'), `${length} bytes`).toBe(true);
    }
    expect(isHoldfastError(thrownBy(new Uint8Array([...bytes, 0])), 'corrupt')).toBe(true);
  });

  it('is refused with what to do', () => {
    expect(String(thrownBy(bytes.subarray(0, bytes.length - 1)))).toMatch(
      new RegExp(`${what} ${name} is damaged: it is no JSON \\(.*\\); ${remedy}$`),
    );
  });

  it('is refused with both versions where it is newer, whatever else it has', () => {
    const error = thrownBy(encode(`{"format": "holdfast-${what}", "version": 2, "new": true}`));
    expect(isHoldfastError(error, 'invalid')).toBe(true);
    expect(String(error)).toContain(
      `${what} ${name} has format version 2, this code reads up to 1; deploy code that reads it`,
    );
  });

  it.each([
    ['a field that this version does not have', { more: 1 }, {}, 'it has the fields'],
    ['no version', { version: undefined }, {}, 'its version is undefined'],
    ['a version that is no number', { version: '2' }, {}, 'its version is "2"'],
    ['version 0', { version: 0 }, {}, 'its version is 0'],
    ['no format', { format: undefined }, {}, 'its format is undefined'],
    ['no body', { body: undefined }, {}, 'it has the fields'],
    ['another checksum', { crc32c: '00000000' }, {}, 'does not have its checksum'],
    ['a checksum that is a number', { crc32c: 0 }, {}, 'does not have its checksum'],
    ['a body with one more field', {}, { more: 1 }, 'its body: Unrecognized key: "more"'],
    ['a body without a field', {}, { generation: undefined }, 'generation: '],
    ['a body with a text for a number', {}, { generation: '1' }, 'generation: '],
  ])('is refused where it has %s', (_what, fields, bodyFields, problem) => {
    const error = thrownBy(change(fields, bodyFields));
    expect(isHoldfastError(error, 'corrupt')).toBe(true);
    expect(String(error)).toContain(problem);
  });

  it('is refused where bytes that are no UTF-8 would read like the character that stands for them', () => {
    const job = 'demo\uFFFD';
    const whole =
      what === 'base' ? encodeBase(makeBase({ job })) : encodeManifest(makeManifest({ job }));
    const at = Buffer.from(whole).indexOf('\uFFFD');
    const damaged = new Uint8Array([...whole.subarray(0, at), 0xff, ...whole.subarray(at + 3)]);
    expect(String(thrownBy(whole))).toContain('is one of job');
    expect(String(thrownBy(damaged))).toContain('it is no JSON');
  });

  it.each(['null', '5', '"text"', '[]'])('is refused where it is %s', (text) => {
    expect(isHoldfastError(thrownBy(encode(text)), 'corrupt')).toBe(true);
  });
});
