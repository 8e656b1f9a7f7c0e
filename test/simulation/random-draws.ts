import type { RandomSource } from '../../shared/core/random.ts';

/**
 * The greatest number that a source gives: whatever goes wrong by chance does not, and of several choices it is the last one.
 * A run that draws nothing else is calm.
 */
export const calm = 1 - 2 ** -53;

export interface RecordedSource {
  readonly random: RandomSource;
  /** What has been drawn so far, in order. */
  readonly draws: readonly number[];
}

export function recordDraws(random: RandomSource): RecordedSource {
  const draws: number[] = [];
  return {
    draws,
    random() {
      const value = random();
      draws.push(value);
      return value;
    },
  };
}

/** Gives these numbers again, and calm ones past their end. */
export function replayDraws(draws: readonly number[]): RandomSource {
  let at = 0;
  return () => draws[at++] ?? calm;
}
