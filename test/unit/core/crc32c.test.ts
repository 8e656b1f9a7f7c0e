import { Crc32c } from '@aws-crypto/crc32c';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c } from '../../../shared/core/crc32c.ts';

const hex = (bytes: Uint8Array): string => crc32c(bytes).toString(16).padStart(8, '0');

describe('CRC-32C', () => {
  // RFC 3720, appendix B.4; the check value of the catalogue of parametrised CRC algorithms.
  it.each([
    ['nothing', new Uint8Array(), '00000000'],
    ['32 bytes of zeros', new Uint8Array(32), '8a9136aa'],
    ['32 bytes of ones', new Uint8Array(32).fill(0xff), '62a8ab43'],
    ['32 bytes from 0 up', Uint8Array.from({ length: 32 }, (_, at) => at), '46dd794e'],
    ['32 bytes from 31 down', Uint8Array.from({ length: 32 }, (_, at) => 31 - at), '113fdb5c'],
    ['the digits 1 to 9', new TextEncoder().encode('123456789'), 'e3069283'],
  ])('of %s is the published one', (_what, bytes, published) => {
    expect(hex(bytes)).toBe(published);
  });

  it('is that of another implementation for bytes of any length, wherever they lie in memory', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(8), (bytes, skipped) => {
        const other = new Crc32c().update(bytes.subarray(skipped)).digest();
        expect(crc32c(bytes.subarray(skipped))).toBe(other);
      }),
    );
  });
});
