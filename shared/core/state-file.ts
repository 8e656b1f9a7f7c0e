import { joinCrc32c } from './crc-join.ts';
import type { StateFile } from './manifest.ts';
import { crc32c } from './crc32c.ts';
import { openSortedFile, type RunFileHeader } from './run-file.ts';
import { sortedHeadBytes } from './sorted-blocks.ts';

/** A run file, as its header alone tells of it. */
export interface DescribedFile {
  readonly header: RunFileHeader;
  readonly file: StateFile;
}

/**
 * What a manifest says of a run file. The checksum of the whole is made of the header's and those of its blocks.
 *
 * @param start may end anywhere after the header
 */
export function describeRunFile(start: Uint8Array, name: string): DescribedFile {
  const { header, blocks } = openSortedFile(start, name);
  const headBytes = sortedHeadBytes(start);
  let bytes = headBytes;
  let crc = crc32c(start.subarray(0, headBytes));
  for (const block of blocks) {
    bytes += block.bytes;
    crc = joinCrc32c(crc, block.crc, block.bytes);
  }
  const { operator, groups, keys, tombstones } = header;
  return { header, file: { name, operator, bytes, crc, groups, keys, tombstones } };
}
