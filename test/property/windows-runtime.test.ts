import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../shared/core/errors.ts';
import { seededRandom } from '../../shared/core/random.ts';
import { createEnvironment, invoke } from '../simulation/data-path/deployment.ts';
import { createGate, type StepOwner } from '../simulation/engine/gate.ts';
import type { WriteFault } from '../simulation/engine/gated-ports.ts';
import {
  drawWindowPlan,
  windowKinds,
  type WindowKind,
  type WindowPlan,
} from '../simulation/windows/window-plan.ts';
import {
  createWindowsWorld,
  deliverStraight,
  tellTables,
  type WindowsWorld,
} from '../simulation/windows/windows-world.ts';

describe.each(windowKinds)('%s windows', (kind) => {
  it('tell the same wherever the first invocations of a shard die', async () => {
    const plan = drawEventfulPlan(kind);
    const expected = await tellStraight(plan);
    const steps = await countSteps(plan);
    expect(steps.calls).toBeGreaterThan(40);
    for (let at = 0; at < steps.calls; at += 1) {
      const world = await createWindowsWorld(plan, 'planned');
      await deliverWith(world, { diesAt: at });
      expect([at, world.findings, tellTables(world)]).toEqual([at, [], expected]);
    }
  }, 120_000);

  it.each(['refused', 'reply-lost'] as const)(
    'tell the same whichever write is %s',
    async (fault) => {
      const plan = drawEventfulPlan(kind);
      const expected = await tellStraight(plan);
      const { writes } = await countSteps(plan);
      expect(writes).toBeGreaterThan(20);
      for (let at = 0; at < writes; at += 1) {
        const world = await createWindowsWorld(plan, 'planned');
        await deliverWith(world, { failsAt: at, fault });
        expect([at, world.findings, tellTables(world)]).toEqual([at, [], expected]);
      }
    },
    120_000,
  );
});

/** The first plan of a kind in which shards are both split and merged, results come early and some events late. */
function drawEventfulPlan(kind: WindowKind): WindowPlan {
  for (let seed = 1; seed < 10_000; seed += 1) {
    const plan = drawWindowPlan(kind, seededRandom(`eventful ${seed}`));
    const reshardings = plan.steps.filter((step) => step.kind === 'reshard').length;
    const isEventful = plan.options.early !== undefined && !plan.isOnTime && plan.isFlushed;
    if (isEventful && reshardings === 2 && plan.shards === 2 && plan.steps.length > 14) return plan;
  }
  throw new Error(`no plan of ${kind} windows is eventful`);
}

async function tellStraight(plan: WindowPlan): Promise<Record<string, readonly string[]>> {
  const world = await createWindowsWorld(plan, 'planned');
  await deliverStraight(world);
  expect(world.findings).toEqual([]);
  const tables = tellTables(world);
  expect(tables['results']!.length).toBeGreaterThan(5);
  return tables;
}

async function countSteps(plan: WindowPlan): Promise<{ calls: number; writes: number }> {
  return deliverWith(await createWindowsWorld(plan, 'planned'), {});
}

interface Mishap {
  /** The step, a call before it takes effect or its reply, at which an invocation dies. */
  readonly diesAt?: number;
  /** The write that fails, and how. */
  readonly failsAt?: number;
  readonly fault?: WriteFault;
}

const invocationsMax = 50;

/** Delivers shard by shard, in units of three records; whoever comes after a mishap is a new environment with another cut. */
async function deliverWith(
  world: WindowsWorld,
  { diesAt, failsAt, fault = 'none' }: Mishap,
): Promise<{ calls: number; writes: number }> {
  const counts = { calls: 0, writes: 0 };
  let unitRecordsMax = 3;
  let environment = createEnvironment('first');
  for (const { shardId, records } of world.stream.shards()) {
    for (let tries = 0, rest = records; rest.length > 0; tries += 1) {
      if (tries > invocationsMax) throw new HoldfastError('internal', 'the run does not end');
      const owner: StepOwner = { name: `${shardId} ${tries}`, isDead: false };
      const gate = createGate();
      const ended = invoke(world, gate, owner, environment, {
        shardId,
        records: rest,
        settings: { unitRecordsMax, unitFiringKeysMax: 1, attemptsMax: 10 },
        draw: () => (counts.writes++ === failsAt ? fault : 'none'),
      });
      await gate.drain(
        () => ({ index: 0, choice: counts.calls++ === diesAt ? 'kill' : 'proceed' }),
        () => false,
      );
      const outcome = owner.isDead ? undefined : await ended;
      if (outcome?.kind === 'done') break;
      environment = createEnvironment('next');
      unitRecordsMax = 2;
      // Delivered again from where it was handed back, or from the start of the shard.
      const from = outcome?.fromSequence;
      rest =
        from === undefined ? records : records.slice(records.findIndex((r) => r.sequence === from));
    }
  }
  return counts;
}
