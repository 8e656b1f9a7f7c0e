import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

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

export function compressZstd(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes);
}

/** Inflates a zstd frame; `rawBytesMax` bounds what a damaged frame can make us allocate. */
export function decompressZstd(bytes: Uint8Array, rawBytesMax: number): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: rawBytesMax });
}
