import { hintPartitionOf, type Hint, type HintStore } from '../../ports/hint-store.ts';
import type { StateScope } from '../../ports/state-store.ts';

export interface MemoryHintStore extends HintStore {
  /** Copies of all hints, in no order. */
  hints(): Hint[];
  /** A store of its own that begins with everything that is in this one. */
  copy(): MemoryHintStore;
}

/** An index of timers in memory. */
export function createMemoryHintStore(): MemoryHintStore {
  return storeOver(new Map());
}

function storeOver(scopes: Map<string, Map<string, Hint>>): MemoryHintStore {
  const hintsOf = (scope: StateScope): Map<string, Hint> => {
    const name = `${scope.job}#${scope.generation}#${scope.operator}`;
    let hints = scopes.get(name);
    if (hints === undefined) scopes.set(name, (hints = new Map<string, Hint>()));
    return hints;
  };

  return {
    async insert(scope, hints) {
      for (const hint of hints) hintsOf(scope).set(nameOf(hint), { ...hint });
    },
    async findDue(scope, partition, domain, upTo, range) {
      const due: Hint[] = [];
      let nextTime: number | undefined;
      for (const hint of hintsOf(scope).values()) {
        const isInRange = range.from <= hint.keyHash && hint.keyHash <= range.to;
        const isHere = hint.domain === domain && hintPartitionOf(hint.keyHash) === partition;
        if (!isHere || !isInRange) continue;
        if (hint.time <= upTo) due.push({ ...hint });
        else nextTime = Math.min(nextTime ?? hint.time, hint.time);
      }
      return { due, nextTime };
    },
    async remove(scope, hints) {
      for (const hint of hints) hintsOf(scope).delete(nameOf(hint));
    },
    hints: () =>
      [...scopes.values()].flatMap((hints) => [...hints.values()].map((h) => ({ ...h }))),
    copy: () => storeOver(structuredClone(scopes)),
  };
}

function nameOf({ domain, time, key }: Hint): string {
  return JSON.stringify([domain, time, key]);
}
