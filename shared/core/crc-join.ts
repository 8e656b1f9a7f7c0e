/*
 * The CRC-32C of bytes that lie behind others, from the checksums of both. A CRC is linear over GF(2): that of `a ‖ b` is the
 * one of `a` moved on by as many zero bytes as `b` has, exclusive-or the one of `b`. So a file whose parts have checksums is
 * told apart without reading it. (The method of zlib's crc32_combine.)
 */

/** Castagnoli's polynomial, bits reversed. */
const polynomial = 0x82f63b78;

/** 32 columns: what becomes of each bit of a checksum. */
type Operator = readonly number[];

const oneBit: Operator = [polynomial, ...Array.from({ length: 31 }, (_, bit) => (1 << bit) >>> 0)];

/** Moves a checksum on by 2^n zero bytes, for each n. */
const zeroBytes: Operator[] = [square(square(square(oneBit)))];

/**
 * The checksum of `a ‖ b`.
 *
 * @param bytes how many bytes `b` has
 */
export function joinCrc32c(a: number, b: number, bytes: number): number {
  let moved = a;
  for (let rest = bytes, power = 0; rest > 0; rest = Math.floor(rest / 2), power += 1) {
    zeroBytes[power] ??= square(zeroBytes[power - 1]!);
    if (rest % 2 === 1) moved = apply(zeroBytes[power]!, moved);
  }
  return (moved ^ b) >>> 0;
}

function apply(operator: Operator, crc: number): number {
  let result = 0;
  for (let bit = 0; bit < 32; bit += 1) {
    if (((crc >>> bit) & 1) === 1) result ^= operator[bit]!;
  }
  return result >>> 0;
}

function square(operator: Operator): Operator {
  return operator.map((column) => apply(operator, column));
}
