import { describe, expect, it } from 'vitest';

import { sendInRounds } from '../../../../shared/adapters/dynamodb/send-rounds.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';

const giveUp = (unsettled: number): Error => new Error(`gave up with ${unsettled}`);

describe('rounds of requests', () => {
  it('end after as many rounds without progress as the policy allows', async () => {
    const system = createMemorySystem();
    let sent = 0;
    const rounds = sendInRounds({
      system,
      count: 3,
      requestSize: 10,
      send: async (numbers) => {
        sent += 1;
        return numbers;
      },
      giveUp,
      policy: { attemptsMax: 4, firstPauseMs: 10, pauseMsMax: 100 },
    });
    await expect(rounds).rejects.toThrow('gave up with 3');
    expect(sent).toBe(4);
  });

  it('go on while each round settles something, up to a bound', async () => {
    const settleOne = async (count: number): Promise<number> => {
      let sent = 0;
      await sendInRounds({
        system: createMemorySystem(),
        count,
        requestSize: 1_000,
        send: async (numbers) => {
          sent += 1;
          return numbers.slice(1);
        },
        giveUp,
        policy: { attemptsMax: 2, firstPauseMs: 1, pauseMsMax: 1 },
      });
      return sent;
    };
    expect(await settleOne(64)).toBe(64);
    await expect(settleOne(65)).rejects.toThrow('gave up with 1');
  });

  it('pause between rounds, longer after each in vain, and not before the first', async () => {
    const pauses: number[] = [];
    const system = {
      ...createMemorySystem(),
      randomVersion: () => 2 ** 40 / 2,
      sleep: async (ms: number) => {
        pauses.push(ms);
      },
    };
    let round = 0;
    await sendInRounds({
      system,
      count: 2,
      requestSize: 2,
      send: async (numbers) => {
        round += 1;
        if (round === 4) return numbers.slice(1);
        return round === 6 ? [] : numbers;
      },
      giveUp,
      policy: { attemptsMax: 9, firstPauseMs: 10, pauseMsMax: 50 },
    });
    expect(pauses).toEqual([10, 20, 25, 5, 10]);
  });
});
