import { createGate, type StepChoice, type StepOwner } from '../../simulation/engine/gate.ts';
import { auditEnd } from '../../simulation/engine/audit.ts';
import type { Entry } from '../../simulation/engine/ledger.ts';
import {
  createEnvironment,
  invoke,
  type Environment,
} from '../../simulation/data-path/deployment.ts';
import { createWorld, type World } from '../../simulation/data-path/world.ts';

/** One stretch of a schedule: an invocation goes on for some steps, to its end if there are none, then maybe dies. */
export interface Stretch {
  readonly who: 'a' | 'b';
  readonly steps: number | undefined;
  readonly then?: 'dies';
}

export interface Overlap {
  /** The entries in the stream; the first `known` of them are committed before the two begin. */
  readonly entries: readonly (readonly [account: string, kind: Entry['kind'] | 'garbage'])[];
  readonly known: number;
  /** How many records each of them is given. `a` has committed the known ones itself, `b` comes anew. */
  readonly cuts: { readonly a: number; readonly b: number };
}

export interface OverlapResult {
  readonly findings: readonly string[];
  /** How many steps each stretch really took; a later one that was not reached is missing. */
  readonly taken: readonly number[];
  readonly trace: readonly string[];
}

/** Runs the two by a schedule, then delivers everything once more and looks at all tables. */
export async function runOverlap(
  overlap: Overlap,
  schedule: readonly Stretch[],
): Promise<OverlapResult> {
  const world = await createWorld({ seed: 'overlap', shards: 1 });
  overlap.entries.forEach(([account, kind], id) => {
    const message = kind === 'garbage' ? kind : { account, id, kind, at: 100 + id };
    world.put({ key: account, message });
  });
  const known = createEnvironment('a');
  await deliver(world, known, 0, overlap.known);

  const gate = createGate();
  const owners = { a: owner('a'), b: owner('b') };
  const { shardId, records } = onlyShard(world);
  const start = (who: 'a' | 'b', environment: Environment): void => {
    const batch = records.slice(overlap.known, overlap.known + overlap.cuts[who]);
    invoke(world, gate, owners[who], environment, { shardId, records: batch }).catch(
      (error: unknown) => world.findings.push(`${who} threw ${String(error)}`),
    );
  };
  start('a', known);
  start('b', createEnvironment('b'));

  const walk = createWalk(schedule, owners);
  await gate.drain(walk.choose, () => false);
  await deliver(world, createEnvironment('c'), overlap.known, overlap.entries.length);
  const findings = world.findings.length > 0 ? world.findings : auditEnd(world);
  return { findings, taken: walk.taken, trace: gate.trace };
}

interface Walk {
  readonly taken: number[];
  choose(labels: readonly string[]): { index: number; choice: StepChoice };
}

function createWalk(
  schedule: readonly Stretch[],
  owners: Readonly<Record<'a' | 'b', StepOwner>>,
): Walk {
  const taken: number[] = [];
  let at = 0;
  const firstOf = (who: string, labels: readonly string[]): number =>
    labels.findIndex((label) => label.startsWith(`${who} `));
  return {
    taken,
    choose(labels) {
      for (;;) {
        const stretch = schedule[at];
        // What is left after the schedule comes in the order in which it began.
        if (stretch === undefined) return { index: 0, choice: 'proceed' };
        taken[at] ??= 0;
        const index = firstOf(stretch.who, labels);
        const isDone = index < 0 || taken[at] === stretch.steps;
        if (!isDone) {
          taken[at]! += 1;
          return { index, choice: 'proceed' };
        }
        at += 1;
        if (stretch.then === 'dies' && index >= 0 && !owners[stretch.who].isDead) {
          return { index, choice: 'kill' };
        }
      }
    },
  };
}

/** An invocation that nobody disturbs. */
async function deliver(
  world: World,
  environment: Environment,
  from: number,
  to: number,
): Promise<void> {
  if (from === to) return;
  const gate = createGate();
  const { shardId, records } = onlyShard(world);
  const batch = records.slice(from, to);
  const running = invoke(world, gate, owner('alone'), environment, { shardId, records: batch });
  await gate.drain(
    () => ({ index: 0, choice: 'proceed' }),
    () => false,
  );
  const outcome = await running;
  if (outcome.kind !== 'done') world.findings.push(`handed back: ${outcome.reason}`);
}

function owner(name: string): StepOwner {
  return { name, isDead: false };
}

function onlyShard(world: World) {
  const [shard] = world.stream.shards();
  if (shard === undefined) throw new Error('the stream has no shard');
  return shard;
}
