import { md5Hex } from '../../core/platform.ts';
import type { Aggregator } from '../aggregator.ts';

/** What can be counted apart: 1 and "1" are two. */
export type Countable = string | number | bigint | boolean;

/*
 * HyperLogLog (Flajolet, Fusy, Gandouet, Meunier: "HyperLogLog: the analysis of a near-optimal cardinality estimation
 * algorithm", 2007) over 48 bits of MD5: 11 choose a register, which keeps the longest run of leading zeros among the other
 * 37. The estimator is that of Ertl ("New cardinality estimation algorithms for HyperLogLog sketches", 2017,
 * arXiv:1702.01284): it has no bias in between the small and the large, and needs no constants that were fitted.
 *
 * Why it is written here, and not taken from npm: docs/dependencies.md.
 */

const registers = 2048;
const runBits = 37;
const hashBytes = 6;

/** Hashes that take no more room than the registers. */
const hashesMax = Math.floor(registers / hashBytes);

/**
 * Counts different inputs, approximately: exactly up to 341 (but for chances like 1 in 10⁹), from there on with a standard
 * error of 1.04 ÷ √2048 = 2.3 %.
 *
 * Accumulators are at most 2 KiB. One is a function of the set of its inputs, in whatever order, how often and by whatever
 * merges they came: sorted hashes of 6 bytes each, or a byte for each register.
 */
export function distinct(): Aggregator<Countable, Uint8Array, number> {
  return {
    create: () => new Uint8Array(0),
    add: (accumulator, input) => addHash(accumulator, hashOf(input)),
    result: (accumulator) =>
      isDense(accumulator) ? estimate(accumulator) : accumulator.length / hashBytes,
    merge: (a, b) => {
      if (isDense(a) && isDense(b)) return maxima(a, b);
      const [into, from] = isDense(b) ? [b, a] : [a, b];
      let merged = into;
      for (let at = 0; at < from.length; at += hashBytes) {
        merged = addHash(merged, readHash(from, at));
      }
      return merged;
    },
  };
}

function hashOf(input: Countable): number {
  return Number.parseInt(md5Hex(`${typeof input} ${String(input)}`).slice(0, 2 * hashBytes), 16);
}

function isDense(accumulator: Uint8Array): boolean {
  return accumulator.length === registers;
}

function addHash(accumulator: Uint8Array, hash: number): Uint8Array {
  if (isDense(accumulator)) return raiseRegister(accumulator, hash);
  const at = findHash(accumulator, hash);
  if (at < accumulator.length && readHash(accumulator, at) === hash) return accumulator;
  if (accumulator.length === hashesMax * hashBytes) {
    return raiseRegister(toRegisters(accumulator), hash);
  }
  const longer = new Uint8Array(accumulator.length + hashBytes);
  longer.set(accumulator.subarray(0, at));
  writeHash(longer, at, hash);
  longer.set(accumulator.subarray(at), at + hashBytes);
  return longer;
}

/** Where the first hash lies that is not below this one. */
function findHash(hashes: Uint8Array, hash: number): number {
  let low = 0;
  let high = hashes.length / hashBytes;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (readHash(hashes, middle * hashBytes) < hash) low = middle + 1;
    else high = middle;
  }
  return low * hashBytes;
}

function readHash(hashes: Uint8Array, at: number): number {
  const view = new DataView(hashes.buffer, hashes.byteOffset + at, hashBytes);
  return view.getUint16(0) * 2 ** 32 + view.getUint32(2);
}

function writeHash(hashes: Uint8Array, at: number, hash: number): void {
  const view = new DataView(hashes.buffer, hashes.byteOffset + at, hashBytes);
  view.setUint16(0, Math.floor(hash / 2 ** 32));
  view.setUint32(2, hash % 2 ** 32);
}

function toRegisters(hashes: Uint8Array): Uint8Array {
  const dense = new Uint8Array(registers);
  for (let at = 0; at < hashes.length; at += hashBytes) raiseRegister(dense, readHash(hashes, at));
  return dense;
}

function raiseRegister(dense: Uint8Array, hash: number): Uint8Array {
  const register = Math.floor(hash / 2 ** runBits);
  const high = Math.floor(hash / 2 ** 32) % 2 ** (runBits - 32);
  // Leading zeros and the one behind them; all zeros count as if a one came next.
  const zeros = high > 0 ? Math.clz32(high) - (64 - runBits) : runBits - 32 + Math.clz32(hash);
  if (dense[register]! <= zeros) dense[register] = zeros + 1;
  return dense;
}

function maxima(a: Uint8Array, b: Uint8Array): Uint8Array {
  for (let at = 0; at < registers; at += 1) {
    if (a[at]! < b[at]!) a[at] = b[at]!;
  }
  return a;
}

/** Ertl's algorithm 6, without the correction for as many inputs as there are hashes, 2⁴⁸. */
function estimate(dense: Uint8Array): number {
  let empty = 0;
  let sum = 0;
  for (const run of dense) {
    if (run === 0) empty += 1;
    else sum += 2 ** -run;
  }
  const shrunk = sum + registers * sigma(empty / registers);
  return Math.round(registers ** 2 / (2 * Math.LN2 * shrunk));
}

/** x + Σ x^(2^k) × 2^(k−1), for x from 0 to less than 1. */
function sigma(x: number): number {
  let power = x;
  let weight = 1;
  let sum = x;
  for (let before = Number.NaN; sum !== before;) {
    before = sum;
    power *= power;
    sum += power * weight;
    weight *= 2;
  }
  return sum;
}
