import type { RandomSource } from '../../../shared/core/random.ts';
import { hashKey, isOwnedBy } from '../../../shared/core/key-group.ts';
import { auditEnd } from '../engine/audit.ts';
import { chance, pick } from '../engine/gate.ts';
import type { Entry, Part } from '../engine/ledger.ts';
import { openShards, reshardRandomly } from '../engine/reshard.ts';
import type { SimulationRun } from '../simulation-run.ts';
import { countReshardings } from '../engine/count-reshardings.ts';
import { deliverRandomly, drawFocus, moodsMax, type DeliveryPlan } from './random-delivery.ts';
import { createWorld, type World } from './world.ts';

/** What a run draws for itself. */
interface Plan extends DeliveryPlan {
  readonly shards: number;
  readonly accounts: readonly string[];
  readonly entries: number;
  /** Before which entries shards are split or merged. */
  readonly reshardings: readonly number[];
  readonly badProbability: number;
  readonly moodProbability: number;
  readonly timerProbability: number;
  readonly heartbeatProbability: number;
  readonly aggregateProbability: number;
  /** Times of timers are multiples of it, so that they meet. */
  readonly timerStepMs: number;
  /** Timers of all keys wait until a jump of the watermark makes all of them due at once. */
  readonly isCrowded: boolean;
  /** Nothing dies, fails or overlaps; time may be short all the same. */
  readonly isCalm: boolean;
}

const timerNames = ['one', 'two', 'again', 'bad'] as const;
/** The clock of the model's stream. */
const firstArrivalMs = Date.UTC(2025, 0, 1);
/** When the timers of a crowded run are due: behind all events. */
const crowdedMs = { from: 172, to: 180 };
/** One for each environment of an impure run. */
const flavours = ['A', 'B', 'C', 'D', 'E'];

/** One run: a few keys, records and shards, delivered as badly as can be, every commit audited. */
export async function simulateDataPath(random: RandomSource): Promise<SimulationRun> {
  const seed = String(pick(random, 2 ** 32));
  const plan = drawPlan(random);
  const moods = new Map<number, number>();
  const world = await createWorld({
    seed,
    shards: plan.shards,
    isCalm: plan.isCalm,
    throwsNow: ({ id }) => {
      if (!chance(random, plan.moodProbability)) return false;
      const thrown = moods.get(id) ?? 0;
      moods.set(id, thrown + 1);
      return thrown < moodsMax;
    },
  });
  putEntries(world, plan, random);
  const delivery = await deliverRandomly(world, plan, random);
  const findings = [...world.findings];
  if (!delivery.isDone && findings.length === 0) findings.push('the run did not come to an end');
  if (findings.length === 0) findings.push(...auditEnd(world));
  const { trace, strikes } = delivery;
  const events = new Map([...delivery.events, ...countReshardings(world.stream)]);
  return { findings, trace, strikes, events };
}

function drawPlan(random: RandomSource): Plan {
  const sometimes = (probability: number, value: number): number =>
    chance(random, probability) ? value : 0;
  const entries = 3 + pick(random, 10);
  const firstAccount = pick(random, 8);
  // The operator's results depend on the environment, which they must not: outputs must agree with the state all the same (P2).
  const isImpure = chance(random, 0.3);
  const aggregateProbability = sometimes(0.3, 0.3);
  const isCrowded = chance(random, 0.35);
  const isCalm = chance(random, 0.15);
  const unlessCalm = (probability: number, value: number): number =>
    isCalm ? 0 : sometimes(probability, value);
  return {
    shards: 1 + pick(random, 2),
    accounts: Array.from({ length: 1 + pick(random, 4) }, (_, at) => `k${firstAccount + at}`),
    entries,
    // Children read what is left of their parents, beside those that the mapping has them read.
    reshardings:
      !isCalm && chance(random, 0.5)
        ? Array.from({ length: 1 + pick(random, 3) }, () => pick(random, entries))
        : [],
    killProbability: unlessCalm(0.7, 0.04),
    ...drawFocus(random),
    faultProbability: unlessCalm(0.5, 0.06),
    zombieProbability: unlessCalm(0.7, chance(random, 0.3) ? 0.1 : 0.02),
    hasteProbability: chance(random, 0.3) ? 0.6 : 0.1,
    badProbability: sometimes(0.4, 0.2),
    // The parts of an aggregated record share their attempts: a bad one uses up those of one that throws by mood.
    moodProbability: aggregateProbability > 0 ? 0 : sometimes(0.4, 0.1),
    flavours: flavours.slice(0, 2 + pick(random, 3)).map((flavour) => (isImpure ? flavour : '')),
    isCrowded,
    isCalm,
    timerProbability: isCrowded ? 0.9 : sometimes(0.8, 0.5),
    heartbeatProbability: sometimes(0.3, 0.2),
    aggregateProbability,
    timerStepMs: chance(random, 0.5) ? 1 : 4,
    firingKeysMax: chance(random, isCrowded ? 0.6 : 0.2) ? 1 : 2000,
  };
}

