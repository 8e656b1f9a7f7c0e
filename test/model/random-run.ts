import { seededRandom, type RandomSource } from '../../shared/core/random.ts';
import type { BatchOutcome } from '../../shared/runtime/process-batch.ts';
import { auditEnd } from './audit.ts';
import { chance, createGate, pick, type StepOwner } from './gate.ts';
import type { Entry } from './ledger.ts';
import { createEnvironment, createWorld, invoke, type Environment, type World } from './world.ts';

export interface RunResult {
  readonly findings: readonly string[];
  readonly trace: readonly string[];
  readonly kills: number;
  readonly refusals: number;
  readonly lostReplies: number;
  readonly invocations: number;
}

/** What a run draws for itself from its seed. */
interface Plan {
  readonly shards: number;
  readonly keys: number;
  readonly entries: number;
  readonly splitAfter: number | undefined;
  readonly killProbability: number;
  readonly faultProbability: number;
  readonly zombieProbability: number;
  readonly badProbability: number;
  readonly moodProbability: number;
  readonly environments: number;
  readonly timerProbability: number;
  readonly firingKeysMax: number;
  /** The operator's results depend on the environment, against law 6: outputs must agree with the state all the same (P2). */
  readonly isImpure: boolean;
}

/** One shard as the event source mapping sees it. */
interface Poller {
  readonly shardId: string;
  /** How many of the shard's records the mapping takes for done. */
  done: number;
  current: Invocation | undefined;
}

interface Invocation {
  readonly owner: StepOwner;
  readonly environment: Environment;
  isOver: boolean;
}

/** Deaths in one run, and throws by mood of one record: fewer than it takes to condemn a record that is innocent. */
const killsMax = 5;
const moodsMax = 2;
const attemptsMax = 10;
const timerNames = ['one', 'two', 'again', 'bad'] as const;
/** The clock of the model's stream. */
const firstArrivalMs = Date.UTC(2025, 0, 1);
/** One for each environment of an impure run. */
const flavours = ['A', 'B', 'C', 'D', 'E'];
/** Retention and most of the day after it, s: a late redelivery can still come. */
const lateSeconds = 47 * 3600;

/**
 * One run from a seed: a few keys, records and shards, overlapping invocations in environments that are used again,
 * killed at any step, with replies lost after any write, under every order of steps that the seed picks.
 */
