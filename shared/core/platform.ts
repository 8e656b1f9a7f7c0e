import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/*
 * The pure functions that core takes from the platform: the only file of core that may import `node:` modules.
 * Nothing here reads a clock, dice, files or the environment.
 */

/** MD5 of the UTF-8 bytes of `text`, 32 lower-case hex digits: the hash that Kinesis routes partition keys by. */
export function md5Hex(text: string): string {
  return createHash('md5').update(text, 'utf8').digest('hex');
}

/** MD5 of bytes, 16 bytes. */
export function md5Bytes(bytes: Uint8Array): Uint8Array {
  return createHash('md5').update(bytes).digest();
}

/** How hard to look for repetitions: `fast` where it is done once for each unit, `small` for what is kept. */
export type Compression = 'fast' | 'small';

const levels: Readonly<Record<Compression, number>> = { fast: 1, small: 3 };

/** More than zstd adds to bytes that it cannot compress, so that one buffer takes all of what comes out. */
const zstdOverheadBytes = 1024;

export function compressZstd(bytes: Uint8Array, compression: Compression): Uint8Array {
  const compressed = zstdCompressSync(bytes, {
    chunkSize: bytes.length + (bytes.length >>> 7) + zstdOverheadBytes,
    pledgedSrcSize: bytes.length,
    params: { [constants.ZSTD_c_compressionLevel]: levels[compression] },
  });
  // Its own memory, without what the buffer has left over.
  return new Uint8Array(compressed);
}

/** Inflates a zstd frame; `rawBytesMax` bounds what a damaged frame can make us allocate. */
export function decompressZstd(bytes: Uint8Array, rawBytesMax: number): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: rawBytesMax });
}
