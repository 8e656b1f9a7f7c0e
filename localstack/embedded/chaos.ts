import type { SeededRandom } from './seeded-random.ts';

/** How often a fault strikes: a probability for each occasion, or that with a maximum number of strikes. */
export type ChaosRate = number | { readonly probability: number; readonly atMost: number };

/** Faults that AWS allows itself and that a correct consumer survives. All are off unless set. */
export interface ChaosSettings {
  /** SIGKILL at some moment of an invocation. */
  readonly killDuringInvocation?: ChaosRate;
  /** A batch that succeeded is delivered once more. */
  readonly duplicateAfterSuccess?: ChaosRate;
  /** A retried batch gets another length. */
  readonly recutOnRetry?: ChaosRate;
  /** The mapping gives up on an invocation and delivers the batch again while the first one still runs. */
  readonly zombie?: ChaosRate;
  /**
   * Child shards start before their parents are exhausted. AWS promises neither order, so without this setting half of
   * the children do.
   */
  readonly childFirst?: ChaosRate;
  /** The mapping starts again from its last persisted positions. */
  readonly restartMapping?: ChaosRate;
  /** A new environment takes up to half a second longer to start. */
  readonly slowStart?: ChaosRate;
}

export type ChaosKind = keyof ChaosSettings;

/** Decides whether a fault strikes, and counts the strikes. */
export interface Chaos {
  strikes(kind: ChaosKind, random: SeededRandom): boolean;
  /** The strike came to nothing: it does not count and may come again. */
  takeBack(kind: ChaosKind): void;
  /** From now on other rates; counts go on. */
  change(settings: ChaosSettings): void;
  counts(): Readonly<Record<ChaosKind, number>>;
}

const defaults: ChaosSettings = { childFirst: 0.5 };

export function createChaos(initial: ChaosSettings = {}): Chaos {
  let settings: ChaosSettings = { ...defaults, ...initial };
  const counts: Record<ChaosKind, number> = {
    killDuringInvocation: 0,
    duplicateAfterSuccess: 0,
    recutOnRetry: 0,
    zombie: 0,
    childFirst: 0,
    restartMapping: 0,
    slowStart: 0,
  };
  return {
    strikes(kind, random) {
      const rate = settings[kind] ?? 0;
      const { probability, atMost } =
        typeof rate === 'number' ? { probability: rate, atMost: Infinity } : rate;
      const struck = random.chance(probability) && counts[kind] < atMost;
      if (struck) counts[kind] += 1;
      return struck;
    },
    takeBack(kind) {
      counts[kind] -= 1;
    },
    change(changed) {
      settings = { ...defaults, ...changed };
    },
    counts: () => ({ ...counts }),
  };
}