export async function runRandomly(seed: string): Promise<RunResult> {
  const random = seededRandom(seed);
  const plan = drawPlan(random);
  const moods = new Map<number, number>();
  const world = await createWorld({
    seed,
    shards: plan.shards,
    throwsNow: ({ id }) => {
      if (!chance(random, plan.moodProbability)) return false;
      const thrown = moods.get(id) ?? 0;
      moods.set(id, thrown + 1);
      return thrown < moodsMax;
    },
  });
  putEntries(world, plan, random);

  const gate = createGate();
  const pollers = new Map<string, Poller>();
  const running = new Set<Invocation>();
  let environments = Array.from({ length: plan.environments }, (_, i) =>
    createEnvironment(`e${i}`, plan.isImpure ? flavours[i] : ''),
  );
  const totals = { kills: 0, refusals: 0, lostReplies: 0, invocations: 0 };

  const pollerOf = (shardId: string): Poller => {
    let poller = pollers.get(shardId);
    if (poller === undefined)
      pollers.set(shardId, (poller = { shardId, done: 0, current: undefined }));
    return poller;
  };
  const unfinished = (): Poller[] =>
    world.stream
      .shards()
      .map((shard) => pollerOf(shard.shardId))
      .filter((poller) => poller.done < world.stream.shard(poller.shardId).records.length);

  const start = (poller: Poller): void => {
    const busy = new Set([...running].map((invocation) => invocation.environment));
    const idle = environments.filter((environment) => !busy.has(environment));
    const environment = idle[pick(random, idle.length)];
    if (environment === undefined) return;
    const { records } = world.stream.shard(poller.shardId);
    const redelivered = chance(random, 0.3) ? pick(random, poller.done + 1) : 0;
    const from = poller.done - redelivered;
    const to = poller.done + 1 + pick(random, records.length - poller.done);
    totals.invocations += 1;
    const owner: StepOwner = { name: `#${totals.invocations}`, isDead: false };
    const invocation: Invocation = { owner, environment, isOver: false };
    poller.current = invocation;
    running.add(invocation);
    let looks = chance(random, 0.1) ? 1 + pick(random, 6) : Number.POSITIVE_INFINITY;
    const batch = records.slice(from, to);
    const finish = (outcome: BatchOutcome | undefined): void => {
      invocation.isOver = true;
      running.delete(invocation);
      if (poller.current !== invocation) return;
      poller.current = undefined;
      if (outcome?.kind === 'done') poller.done = Math.max(poller.done, to);
      if (outcome?.kind === 'handBack') {
        const at = records.findIndex((r) => r.sequence === outcome.fromSequence);
        poller.done = Math.max(poller.done, at);
      }
    };
    invoke(world, gate, owner, environment, {
      shardId: poller.shardId,
      records: batch,
      settings: {
        attemptsMax,
        unitFiringKeysMax: plan.firingKeysMax,
        unitRecordsMax: 1 + pick(random, 6),
        cacheBytesMax: chance(random, 0.2) ? 0 : 1_000_000,
      },
      draw: () => {
        if (!chance(random, plan.faultProbability)) return 'none';
        const fault = chance(random, 0.5) ? 'refused' : 'reply-lost';
        totals[fault === 'refused' ? 'refusals' : 'lostReplies'] += 1;
        return fault;
      },
      remainingMs: () => (looks-- > 0 ? 60_000 : 0),
    }).then(finish, (error: unknown) => {
      world.findings.push(`${owner.name} threw ${String(error)}`);
      finish(undefined);
    });
  };

  /** Starts an invocation where the mapping may: on an idle shard, or beside one that it has given up. */
  const maybeStart = (probability: number): void => {
    for (const poller of unfinished()) {
      const isBusy = poller.current !== undefined;
      const may = isBusy ? plan.zombieProbability : probability;
      if (chance(random, may)) start(poller);
    }
  };

  maybeStart(1);
  await gate.drain(
    (labels) => {
      maybeStart(0.5);
      // DynamoDB collects what has expired; long after the last record nothing of this run must have.
      if (chance(random, 0.02)) world.state.collectExpired(world.system.now() / 1000 + lateSeconds);
      const index = pick(random, labels.length);
      const mayKill = totals.kills < killsMax && chance(random, plan.killProbability);
      if (mayKill) {
        totals.kills += 1;
        const name = labels[index]!.split(' ')[0]!;
        const dead = [...running].find((invocation) => invocation.owner.name === name);
        if (dead === undefined) return { index, choice: 'kill' };
        running.delete(dead);
        for (const poller of pollers.values()) {
          if (poller.current === dead) poller.current = undefined;
        }
        environments = environments.map((environment) =>
          environment === dead.environment
            ? createEnvironment(`${environment.name}'`, environment.flavour)
            : environment,
        );
      }
      return { index, choice: mayKill ? 'kill' : 'proceed' };
    },
    () => {
      if (world.findings.length > 0 || totals.invocations > 2000) return false;
      maybeStart(1);
      return unfinished().length > 0;
    },
  );
  const findings = [...world.findings];
  if (unfinished().length > 0 && findings.length === 0)
    findings.push('the run did not come to an end');
  if (findings.length === 0) findings.push(...auditEnd(world));
  return { findings, trace: gate.trace, ...totals };
}

function drawPlan(random: RandomSource): Plan {
  const sometimes = (probability: number, value: number): number =>
    chance(random, probability) ? value : 0;
  const entries = 3 + pick(random, 10);
  return {
    shards: 1 + pick(random, 2),
    keys: 1 + pick(random, 4),
    entries,
    splitAfter: chance(random, 0.4) ? pick(random, entries) : undefined,
    killProbability: sometimes(0.7, 0.04),
    faultProbability: sometimes(0.5, 0.06),
    zombieProbability: sometimes(0.7, 0.02),
    badProbability: sometimes(0.4, 0.2),
    moodProbability: sometimes(0.3, 0.1),
    environments: 2 + pick(random, 3),
    timerProbability: sometimes(0.8, 0.5),
    firingKeysMax: chance(random, 0.3) ? 1 : 2000,
    isImpure: chance(random, 0.3),
  };
}

function putEntries(world: World, plan: Plan, random: RandomSource): void {
  for (let id = 1; id <= plan.entries; id += 1) {
    if (id - 1 === plan.splitAfter) {
      const open = world.stream.shards().filter((shard) => !shard.isClosed);
      world.stream.split(open[pick(random, open.length)]!.shardId);
    }
    const account = `k${pick(random, plan.keys)}`;
    world.put(account, drawEntry(account, id, plan, random));
  }
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
  if (chance(random, 0.15)) return { at, cancel: 'one' };
  const name = timerNames[pick(random, chance(random, 0.1) ? 4 : 3)]!;
  const isArrival = chance(random, 0.3);
  const time = isArrival ? firstArrivalMs + id + pick(random, 6) : at - 6 + pick(random, 20);
  return { at, timer: { name, time, domain: isArrival ? 'arrival' : 'event' } };
}
