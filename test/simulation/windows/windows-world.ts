import { createMemoryAppendSink } from '../../../shared/adapters/memory/memory-sink.ts';
import { deadLetterSink } from '../../../shared/core/emission.ts';
import { encodeHeartbeat } from '../../../shared/core/heartbeat.ts';
import { seededRandom } from '../../../shared/core/random.ts';
import { summingOperator } from '../../unit/operator/windows/summing-operator.ts';
import {
  createDeployment,
  createEnvironment,
  invoke,
  type Deployment,
} from '../data-path/deployment.ts';
import { createGate, type StepOwner } from '../engine/gate.ts';
import { openShards, reshardRandomly } from '../engine/reshard.ts';
import type { WindowPlan } from './window-plan.ts';

/** A job of windows in whose stream everything is put already. */
export interface WindowsWorld extends Deployment {
  readonly sinks: Readonly<
    Record<'results' | 'late' | 'deadLetters', ReturnType<typeof createMemoryAppendSink>>
  >;
}

/** Puts what a plan says, into the shards that it says, or into one that is never resharded. */
export async function createWindowsWorld(
  plan: WindowPlan,
  sharding: 'planned' | 'one shard',
): Promise<WindowsWorld> {
  const sinks = {
    results: createMemoryAppendSink(),
    late: createMemoryAppendSink(),
    deadLetters: createMemoryAppendSink(),
  };
  const operator = summingOperator(plan.options);
  const deployment = await createDeployment({
    seed: 'windows',
    shards: sharding === 'planned' ? plan.shards : 1,
    operatorFor: () => operator,
    sinks: new Map([
      ['results', sinks.results],
      ['late', sinks.late],
      [deadLetterSink, sinks.deadLetters],
    ]),
  });
  putSteps(deployment, plan, sharding === 'planned');
  return { ...deployment, sinks };
}

function putSteps({ stream }: Deployment, plan: WindowPlan, isResharded: boolean): void {
  const encoder = new TextEncoder();
  for (const step of plan.steps) {
    switch (step.kind) {
      case 'event':
        stream.put(step.key, encoder.encode(JSON.stringify(step.event)));
        break;
      case 'poison':
        stream.put(step.key, encoder.encode(step.text));
        break;
      case 'heartbeat':
        for (const { range } of openShards(stream)) {
          const explicitHashKey = BigInt(`0x${range.from}`).toString();
          stream.put('heartbeat', encodeHeartbeat(step.at), { explicitHashKey });
        }
        break;
      case 'reshard':
        if (isResharded) reshardRandomly(stream, seededRandom(step.seed));
        break;
    }
  }
}

/** One environment, every shard in one batch, nothing goes wrong. */
export async function deliverStraight(world: WindowsWorld): Promise<void> {
  const environment = createEnvironment('straight');
  const owner: StepOwner = { name: 'straight', isDead: false };
  for (const { shardId, records } of world.stream.shards()) {
    if (records.length === 0) continue;
    const gate = createGate();
    const outcome = invoke(world, gate, owner, environment, { shardId, records });
    await gate.drain(
      () => ({ index: 0, choice: 'proceed' }),
      () => false,
    );
    const { kind } = await outcome;
    if (kind !== 'done') world.findings.push(`the straight run ended with ${kind}`);
  }
}

/** Everything that a run has left behind for anybody to see: rows with their ids, in bytes, and states with their timers. */
export function tellTables({ sinks, state }: WindowsWorld): Record<string, readonly string[]> {
  const rows = Object.entries(sinks).map(([name, sink]) => [
    name,
    sink.rows().map((row) => JSON.stringify(row)),
  ]);
  const items = state.rows().map(({ item: { key, position, states, timers } }) => {
    const bytes = states === undefined ? 'none' : Buffer.from(states).toString('hex');
    return JSON.stringify({ key, position, bytes, timers });
  });
  return { ...(Object.fromEntries(rows) as Record<string, string[]>), states: items.sort() };
}
