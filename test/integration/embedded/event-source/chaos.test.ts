import { describe, expect, it } from 'vitest';

import { createChaos } from '../../../../localstack/embedded/chaos.ts';
import { seededRandom } from '../../../../localstack/embedded/seeded-random.ts';
import { pollUntilTrue } from '../poll-until.ts';
import { MemoryStream } from './memory-stream.ts';
import { failure, startTestMapping, success } from './test-mapping.ts';

function streamOf(...ids: string[]): MemoryStream {
  const stream = new MemoryStream('s1');
  for (const id of ids) stream.put('s1', id);
  return stream;
}

const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

describe('chaos settings', () => {
  it('strike never, always, or up to a maximum', () => {
    const random = seededRandom(1);
    const chaos = createChaos({ zombie: 1, recutOnRetry: { probability: 1, atMost: 2 } });
    const strikes = (kind: 'zombie' | 'recutOnRetry' | 'slowStart'): boolean[] =>
      [1, 2, 3].map(() => chaos.strikes(kind, random));
    expect(strikes('slowStart')).toEqual([false, false, false]);
    expect(strikes('zombie')).toEqual([true, true, true]);
    expect(strikes('recutOnRetry')).toEqual([true, true, false]);
    expect(chaos.counts()).toMatchObject({ zombie: 3, recutOnRetry: 2, slowStart: 0 });
  });

  it('give a strike back that came to nothing', () => {
    const random = seededRandom(1);
    const chaos = createChaos({ zombie: { probability: 1, atMost: 1 } });
    expect(chaos.strikes('zombie', random)).toBe(true);
    chaos.takeBack('zombie');
    expect(chaos.strikes('zombie', random)).toBe(true);
    expect(chaos.counts().zombie).toBe(1);
  });

  it('change while everything runs', () => {
    const random = seededRandom(1);
    const chaos = createChaos({ zombie: 1 });
    chaos.change({});
    expect(chaos.strikes('zombie', random)).toBe(false);
  });
});

describe('a mapping under chaos', () => {
  it('delivers successful batches once more', async () => {
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a', 'b', 'c'),
      settings: { batchSize: 1 },
      chaos: { duplicateAfterSuccess: 1 },
    });
    await mapping.whenIdle();
    expect(batches()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    expect(mapping.stats()).toMatchObject({ duplicatesAfterSuccess: 3, redeliveries: 3 });
  });

  it('cuts a retried batch anew', async () => {
    const { mapping, deliveries } = startTestMapping({
      stream: streamOf(...letters),
      settings: { batchSize: 4 },
      chaos: { recutOnRetry: 1 },
      handle: (_delivery, number) => (number <= 6 ? failure() : success()),
    });
    await mapping.whenIdle();
    const retries = deliveries.slice(0, 7);
    expect(new Set(retries.map(({ ids }) => ids[0]))).toEqual(new Set(['a']));
    expect(new Set(retries.map(({ ids }) => ids.length)).size).toBeGreaterThan(1);
    expect(mapping.stats().recuts).toBeGreaterThan(0);
    expect(new Set(deliveries.flatMap(({ ids }) => ids))).toEqual(new Set(letters));
  });

  it('delivers a batch again while its first invocation still runs', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { mapping, batches } = startTestMapping({
      stream: streamOf('a', 'b'),
      settings: { batchSize: 1 },
      chaos: { zombie: { probability: 1, atMost: 1 } },
      async handle(_delivery, number) {
        if (number === 1) await gate.promise;
        return success();
      },
    });
    await pollUntilTrue('the other deliveries', () => batches().length === 3);
    expect(batches()).toEqual(['a', 'a', 'b']);
    expect(mapping.isIdle()).toBe(false);
    gate.resolve(undefined);
    await mapping.whenIdle();
    expect(mapping.stats()).toMatchObject({ zombies: 1, redeliveries: 1, failures: 0 });
  });

  it('restarts by itself and still delivers everything', async () => {
    const { mapping, deliveries } = startTestMapping({
      stream: streamOf(...letters),
      settings: { batchSize: 1 },
      chaos: { restartMapping: 0.5 },
    });
    await mapping.whenIdle();
    expect(mapping.stats().restarts).toBeGreaterThan(0);
    expect(new Set(deliveries.flatMap(({ ids }) => ids))).toEqual(new Set(letters));
  });

  it('asks for a kill within an invocation, and counts only kills that hit', async () => {
    const { mapping, chaos, deliveries } = startTestMapping({
      stream: streamOf('a', 'b', 'c'),
      settings: { batchSize: 1 },
      chaos: { killDuringInvocation: { probability: 1, atMost: 1 } },
      handle({ options }, number) {
        if (number < 3) return success();
        if (options.killAfterMs === undefined) return success();
        options.onKilled?.();
        return failure();
      },
    });
    await mapping.whenIdle();
    expect(
      deliveries.map(({ ids, options }) => [ids[0], options.killAfterMs !== undefined]),
    ).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
      ['c', false],
    ]);
    expect(chaos.counts().killDuringInvocation).toBe(1);
  });

  it('delivers every record at least once, whatever strikes', async () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const stream = new MemoryStream('s1', 's2');
      for (const letter of letters) {
        stream.put('s1', `s1${letter}`);
        stream.put('s2', `s2${letter}`);
      }
      stream.reshard(['s1'], 's3');
      for (const letter of letters) stream.put('s3', `s3${letter}`);
      const random = seededRandom(seed);
      const accepted: string[] = [];
      const { mapping } = startTestMapping({
        stream,
        seed,
        settings: { batchSize: 3 },
        chaos: {
          duplicateAfterSuccess: 0.2,
          recutOnRetry: 0.5,
          zombie: 0.2,
          restartMapping: 0.1,
          childFirst: 0.5,
        },
        async handle({ ids }) {
          await new Promise((resolve) => setTimeout(resolve, random.integerBelow(3)));
          if (random.chance(0.3)) return failure();
          accepted.push(...ids);
          return success();
        },
      });
      await mapping.whenIdle();
      const everything = ['s1', 's2', 's3'].flatMap((shard) =>
        letters.map((letter) => shard + letter),
      );
      expect(new Set(accepted), `seed ${seed}`).toEqual(new Set(everything));
    }
  });
});
