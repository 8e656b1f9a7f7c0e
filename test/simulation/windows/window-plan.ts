import type { RandomSource } from '../../../shared/core/random.ts';
import { everyEvents, everyMs } from '../../../shared/operator/windows/early-trigger.ts';
import {
  session,
  sliding,
  tumbling,
  type WindowAssigner,
} from '../../../shared/operator/windows/window-assigner.ts';
import { endOfStreamMs } from '../../../shared/operator/windows/windowing.ts';
import type { summingOperator } from '../../unit/operator/windows/summing-operator.ts';
import { chance, pick } from '../engine/gate.ts';

export const windowKinds = ['tumbling', 'sliding', 'session'] as const;
export type WindowKind = WindowAssigner['kind'];

/** What a producer does, one after the other. */
export type Step =
  | { readonly kind: 'event'; readonly key: string; readonly event: SummedEvent }
  | { readonly kind: 'poison'; readonly key: string; readonly text: string }
  /** Into every open shard. */
  | { readonly kind: 'heartbeat'; readonly at: number }
  | { readonly kind: 'reshard'; readonly seed: string };

export interface SummedEvent {
  readonly key: string;
  readonly ts: number;
  readonly value: number;
  readonly isLast?: true;
}

export interface WindowPlan {
  readonly options: Parameters<typeof summingOperator>[0];
  readonly shards: number;
  readonly steps: readonly Step[];
  /** No event comes later than the out-of-orderness allows, whatever shard it is in. */
  readonly isOnTime: boolean;
  /** The steps end with a heartbeat that flushes all windows. */
  readonly isFlushed: boolean;
}

const outOfOrdernessMs = 20;

export function drawWindowPlan(kind: WindowKind, random: RandomSource): WindowPlan {
  const window = drawWindow(kind, random);
  const isOnTime = chance(random, 0.6);
  const isFlushed = chance(random, 0.8);
  const early = drawEarly(window, random);
  return {
    options: {
      window,
      outOfOrdernessMs,
      allowedLatenessMs: [0, 1, 15][pick(random, 3)]!,
      ...(early === undefined ? {} : { early }),
    },
    shards: 1 + pick(random, 3),
    steps: drawSteps(random, { isOnTime, isFlushed }),
    isOnTime,
    isFlushed,
  };
}

function drawWindow(kind: WindowKind, random: RandomSource): WindowAssigner {
  const sizeMs = 8 + pick(random, 40);
  switch (kind) {
    case 'tumbling':
      return tumbling(sizeMs, pick(random, sizeMs));
    case 'sliding':
      return sliding(sizeMs, 4 + pick(random, sizeMs - 4));
    case 'session':
      return session(1 + pick(random, 30));
  }
}

function drawEarly(window: WindowAssigner, random: RandomSource) {
  if (chance(random, 0.5)) return undefined;
  if (chance(random, 0.5)) return everyEvents(1 + pick(random, 3));
  return everyMs(1 + pick(random, window.kind === 'session' ? window.gapMs : 7));
}

function drawSteps(
  random: RandomSource,
  { isOnTime, isFlushed }: Pick<WindowPlan, 'isOnTime' | 'isFlushed'>,
): Step[] {
  const keys = Array.from({ length: 1 + pick(random, 4) }, () => `k${pick(random, 12)}`);
  const events = 4 + pick(random, 14);
  const reshardProbability = chance(random, 0.7) ? 0.2 : 0;
  const poisonProbability = chance(random, 0.3) ? 0.1 : 0;
  const steps: Step[] = [];
  // The latest event time so far, over all shards.
  let latest = pick(random, 30);
  for (let value = 1; value <= events; value += 1) {
    const key = keys[pick(random, keys.length)]!;
    if (chance(random, reshardProbability)) {
      steps.push({ kind: 'reshard', seed: String(pick(random, 2 ** 32)) });
    }
    // It says no more than all shards together have seen: nobody is late because of it.
    if (chance(random, 0.1)) steps.push({ kind: 'heartbeat', at: latest - outOfOrdernessMs });
    if (chance(random, poisonProbability)) {
      steps.push({ kind: 'poison', key, text: drawPoison(key, random) });
    }
    const behind = pick(random, isOnTime ? outOfOrdernessMs + 1 : 60);
    const ts = latest - behind + (chance(random, 0.1) ? 60 : pick(random, 25));
    steps.push({ kind: 'event', key, event: { key, ts, value } });
    latest = Math.max(latest, ts);
  }
  if (chance(random, 0.3)) {
    const key = keys[0]!;
    steps.push({ kind: 'event', key, event: { key, ts: latest, value: 0, isLast: true } });
  }
  if (isFlushed) steps.push({ kind: 'heartbeat', at: endOfStreamMs });
  return steps;
}

/** Nothing that a record says of time counts unless it can be believed. */
function drawPoison(key: string, random: RandomSource): string {
  const texts = [
    '{',
    JSON.stringify({ key, ts: null }),
    `{"key":${JSON.stringify(key)},"ts":1e999}`,
    JSON.stringify({ key, ts: Date.UTC(2300, 0, 1) }),
    JSON.stringify({ key: `${key}!`, ts: 10_000 }),
  ];
  return texts[pick(random, texts.length)]!;
}
