import { pack } from '../../../shared/core/pack.ts';
import { crc32c } from '../../../shared/core/crc32c.ts';
import { compressZstd } from '../../../shared/core/platform.ts';
import { formatPosition } from '../../../shared/core/position.ts';
import { positionAt } from './segment-fixture.ts';

/** Says of a block in the index what the block does not say of itself. */
export interface ForgedBlock {
  readonly rows: readonly unknown[];
  readonly groups: readonly [number, number];
  readonly entries?: number;
  readonly rawBytes?: number;
  readonly bytes?: number;
  readonly offset?: number;
}

/** Writes a sorted file by hand, with all of its checksums right, whatever else is wrong with it. */
export function forgeSortedFile(
  magic: string,
  header: Readonly<Record<string, unknown>>,
  blocks: readonly ForgedBlock[],
): Uint8Array {
  let offset = 0;
  const parts = blocks.map((block) => {
    const raw = pack(block.rows);
    const bytes = compressZstd(raw, 'small');
    const entry = [
      ...block.groups,
      block.offset ?? offset,
      block.bytes ?? bytes.length,
      block.rawBytes ?? raw.length,
      crc32c(bytes),
      block.entries ?? block.rows.length,
    ];
    offset += bytes.length;
    return { bytes, entry };
  });
  const packed = pack({ ...header, index: parts.map(({ entry }) => entry) });
  return forgeFrame(magic, packed, new Uint8Array(Buffer.concat(parts.map(({ bytes }) => bytes))));
}

/** Writes the frame of a sorted file around any header. */
export function forgeFrame(magic: string, header: Uint8Array, blocks: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(16 + header.length + blocks.length);
  bytes.write(magic, 'latin1');
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt32BE(header.length, 8);
  bytes.writeUInt32BE(crc32c(header), 12);
  bytes.set(header, 16);
  bytes.set(blocks, 16 + header.length);
  return new Uint8Array(bytes);
}

/** The row of a tombstone in a run file. */
export function forgeRow(keyGroup: number, key: string): unknown[] {
  return [keyGroup, key, 2, 3, formatPosition(positionAt(5)), 0, null, null, []];
}
