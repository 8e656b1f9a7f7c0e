import { Packr } from 'msgpackr';

/*
 * MessagePack as every stored format of Holdfast uses it (https://msgpack.org): plain maps instead of msgpackr's own
 * records, so that any MessagePack reader understands the bytes; byte strings are copied out of the input.
 */
const packr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true });

/** Values that survive a round trip: null, booleans, numbers, strings, bigints of 64 bits, dates, bytes, arrays and plain objects of them. */
export function pack(value: unknown): Uint8Array {
  return packr.pack(value);
}

export function unpack(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}
