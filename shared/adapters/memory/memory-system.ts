import { seededRandom } from '../../core/random.ts';
import type { System } from '../../ports/system.ts';

export interface MemorySystem extends System {
  /** Moves the clock ahead. */
  advance(ms: number): void;
}

export interface MemorySystemOptions {
  /** ms since the epoch. @default 2025-01-01T00:00:00Z */
  readonly startMs?: number;
  /** The same seed gives the same ids. @default 'memory' */
  readonly seed?: string;
}

/** A virtual clock, which moves only when it is told to or somebody sleeps, and seeded dice. */
export function createMemorySystem(options: MemorySystemOptions = {}): MemorySystem {
  let nowMs = options.startMs ?? Date.UTC(2025, 0, 1);
  const random = seededRandom(options.seed ?? 'memory');
  const randomWord = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');

  return {
    now: () => nowMs,
    randomId: () => randomWord() + randomWord() + randomWord() + randomWord(),
    randomVersion: () => Math.floor(random() * 2 ** 40),
    async sleep(ms) {
      nowMs += ms;
    },
    advance(ms) {
      nowMs += ms;
    },
  };
}
