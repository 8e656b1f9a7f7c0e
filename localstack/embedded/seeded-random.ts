const MASK_64 = (1n << 64n) - 1n;

/** Dice that fall the same way for the same seed. Not for secrets. */
export interface SeededRandom {
  /** A number in [0, 1). */
  next(): number;
  /** An integer in [0, bound). `bound` is at least 1. */
  integerBelow(bound: number): number;
  /** True with this probability (0 never, 1 always). */
  chance(probability: number): boolean;
  /** One element of a non-empty list. */
  pick<Item>(items: readonly Item[]): Item;
  /**
   * Dice of their own for one consumer. They depend on the seed and the label only, so that the order in which
   * concurrent consumers throw does not change what each of them sees.
   */
  fork(label: string): SeededRandom;
}

/** SplitMix64 (Steele, Lea, Flood 2014): one addition and two multiplications per number, no state but a counter. */
export function seededRandom(seed: number): SeededRandom {
  return fromState(BigInt.asUintN(64, BigInt(Math.trunc(seed))));
}

function fromState(initial: bigint): SeededRandom {
  let state = initial;
  const nextWord = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK_64;
    return mix(state);
  };
  const next = (): number => Number(nextWord() >> 11n) / 2 ** 53;
  const integerBelow = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    integerBelow,
    chance: (probability) => next() < probability,
    pick<Item>(items: readonly Item[]): Item {
      if (items.length === 0)
        throw new Error('pick: the list is empty, expected at least one item');
      return items[integerBelow(items.length)] as Item;
    },
    fork: (label) => fromState(mix(initial ^ hashText(label))),
  };
}

function mix(word: bigint): bigint {
  let mixed = word;
  mixed = ((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK_64;
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK_64;
  return mixed ^ (mixed >> 31n);
}

/** FNV-1a over UTF-16 code units. */
function hashText(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n) & MASK_64;
  }
  return hash;
}
