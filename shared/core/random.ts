import { md5Hex } from './platform.ts';

/** A source of numbers in [0, 1). */
export type RandomSource = () => number;

/**
 * A generator that gives the same numbers for the same seed text, for ever: sfc32 (Chris Doty-Humphrey, PractRand)
 * over the four words of the seed's MD5, 53 bits a number.
 */
export function seededRandom(seed: string): RandomSource {
  const hash = md5Hex(seed);
  let a = Number.parseInt(hash.slice(0, 8), 16) | 0;
  let b = Number.parseInt(hash.slice(8, 16), 16) | 0;
  let c = Number.parseInt(hash.slice(16, 24), 16) | 0;
  let counter = Number.parseInt(hash.slice(24, 32), 16) | 0;

  const nextWord = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };

  return () => ((nextWord() >>> 5) * 67_108_864 + (nextWord() >>> 6)) / 9_007_199_254_740_992;
}
