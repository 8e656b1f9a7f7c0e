import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinCrc32c } from '../../../shared/core/crc-join.ts';
import { crc32c } from '../../../shared/core/crc32c.ts';

describe('joined checksums', () => {
  it('are those of the bytes one behind the other', () => {
    const bytes = fc.uint8Array({ maxLength: 3000 });
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const both = crc32c(new Uint8Array([...a, ...b]));
        expect(joinCrc32c(crc32c(a), crc32c(b), b.length)).toBe(both);
      }),
      { numRuns: 500 },
    );
  });

  it('reach over many bytes', () => {
    const zeros = new Uint8Array(5_000_001);
    const ones = new Uint8Array(2_000_003).fill(1);
    const both = crc32c(Buffer.concat([zeros, ones]));
    expect(joinCrc32c(crc32c(zeros), crc32c(ones), ones.length)).toBe(both);
  });
});
