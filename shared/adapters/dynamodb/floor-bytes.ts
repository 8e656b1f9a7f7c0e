import { pack, unpack } from '../../core/pack.ts';
import type { WatermarkFloor } from '../../core/watermark.ts';

/*
 * Floors as progress keeps them: MessagePack, one row for each. They are written with every unit of a channel, so they are
 * short: the ends of a range are bytes, without the zeros that end its first hash and the ones that end its last.
 */

type PackedFloor = [from: Uint8Array, to: Uint8Array, event: number | null, arrival: number | null];

const hashDigits = 32;

export function packFloors(floors: readonly WatermarkFloor[]): Uint8Array {
  return pack(
    floors.map(({ range: { from, to }, watermarks: { event, arrival } }): PackedFloor => [
      Buffer.from(from.replace(/(?:00)+$/, ''), 'hex'),
      Buffer.from(to.replace(/(?:ff)+$/, ''), 'hex'),
      event ?? null,
      arrival ?? null,
    ]),
  );
}

export function unpackFloors(bytes: Uint8Array): WatermarkFloor[] {
  return (unpack(bytes) as PackedFloor[]).map(([from, to, event, arrival]) => ({
    range: {
      from: Buffer.from(from).toString('hex').padEnd(hashDigits, '0'),
      to: Buffer.from(to).toString('hex').padEnd(hashDigits, 'f'),
    },
    watermarks: { event: event ?? undefined, arrival: arrival ?? undefined },
  }));
}
