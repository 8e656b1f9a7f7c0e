import type { RandomSource } from '../../../shared/core/random.ts';
import { chance, pick } from '../engine/gate.ts';
import type { Entry, Message } from '../engine/ledger.ts';
import type { ProcessFaults } from '../engine/processes.ts';

/** What happens to the stream and the job from outside, in this order. */
export type Act =
  | { readonly kind: 'put'; readonly account: string; readonly message: Message }
  | { readonly kind: 'heartbeat'; readonly at: number }
  | { readonly kind: Exclude<ActKind, 'put' | 'heartbeat'> };

export type ActKind =
  | 'put'
  | 'heartbeat'
  | 'split or merge'
  | 'tick'
  | 'collect'
  | 'savepoint'
  | 'savepoint with stop'
  | 'tidy'
  | 'restore'
  | 'restore to a time'
  | 'lose tables'
  | 'drill'
  | 'deploy'
  | 'clock jump';

/** What a run draws for itself from its seed: which actors there are, and what goes wrong. */
export interface SystemPlan extends ProcessFaults {
  readonly shards: number;
  readonly hasOtherLogic: boolean;
  /** Each deploy raises the schema version of a state. */
  readonly hasVersions: boolean;
  readonly environments: number;
  readonly acts: readonly Act[];
  readonly actProbability: number;
  readonly faultProbability: number;
  /** Of a read of an object that fails: its bytes come, and one of them is wrong. */
  readonly corruptShare: number;
  readonly staleProbability: number;
  readonly overlapProbability: number;
  readonly jumpProbability: number;
  readonly abortProbability: number;
  /** Of an invocation whose time is short. */
  readonly hasteProbability: number;
  /** Of a machine whose clock is wrong. */
  readonly skewProbability: number;
  /** Time that passes between two steps, ms. */
  readonly stepMs: number;
  /** Of a tick in the minute of collections and patrols. */
  readonly turnProbability: number;
  readonly retained: number;
  readonly mergeAfterSegments: number;
}

/** The clock of the stream. */
const firstArrivalMs = Date.UTC(2025, 0, 1);
const hourMs = 3_600_000;

export function drawSystemPlan(random: RandomSource): SystemPlan {
  const sometimes = (probability: number, value: number): number =>
    chance(random, probability) ? value : 0;
  const hasOtherLogic = chance(random, 0.3);
  const focus = drawFocus(random);
  return {
    hasOtherLogic,
    hasVersions: chance(random, 0.3),
    shards: 1 + pick(random, 2),
    environments: 2 + pick(random, 2),
    acts: drawActs(random, hasOtherLogic, focus),
    actProbability: [0.01, 0.03, 0.1][pick(random, 3)]!,
    faultProbability: sometimes(0.4, [0.003, 0.01, 0.03][pick(random, 3)]!),
    corruptShare: sometimes(0.3, 0.3),
    staleProbability: sometimes(0.3, 0.2),
    overlapProbability: sometimes(0.5, 0.01),
    jumpProbability: sometimes(0.3, 0.01),
    abortProbability: sometimes(0.3, 0.003),
    hasteProbability: sometimes(0.5, 0.15),
    skewProbability: sometimes(0.3, 0.2),
    stepMs: [1, 20, 500][pick(random, 3)]!,
    turnProbability: [0, 0.5, 1][pick(random, 3)]!,
    retained: 1 + pick(random, 3),
    mergeAfterSegments: [2, 4, 256][pick(random, 3)]!,
    killProbability: sometimes(0.6, 0.008),
    killsMax: 6,
    sleepProbability: sometimes(0.7, 0.01),
    sleepStepsMax: [100, 1000, 5000][pick(random, 3)]!,
    ...(focus === undefined ? {} : { focus }),
  };
}

/** Calls at which a run dies or fails far more often than at others: so that the rare ones get their share. */
const focuses = [
  'job.replace',
  'registry.write',
  'registry.read',
  'object.create',
  'object.remove',
  'object.list',
  'object.range',
  'object.start',
  'progress.bear',
  'progress.fence',
  'progress.create',
  'progress.commit',
  'channels.list',
  'state.scan',
  'hint.remove',
  'suspicion.write',
  'clock.sleep',
  // Few runs come to these, so more of them look out for them.
  ...Array.from({ length: 8 }, () => 'state.remove'),
  ...Array.from({ length: 8 }, () => 'sink.journal.remove'),
  ...Array.from({ length: 4 }, () => 'sink.balance.remove'),
  ...Array.from({ length: 2 }, () => 'sink.journal.scan'),
];