function putEntries(world: World, plan: Plan, random: RandomSource): void {
  let parts: Part[] = [];
  const flush = (): void => {
    if (parts.length > 0) world.put(...parts);
    parts = [];
  };
  for (let id = 1; id <= plan.entries; id += 1) {
    for (const before of plan.reshardings) {
      if (before !== id - 1) continue;
      flush();
      reshardRandomly(world.stream, random);
    }
    if (chance(random, plan.heartbeatProbability)) {
      const open = openShards(world.stream);
      world.putHeartbeat(open[pick(random, open.length)]!.shardId, 95 + id * 3 + pick(random, 8));
    }
    const account = plan.accounts[pick(random, plan.accounts.length)]!;
    const part: Part = { key: account, message: drawEntry(account, id, plan, random) };
    if (!isOfOneShard(world, [...parts, part])) flush();
    parts.push(part);
    if (!chance(random, plan.aggregateProbability)) flush();
  }
  flush();
  if (!plan.isCrowded) return;
  for (const { shardId } of openShards(world.stream))
    world.putHeartbeat(shardId, crowdedMs.to + pick(random, 3));
}

/** Only such records can be aggregated. */
function isOfOneShard({ stream }: World, parts: readonly Part[]): boolean {
  return openShards(stream).some(({ range }) =>
    parts.every(({ key }) => isOwnedBy(range, hashKey(key))),
  );
}

function drawEntry(
  account: string,
  id: number,
  plan: Plan,
  random: RandomSource,
): Entry | 'garbage' {
  const time = drawTime(id, plan, random);
  if (chance(random, plan.badProbability)) {
    return chance(random, 0.5) ? 'garbage' : { account, id, kind: 'throw', ...time };
  }
  return { account, id, kind: chance(random, 0.25) ? 'delete' : 'add', ...time };
}

/** Event times go up with the entries, some come late, some jump ahead; timers lie around what the watermark reaches. */
function drawTime(
  id: number,
  plan: Plan,
  random: RandomSource,
): Pick<Entry, 'at' | 'timer' | 'cancel'> {
  const jump = chance(random, 0.1) ? 20 : 0;
  const at = 100 + id * 3 + jump - pick(random, 8);
  if (!chance(random, plan.timerProbability)) return { at };
  if (chance(random, plan.isCrowded ? 0.3 : 0.15)) return { at, cancel: 'one' };
  const name = timerNames[pick(random, chance(random, plan.isCrowded ? 0.4 : 0.1) ? 4 : 3)]!;
  if (plan.isCrowded && chance(random, 0.8)) {
    const near = crowdedMs.from + pick(random, crowdedMs.to - crowdedMs.from);
    const time = near - (near % plan.timerStepMs);
    return { at, timer: { name, time, domain: 'event' } };
  }
  const isArrival = chance(random, 0.3);
  const near = isArrival ? firstArrivalMs + id + pick(random, 6) : at - 6 + pick(random, 20);
  const time = near - (near % plan.timerStepMs);
  return { at, timer: { name, time, domain: isArrival ? 'arrival' : 'event' } };
}
