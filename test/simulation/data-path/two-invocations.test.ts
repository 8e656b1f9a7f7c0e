import { describe, expect, it } from 'vitest';
import type { StreamRecord } from '../../../shared/ports/shard-reader.ts';
import { auditEnd } from '../engine/audit.ts';
import { createEnvironment, invoke } from './deployment.ts';
import { createGate, type ChooseStep, type StepOwner } from '../engine/gate.ts';
import type { Entry } from '../engine/ledger.ts';
import { createWorld, type World } from './world.ts';

/*
 * Two overlapping invocations of one shard with different cuts, exhaustively: A is stopped after every number of its port
 * calls, B then runs and is stopped after every number of its own, A goes on, B goes on; and each of the two also dies
 * where it was stopped. Whatever is left over is then delivered once more. (Whether a reply has arrived is seen by nobody
 * but its receiver, so that calls are all that has to be counted.)
 */

/** The second entry leaves a timer that the third makes due, for a key that has no record there. */
const entries: readonly Entry[] = [
  { account: 'k0', id: 1, kind: 'add', at: 100 },
  {
    account: 'k1',
    id: 2,
    kind: 'add',
    at: 101,
    timer: { name: 'again', time: 104, domain: 'event' },
  },
  { account: 'k0', id: 3, kind: 'delete', at: 120 },
  { account: 'k0', id: 4, kind: 'add', at: 121 },
];

interface Cuts {
  /** Records in A's batch and in each of its units; then B's. */
  readonly a: readonly [batch: number, unit: number];
  readonly b: readonly [batch: number, unit: number];
}

const cutPairs: readonly Cuts[] = [
  { a: [4, 4], b: [2, 2] },
  { a: [4, 2], b: [3, 3] },
  { a: [3, 1], b: [4, 4] },
  { a: [4, 3], b: [4, 1] },
];

type End = 'go on' | 'die';

interface Schedule {
  readonly stopA: number;
  readonly stopB: number;
  readonly endA: End;
  readonly endB: End;
}

interface Outcome {
  readonly findings: readonly string[];
  /** Calls that A and B have made in all. */
  readonly stepsA: number;
  readonly stepsB: number;
}

async function runSchedule(cuts: Cuts, schedule: Schedule): Promise<Outcome> {
  const world = await createWorld({ seed: 'two', shards: 1 });
  for (const entry of entries) world.put({ key: entry.account, message: entry });
  const shard = world.stream.shards()[0]!;
  const gate = createGate();
  const a: StepOwner = { name: 'A', isDead: false };
  const b: StepOwner = { name: 'B', isDead: false };
  const start = (owner: StepOwner, [batch, unit]: readonly [number, number]): void => {
    run(world, gate, owner, shard.shardId, shard.records.slice(0, batch), unit);
  };
  start(a, cuts.a);
  start(b, cuts.b);

  const steps = { A: 0, B: 0 };
  await gate.drain(
    (labels) => chooseNext(labels, steps, schedule),
    () => false,
  );
  start({ name: 'C', isDead: false }, [entries.length, 2]);
  await gate.drain(
    () => ({ index: 0, choice: 'proceed' }),
    () => false,
  );
  return {
    findings: [...world.findings, ...auditEnd(world)],
    stepsA: steps.A,
    stepsB: steps.B,
  };
}

/** A up to its stop, B up to its own, the rest of A, the rest of B; who is to die dies where it was stopped. */
function chooseNext(
  labels: readonly string[],
  steps: { A: number; B: number },
  schedule: Schedule,
): ReturnType<ChooseStep> {
  const find = (name: 'A' | 'B'): number =>
    labels.findIndex((label) => label.startsWith(`${name} `));
  const reply = labels.findIndex((label) => label.includes(' after '));
  if (reply >= 0) return { index: reply, choice: 'proceed' };
  const take = (name: 'A' | 'B', choice: 'proceed' | 'kill'): ReturnType<ChooseStep> => {
    steps[name] += 1;
    return { index: find(name), choice };
  };
  const hasA = find('A') >= 0;
  const hasB = find('B') >= 0;
  if (hasA && steps.A < schedule.stopA) return take('A', 'proceed');
  if (hasA && steps.A === schedule.stopA && schedule.endA === 'die') return take('A', 'kill');
  if (hasB && steps.B < schedule.stopB) return take('B', 'proceed');
  if (hasB && steps.B === schedule.stopB && schedule.endB === 'die') return take('B', 'kill');
  return hasA ? take('A', 'proceed') : take('B', 'proceed');
}

function run(
  world: World,
  gate: ReturnType<typeof createGate>,
  owner: StepOwner,
  shardId: string,
  records: readonly StreamRecord[],
  unitRecordsMax: number,
): void {
  invoke(world, gate, owner, createEnvironment(owner.name), {
    shardId,
    records,
    settings: { unitRecordsMax, attemptsMax: 10 },
  }).catch((error: unknown) => world.findings.push(`${owner.name} threw ${String(error)}`));
}

describe.each(cutPairs)('two invocations, A cut as $a and B as $b', (cuts) => {
  it('leave the tables and the changelog of a straight run, wherever they are stopped or die', async () => {
    const straight = { stopA: Number.MAX_SAFE_INTEGER, stopB: 0, endA: 'go on', endB: 'go on' };
    const { stepsA, stepsB } = await runSchedule(cuts, straight as Schedule);
    expect(stepsA).toBeGreaterThan(12);
    let schedules = 0;
    for (let stopA = 0; stopA <= stepsA; stopA += 1) {
      for (let stopB = 0; stopB <= Math.max(stepsA, stepsB); stopB += 1) {
        for (const [endA, endB] of ends(stopB)) {
          const { findings } = await runSchedule(cuts, { stopA, stopB, endA, endB });
          schedules += 1;
          if (findings.length === 0) continue;
          expect.fail(
            `A stopped after ${stopA} calls (${endA}), B after ${stopB} (${endB}):\n${findings.join('\n')}`,
          );
        }
      }
    }
    expect(schedules).toBeGreaterThan(400);
  }, 600_000);
});

function ends(stopB: number): readonly (readonly [End, End])[] {
  const all = [
    ['go on', 'go on'],
    ['die', 'go on'],
    ['go on', 'die'],
    ['die', 'die'],
  ] as const;
  // Where B has not begun, its stop makes no difference.
  return stopB === 0 ? all.slice(0, 2) : all;
}
