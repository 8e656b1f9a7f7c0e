import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { splitShard } from '../../../cli/demo/feed-stream.ts';
import { computePlainly } from '../../../cli/demo/plain-computation.ts';
import { seededRandom, type RandomSource } from '../../../shared/core/random.ts';
import { beforeSteps } from './before-steps.ts';
import { startFlightsAws, type FlightsAws } from './flights-aws.ts';
import { mergeNeighbours } from './merge-shards.ts';
import {
  compareWith,
  listAbandoned,
  lookAt,
  placeOf,
  readCut,
  readSinks,
  type Look,
} from './sink-view.ts';

let flights: FlightsAws;

beforeAll(async () => {
  flights = await startFlightsAws({ flights: 900, seed: 7 });
});

afterAll(async () => {
  await flights?.stop();
});

// On a machine that has much else to do.
vi.setConfig({ testTimeout: 300_000 });

/** As the demonstration has it; functions of workflows and schedules are killed, too. */
const chaos = {
  killDuringInvocation: { probability: 0.3, atMost: 40 },
  duplicateAfterSuccess: 0.1,
  recutOnRetry: 0.5,
  zombie: 0.05,
  childFirst: 0.5,
};

const crashesOf = (name: string): number =>
  flights.aws.functions.get(flights.output(name)).stats().crashes;

/** A tick of the coordinator, which is killed at some moment of it. */
const tick = async (random: RandomSource): Promise<void> => {
  const { aws, output } = flights;
  const [schedule] = aws.schedules.list();
  const running = aws.schedules.fire(schedule!.name);
  await sleep(150 * random());
  aws.functions.kill(output('Coordinator'));
  await running;
};

describe('a savepoint and a rollback while shards are split and merged and processes are killed', () => {
  it('leave the tables as if there had been nothing of it', async () => {
    const { aws, clients, output } = flights;
    const random = seededRandom('resharding');
    const stream = output('Stream');
    const happened = new Set<string>();
    aws.chaos.change(chaos);
    let kills = 0;
    /** What a step meets the first time that it is begun. */
    const events: Record<string, () => Promise<unknown>> = {
      'savepoint.cut': () => splitShard(clients.kinesis, stream, random),
      'savepoint.merge': () => tick(random),
      'restore.fence': () => splitShard(clients.kinesis, stream, random),
      'restore.load': () => mergeNeighbours(clients.kinesis, stream),
      'restore.flip': () => tick(random),
      'restore.replay': () => splitShard(clients.kinesis, stream, random),
      'restore.sweep': () => mergeNeighbours(clients.kinesis, stream),
    };
    const begun = new Set<string>();
    const steps = aws.functions.get(output('Steps'));
    const end = beforeSteps(steps, async (step) => {
      const event = begun.has(step) ? undefined : events[step];
      begun.add(step);
      await flights.put(10);
      if (event !== undefined) {
        await event();
        happened.add(step);
        await flights.put(10);
      }
      // A replay is asked of the operator directly, where chaos does not strike.
      if (step === 'restore.replay' && kills < 5) {
        kills += 1;
        setTimeout(() => aws.functions.kill(output('Operator')), 100 * random());
      }
    });
    await flights.put(200);
    await flights.ask('savepoint', 'create', 'before');
    const cut = await readCut(flights, 'before');
    // All that its children have is behind the cut.
    await splitShard(clients.kinesis, stream, random);
    await flights.put(200);
    await flights.whenDone();
    for (let ticks = 0; ticks < 8 && crashesOf('Coordinator') < 2; ticks += 1) await tick(random);
    let look: Look | undefined;
    const endLooking = beforeSteps(steps, async (step) => {
      if (step === 'restore.plan-replay') look = await lookAt(flights, cut);
    });
    const restored = await flights.ask('restore', 'before', '--yes');
    expect(restored).toMatchObject({ generation: 2, unswept: [] });
    endLooking();
    end();
    const shards = look?.abandoned.map((row) => placeOf(row).shardId);
    expect(shards?.some((shardId) => !cut.has(shardId))).toBe(true);
    expect(look?.passed).toEqual([]);
    expect(happened).toEqual(new Set(Object.keys(events)));

    await flights.finish();
    aws.chaos.change({});
    const plain = computePlainly(flights.puts.map(({ flight }) => flight));
    expect((await compareWith(flights, plain)).differences).toEqual([]);
    expect(listAbandoned(await readSinks(flights), cut)).toEqual([]);
    expect(crashesOf('Operator')).toBeGreaterThan(3);
    expect(crashesOf('Steps')).toBeGreaterThan(1);
    expect(crashesOf('Coordinator')).toBeGreaterThan(1);
  });
});
