import { describe, expect, it } from 'vitest';
import { isHoldfastError } from '../../../shared/core/errors.ts';
import { crc32c } from '../../../shared/core/crc32c.ts';
import { decodeSegment, encodeSegment } from '../../../shared/core/segment.ts';
import { makeItem, makeSegment } from './segment-fixture.ts';

const name = 'jobs/demo/segment.seg';
const items = Array.from({ length: 20 }, (_, at) => makeItem({ key: `key-${at}` }));
const bytes = encodeSegment(makeSegment(items));

const thrownBy = (damaged: Uint8Array): unknown => {
  try {
    decodeSegment(damaged, name);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('a damaged segment', () => {
  it('is whole before it is damaged', () => {
    expect(thrownBy(bytes)).toBeUndefined();
  });

  it.each([0x01, 0x80, 0xff])('is refused wherever a byte is changed by %i', (mask) => {
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = bytes.slice();
      damaged[at] = damaged[at]! ^ mask;
      expect(crc32c(damaged), `byte ${at}`).not.toBe(crc32c(bytes));
      expect(thrownBy(damaged), `byte ${at}`).toBeDefined();
    }
  });

  it('is refused wherever it ends too early', () => {
    for (let length = 0; length < bytes.length; length += 1) {
      const error = thrownBy(bytes.subarray(0, length));
      expect(isHoldfastError(error, 'corrupt'), `${length} bytes`).toBe(true);
    }
  });

  it('is refused where something follows it', () => {
    expect(String(thrownBy(new Uint8Array([...bytes, 0])))).toContain(
      `${bytes.length + 1} bytes, its index ends at ${bytes.length}`,
    );
  });

  it('is named in the error, with what to do', () => {
    expect(String(thrownBy(bytes.subarray(0, 10)))).toContain(
      'segment jobs/demo/segment.seg is damaged: it does not begin like a segment; restore from a checkpoint that does not list it',
    );
  });

  it('is refused as corrupt where two blocks of bytes change places', () => {
    const damaged = bytes.slice();
    damaged.set(bytes.subarray(bytes.length - 20, bytes.length - 10), bytes.length - 10);
    damaged.set(bytes.subarray(bytes.length - 10), bytes.length - 20);
    expect(isHoldfastError(thrownBy(damaged), 'corrupt')).toBe(true);
  });
});

describe('a segment of a newer format', () => {
  it('is refused with both versions, and not called damaged', () => {
    const newer = bytes.slice();
    newer[5] = 2;
    const error = thrownBy(newer);
    expect(isHoldfastError(error, 'invalid')).toBe(true);
    expect(String(error)).toContain(
      'has format version 2, this code reads 1; deploy code that reads it',
    );
  });
});
