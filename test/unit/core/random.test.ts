import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../shared/core/random.ts';

const take = (seed: string, count: number): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, random);
};

describe('seededRandom', () => {
  // These numbers are a contract: operators have drawn them, and a replay has to draw the same.
  it.each([
    ['', [0.31284340243289455, 0.7476208904237565, 0.3101855256045982]],
    ['holdfast', [0.6569364804666442, 0.31506741413607786, 0.21772660294021007]],
    ['key\u00004959.0\u0000r', [0.6814644589689031, 0.02997940633052365, 0.015488319861021838]],
  ])('gives the numbers for seed %j that it has always given', (seed, numbers) => {
    expect(take(seed, numbers.length)).toEqual(numbers);
  });

  it('gives every seed a sequence of its own', () => {
    const firsts = Array.from({ length: 1000 }, (_, at) => take(`seed ${at}`, 1)[0]);
    expect(new Set(firsts).size).toBe(1000);
  });

  it('gives one generator no part in the sequence of another', () => {
    const first = seededRandom('a');
    const second = seededRandom('a');
    first();
    first();
    expect(second()).toBe(take('a', 1)[0]);
  });

  it('stays at or above 0 and below 1', () => {
    const numbers = take('range', 100_000);
    expect(Math.min(...numbers.slice(0, 50_000))).toBeGreaterThanOrEqual(0);
    expect(numbers.every((n) => n >= 0 && n < 1)).toBe(true);
  });

  it('spreads evenly: chi-squared over 100 cells is far from the tails', () => {
    const cells = new Array<number>(100).fill(0);
    for (const number of take('cells', 100_000)) {
      const cell = Math.floor(number * 100);
      cells[cell] = cells[cell]! + 1;
    }
    const chiSquared = cells.reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0);
    // 99 degrees of freedom: one in ten thousand lies outside of this.
    expect(chiSquared).toBeGreaterThan(52);
    expect(chiSquared).toBeLessThan(160);
  });

  it('spreads the first numbers of similar seeds evenly, too', () => {
    const firsts = Array.from(
      { length: 10_000 },
      (_, at) => take(`key\u0000${at}.0\u0000r`, 1)[0]!,
    );
    const mean = firsts.reduce((sum, n) => sum + n, 0) / firsts.length;
    expect(mean).toBeGreaterThan(0.48);
    expect(mean).toBeLessThan(0.52);
  });

  it('uses all 53 bits of a number', () => {
    const lowestBits = take('bits', 1000).map((n) => (n * 2 ** 53) % 2);
    const ones = lowestBits.reduce((sum, bit) => sum + bit, 0);
    expect(ones).toBeGreaterThan(400);
    expect(ones).toBeLessThan(600);
  });
});
