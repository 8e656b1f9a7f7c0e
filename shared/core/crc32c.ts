/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4): the checksum of everything that is stored in S3. Every unit takes it of all that
 * it writes, so that it is worth its eight tables: a byte costs one look into them and eight go at a time ("slicing-by-8").
 */

/** Castagnoli's polynomial, bits reversed. */
const polynomial = 0x82f63b78;

const slices = 8;

/** For each slice 256 words: what becomes of a checksum by one byte and, in slice n, by n zero bytes behind it. */
const table = makeTable();

function makeTable(): Int32Array {
  const words = new Int32Array(slices * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) === 0 ? 0 : polynomial);
    words[byte] = crc;
  }
  for (let at = 256; at < words.length; at += 1) {
    const before = words[at - 256]!;
    words[at] = (before >>> 8) ^ words[before & 0xff]!;
  }
  return words;
}

/** CRC-32C of bytes as an unsigned 32-bit integer. */
export function crc32c(bytes: Uint8Array): number {
  let crc = -1;
  let at = 0;
  for (const end = bytes.length - (slices - 1); at < end; at += slices) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      table[0x700 | (crc & 0xff)]! ^
      table[0x600 | ((crc >>> 8) & 0xff)]! ^
      table[0x500 | ((crc >>> 16) & 0xff)]! ^
      table[0x400 | (crc >>> 24)]! ^
      table[0x300 | bytes[at + 4]!]! ^
      table[0x200 | bytes[at + 5]!]! ^
      table[0x100 | bytes[at + 6]!]! ^
      table[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}