function drawFocus(random: RandomSource): string | undefined {
  return chance(random, 0.5) ? focuses[pick(random, focuses.length)]! : undefined;
}

function drawActs(random: RandomSource, hasOtherLogic: boolean, focus: string | undefined): Act[] {
  const keys = 1 + pick(random, 4);
  const isHot = chance(random, 0.3);
  const timers = chance(random, 0.5);
  // Rows are removed where there is a way back, and states where drills and generations end.
  const isAboutRows = focus?.startsWith('sink.') === true;
  const goesBack = isAboutRows || chance(random, 0.8);
  const producer = createProducer({ keys, isHot, timers, hasOtherLogic }, random);
  const { puts } = producer;
  const acts: Act[] = [...puts(6), drawCut(random)];
  const others: ActKind[] = focus === 'state.remove' ? ['drill', 'tidy'] : drawOthers(random);
  const moves = (isAboutRows ? 3 : 1) + pick(random, 4);
  for (let at = 0; at < moves; at += 1) {
    acts.push(...puts(5));
    if (chance(random, 0.3)) acts.push(drawCut(random));
    if (others.length > 0 && chance(random, 0.7)) {
      acts.push({ kind: others[pick(random, others.length)]! } as Act);
    }
    if (goesBack) acts.push({ kind: chance(random, 0.85) ? 'restore' : 'restore to a time' });
    acts.push(...puts(3));
  }
  acts.push(...puts(4), { kind: 'tick' });
  const scatter = (act: Act): void => {
    acts.splice(pick(random, acts.length + 1), 0, act);
  };
  const reshards = chance(random, 0.5) ? 1 + pick(random, 3) : 0;
  for (let at = 0; at < reshards; at += 1) scatter({ kind: 'split or merge' });
  if (chance(random, 0.3)) scatter({ kind: 'clock jump' });
  if (timers && chance(random, 0.5))
    scatter({ kind: 'heartbeat', at: 95 + pick(random, 3 * producer.lastId()) });
  return acts;
}

/** What records are like. */
interface Habits {
  readonly keys: number;
  readonly isHot: boolean;
  readonly timers: boolean;
  readonly hasOtherLogic: boolean;
}

/** Makes records, each with the next number, from one behind `firstId` on. */
export function createProducer(habits: Habits, random: RandomSource, firstId = 0) {
  const { keys, isHot, timers, hasOtherLogic } = habits;
  let id = firstId;
  let last: Message | undefined;
  const put = (): Act => {
    id += 1;
    const account = isHot && chance(random, 0.7) ? 'k0' : `k${pick(random, keys)}`;
    const entry = drawEntry(account, id, timers, random);
    const message: Message =
      hasOtherLogic && entry !== 'garbage' ? { ...entry, kind: 'add' } : entry;
    // A producer that has not heard of its record puts it again.
    const again = last !== undefined && chance(random, 0.05) ? last : message;
    last = message;
    return { kind: 'put', account: accountOf(again) ?? account, message: again };
  };
  return {
    lastId: () => id,
    /** Some records, fewer than the bound. */
    puts: (bound: number): Act[] => Array.from({ length: pick(random, bound) }, put),
  };
}

export function drawCut(random: RandomSource): Act {
  if (chance(random, 0.7)) return { kind: 'tick' };
  return { kind: chance(random, 0.8) ? 'savepoint' : 'savepoint with stop' };
}

/** Swarm testing: what else a run has; some runs have all of it, and many have one thing a lot. */
function drawOthers(random: RandomSource): ActKind[] {
  const all: ActKind[] = ['tick', 'collect', 'tidy', 'drill', 'deploy', 'savepoint'];
  return all.filter(() => chance(random, 0.4));
}

function accountOf(message: Message): string | undefined {
  return message !== 'garbage' && message.kind !== 'heartbeat' ? message.account : undefined;
}

/** So far apart that neither a run nor a jump of its clock loses a record. */
export const retentionHours = 168;

/** How far clocks jump, ms: behind what is pending, or held. */
export function drawJump(random: RandomSource): number {
  return [60_000, 15 * 60_000, 13 * hourMs, 25 * hourMs, 90 * hourMs][pick(random, 5)]!;
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
