import { describeThrown, isHoldfastError } from '../../../shared/core/errors.ts';
import type { RandomSource } from '../../../shared/core/random.ts';
import type { BatchOutcome } from '../../../shared/runtime/process-batch.ts';
import { createEnvironment, invoke, type Deployment, type Environment } from './deployment.ts';
import { chance, createGate, pick, type StepOwner } from '../engine/gate.ts';
import type { ReadFault, WriteFault } from '../engine/gated-ports.ts';
import { createFindingMarks } from '../finding-marks.ts';
import type { SimulationRun } from '../simulation-run.ts';

/** How badly the records of a deployment are delivered. */
export interface DeliveryPlan {
  readonly killProbability: number;
  /** The kind of call at which alone invocations are killed, far more often then. @default any */
  readonly focus?: string;
  /** Of a read or a write that goes wrong. */
  readonly faultProbability: number;
  readonly zombieProbability: number;
  /** Of an invocation whose time is short. */
  readonly hasteProbability: number;
  readonly firingKeysMax: number;
  /** One environment for each of these. */
  readonly flavours: readonly string[];
}

export interface Delivery extends Omit<SimulationRun, 'findings'> {
  /** False where the records are not all processed, though there was time. */
  readonly isDone: boolean;
  readonly events: ReadonlyMap<string, number>;
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

/** Fewer than it takes to condemn a record that is innocent: deaths in one run, and throws by mood of one record. */
const killsMax = 5;
export const moodsMax = 2;
const unmarkedMax = 3;
const attemptsMax = 10;
const invocationsMax = 2000;
/** Retention and most of the day after it, s: a late redelivery can still come. */
const lateSeconds = 47 * 3600;

/**
 * Delivers all records of all shards, children beside their parents, in overlapping invocations whose environments are used
 * again: batches cut anew and delivered again, killed at any step, with replies lost after any write, under the order of
 * steps that the dice pick.
 */
export async function deliverRandomly(
  deployment: Deployment,
  plan: DeliveryPlan,
  random: RandomSource,
): Promise<Delivery> {
  const { stream, findings } = deployment;
  const gate = createGate();
  const pollers = new Map<string, Poller>();
  const running = new Set<Invocation>();
  let environments = plan.flavours.map((flavour, i) => createEnvironment(`e${i}`, flavour));
  const marks = createFindingMarks(gate, findings);
  const totals = { kills: 0, invocations: 0 };

  const pollerOf = (shardId: string): Poller => {
    let poller = pollers.get(shardId);
    if (poller === undefined)
      pollers.set(shardId, (poller = { shardId, done: 0, current: undefined }));
    return poller;
  };
  const unfinished = (): Poller[] =>
    stream
      .shards()
      .map((shard) => pollerOf(shard.shardId))
      .filter((poller) => poller.done < stream.shard(poller.shardId).records.length);

  const start = (poller: Poller): void => {
    const busy = new Set([...running].map((invocation) => invocation.environment));
    const idle = environments.filter((environment) => !busy.has(environment));
    const environment = idle[pick(random, idle.length)];
    if (environment === undefined) return;
    const { records } = stream.shard(poller.shardId);
    const redelivered = chance(random, 0.3) ? pick(random, poller.done + 1) : 0;
    const from = poller.done - redelivered;
    const to = poller.done + 1 + pick(random, records.length - poller.done);
    totals.invocations += 1;
    const owner: StepOwner = { name: `#${totals.invocations}`, isDead: false };
    const invocation: Invocation = { owner, environment, isOver: false };
    poller.current = invocation;
    running.add(invocation);
    let looks = chance(random, plan.hasteProbability) ? 1 + pick(random, 10) : Infinity;
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
    invoke(deployment, gate, owner, environment, {
      shardId: poller.shardId,
      records: batch,
      settings: {
        attemptsMax,
        unitFiringKeysMax: plan.firingKeysMax,
        unitRecordsMax: 1 + pick(random, 6),
        clockCheckSteps: 1,
        cacheBytesMax: chance(random, 0.2) ? 0 : 1_000_000,
      },
      draw: Object.assign((label: string) => bound(label, drawWriteFault(plan, random)), {
        ofRead: (label: string) => bound(label, drawReadFault(label, plan, random)),
      }),
      remainingMs: () => (looks-- > 0 ? 60_000 : 0),
    }).then(finish, (error: unknown) => {
      // A checksum has noticed; what is stored is sound, and the batch comes again.
      const isTurnedBit = isHoldfastError(error, 'corrupt') && wasCorrupted(gate.strikes);
      if (!isTurnedBit) findings.push(`${owner.name} threw ${String(error)}`);
      finish(undefined);
    });
  };

  /** Who cannot take an announcement away looks dead (P15): that, too, happens less often than it takes to condemn a record. */
  let unmarked = 0;
  const bound = <Fault extends string>(label: string, fault: Fault): Fault | 'none' => {
    if (fault === 'none' || !label.startsWith('suspicion.')) return fault;
    unmarked += 1;
    return unmarked > unmarkedMax ? 'none' : fault;
  };

  /** Starts an invocation where the mapping may: on an idle shard, or beside one that it has given up. */
  const maybeStart = (probability: number): void => {
    for (const poller of unfinished()) {
      const isBusy = poller.current !== undefined;
      const may = isBusy ? plan.zombieProbability : probability;
      if (chance(random, may)) start(poller);
    }
  };

  const bury = (name: string): void => {
    const dead = [...running].find((invocation) => invocation.owner.name === name);
    if (dead === undefined) return;
    running.delete(dead);
    for (const poller of pollers.values()) {
      if (poller.current === dead) poller.current = undefined;
    }
    environments = environments.map((environment) =>
      environment === dead.environment
        ? createEnvironment(`${environment.name}'`, environment.flavour)
        : environment,
    );
  };

  maybeStart(1);
  const isOver = gate.drain(
    (labels) => {
      marks.note();
      maybeStart(0.5);
      // DynamoDB collects what has expired; long after the last record nothing of this run must have.
      if (chance(random, 0.1)) {
        deployment.state.collectExpired(deployment.system.now() / 1000 + lateSeconds);
      }
      const index = pick(random, labels.length);
      const probability = killProbabilityAt(labels[index]!, plan);
      const mayKill = totals.kills < killsMax && chance(random, probability);
      if (!mayKill) return { index, choice: 'proceed' };
      totals.kills += 1;
      bury(labels[index]!.split(' ')[0]!);
      return { index, choice: 'kill' };
    },
    () => {
      if (findings.length > 0 || totals.invocations > invocationsMax) return false;
      maybeStart(1);
      return unfinished().length > 0;
    },
  );
  await isOver.catch((thrown: unknown) => findings.push(firstLine(describeThrown(thrown))));
  marks.note();
  const { trace, strikes } = gate;
  const events = new Map([['invocations', totals.invocations]]);
  return { isDone: unfinished().length === 0, trace, strikes, events };
}

/** The calls at which deaths matter most; the rarest of them twice. */
const focuses = [
  ...['state.write', 'sink.', 'object.create', 'object.start', 'progress.commit', 'progress.bear'],
  ...['hint.insert', 'hint.find', 'suspicion.write'],
  ...['hint.remove', 'hint.remove', 'state.expire', 'state.expire'],
];
const focusProbability = 0.3;

/** Where invocations are killed: in half of all runs anywhere, else at one kind of call. */
export function drawFocus(random: RandomSource): Pick<DeliveryPlan, 'focus'> {
  return chance(random, 0.5) ? { focus: focuses[pick(random, focuses.length)]! } : {};
}

function killProbabilityAt(label: string, { killProbability, focus }: DeliveryPlan): number {
  if (focus === undefined || killProbability === 0) return killProbability;
  return label.includes(` ${focus}`) ? focusProbability : 0;
}

function drawWriteFault(plan: DeliveryPlan, random: RandomSource): WriteFault {
  if (!chance(random, plan.faultProbability)) return 'none';
  return chance(random, 0.5) ? 'refused' : 'reply-lost';
}

function drawReadFault(label: string, plan: DeliveryPlan, random: RandomSource): ReadFault {
  if (!chance(random, plan.faultProbability)) return 'none';
  const isRefused = chance(random, 0.5);
  if (label.startsWith('object.') && !isRefused) return 'corrupted';
  if (label === 'stream.shards' && !isRefused) return 'stale';
  return 'refused';
}

function wasCorrupted(strikes: ReadonlyMap<string, number>): boolean {
  return [...strikes.keys()].some((pair) => pair.startsWith('corrupted '));
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}
