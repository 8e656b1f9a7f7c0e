import { describe, expect, it } from 'vitest';
import { isHoldfastError } from '../../../shared/core/errors.ts';
import { decodeRunFile } from '../../../shared/core/run-file.ts';
import { encodeSegment } from '../../../shared/core/segment.ts';
import { makeEntry, runFileOf } from './run-file-fixture.ts';
import { makeItem, makeSegment } from './segment-fixture.ts';

const name = 'jobs/demo/compactions/000000000001/000000.run';
const bytes = runFileOf(Array.from({ length: 20 }, (_, at) => makeEntry({ key: `key-${at}` })));

const thrownBy = (damaged: Uint8Array): unknown => {
  try {
    decodeRunFile(damaged, name);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('a damaged run file', () => {
  it('is whole before it is damaged', () => {
    expect(thrownBy(bytes)).toBeUndefined();
  });

  it('is refused wherever a bit is flipped, as corrupt or as of another version, and named', () => {
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const damaged = bytes.slice();
      const at = bit >> 3;
      damaged[at] = damaged[at]! ^ (1 << (bit & 7));
      const error = thrownBy(damaged);
      const isVersion = at === 4 || at === 5;
      expect(isHoldfastError(error, isVersion ? 'invalid' : 'corrupt'), `bit ${bit}`).toBe(true);
      expect(String(error)).toContain(`run file ${name}`);
    }
  });

  it('is refused wherever it ends too early, and where something follows it', () => {
    for (let length = 0; length < bytes.length; length += 1) {
      const error = thrownBy(bytes.subarray(0, length));
      expect(isHoldfastError(error, 'corrupt'), `${length} bytes`).toBe(true);
    }
    expect(String(thrownBy(new Uint8Array([...bytes, 0])))).toContain('its index ends at');
  });

  it('is refused with what to do', () => {
    expect(String(thrownBy(bytes.subarray(0, 10)))).toContain(
      `run file ${name} is damaged: it does not begin like a run file; restore from a checkpoint that does not list it`,
    );
  });

  it('is refused where it is a segment', () => {
    expect(String(thrownBy(encodeSegment(makeSegment([makeItem()]))))).toContain(
      'it does not begin like a run file',
    );
  });

  it('is refused with both versions where it is newer, and not called damaged', () => {
    const newer = bytes.slice();
    newer[5] = 2;
    expect(String(thrownBy(newer))).toContain(
      `run file ${name} has format version 2, this code reads 1; deploy code that reads it`,
    );
  });
});
