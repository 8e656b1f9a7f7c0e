import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, pick } from '../engine/gate.ts';
import type { Entry, Message } from '../engine/ledger.ts';
import type { ProcessFaults } from '../engine/processes.ts';

/** What happens to the stream and the job from outside, in this order. */
export type Act =
  | { readonly kind: 'put'; readonly account: string; readonly message: Message }
  | { readonly kind: 'split' | 'merge' | 'checkpoint' | 'savepoint' | 'restore' };

/** What a run draws for itself from its seed. */
export interface RestorePlan extends ProcessFaults {
  readonly shards: number;
  readonly hasOtherLogic: boolean;
  readonly environments: number;
  readonly acts: readonly Act[];
  readonly actProbability: number;
  readonly faultProbability: number;
  readonly overlapProbability: number;
  readonly jumpProbability: number;
  readonly abortProbability: number;
}

/** The clock of the model's stream. */
const firstArrivalMs = Date.UTC(2025, 0, 1);
const reshardsMax = 3;

export function drawRestorePlan(random: RandomSource): RestorePlan {
  const sometimes = (probability: number, value: number): number =>
    chance(random, probability) ? value : 0;
  const hasOtherLogic = chance(random, 0.3);
  return {
    hasOtherLogic,
    shards: 1 + pick(random, 2),
    environments: 2 + pick(random, 2),
    acts: drawActs(random, hasOtherLogic),
    actProbability: [0.01, 0.03, 0.1][pick(random, 3)]!,
    faultProbability: sometimes(0.4, 0.01),
    overlapProbability: sometimes(0.5, 0.01),
    jumpProbability: sometimes(0.3, 0.01),
    abortProbability: sometimes(0.3, 0.005),
    killProbability: sometimes(0.6, 0.008),
    killsMax: 6,
    sleepProbability: sometimes(0.7, 0.01),
    sleepStepsMax: [100, 1000, 5000][pick(random, 3)]!,
  };
}

function drawActs(random: RandomSource, hasOtherLogic: boolean): Act[] {
  const keys = 1 + pick(random, 4);
  const timers = chance(random, 0.5);
  const restores = 1 + pick(random, 4);
  const reshards = chance(random, 0.5) ? 1 + pick(random, reshardsMax) : 0;
  let id = 0;
  const puts = (bound: number): Act[] =>
    Array.from({ length: pick(random, bound) }, (): Act => {
      id += 1;
      const account = `k${pick(random, keys)}`;
      const entry = drawEntry(account, id, timers, random);
      const isKept = hasOtherLogic && entry !== 'garbage';
      return { kind: 'put', account, message: isKept ? { ...entry, kind: 'add' } : entry };
    });
  const cut = (): Act => ({ kind: chance(random, 0.3) ? 'savepoint' : 'checkpoint' });
  const acts: Act[] = [...puts(6), cut()];
  for (let at = 0; at < restores; at += 1) {
    acts.push(...puts(5));
    if (chance(random, 0.3)) acts.push(cut());
    acts.push({ kind: 'restore' }, ...puts(3));
  }
  acts.push(...puts(4));
  for (let at = 0; at < reshards; at += 1) {
    const kind = chance(random, 0.7) ? 'split' : 'merge';
    acts.splice(pick(random, acts.length + 1), 0, { kind });
  }
  return acts;
}

function drawEntry(
  account: string,
  id: number,
  timers: boolean,
  random: RandomSource,
): Entry | 'garbage' {
  if (chance(random, 0.05)) return 'garbage';
  const at = 100 + id * 3 - pick(random, 8);
  const entry: Entry = { account, id, kind: chance(random, 0.25) ? 'delete' : 'add', at };
  if (!timers || chance(random, 0.6)) return entry;
  const isArrival = chance(random, 0.3);
  const time = isArrival ? firstArrivalMs + id + pick(random, 6) : at - 6 + pick(random, 20);
  const name = (['one', 'two', 'again'] as const)[pick(random, 3)]!;
  return { ...entry, timer: { name, time, domain: isArrival ? 'arrival' : 'event' } };
}
