import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it, onTestFinished } from 'vitest';

import { openDynamoDbStore } from '../../../localstack/embedded/emulators/dynamodb-store.ts';

describe('writers of the store', () => {
  it('run one after the other, a failed one too', async () => {
    const store = await openDynamoDbStore();
    onTestFinished(() => store.close());
    const log: string[] = [];
    const write = (name: string, waitMs: number) =>
      store.exclusively(async () => {
        log.push(`${name} starts`);
        await sleep(waitMs);
        log.push(`${name} ends`);
        if (name === 'first') throw new Error('first fails');
        return name;
      });
    const results = await Promise.allSettled([write('first', 20), write('second', 0)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(log).toEqual(['first starts', 'first ends', 'second starts', 'second ends']);
  });
});
