import { describe, expect, it } from 'vitest';
import { createDynamodbDeadLetters } from '../../../../shared/adapters/dynamodb/dynamodb-dead-letters.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import type { Channel } from '../../../../shared/core/channel.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { fakeDynamodb, sdkError, type SentCommand } from '../fake-client.ts';

const channel: Channel = {
  operator: 'totals',
  stream: { name: 'orders', createdAtMs: 7 },
  shardId: 'shardId-1',
};

function openTable(answer: (command: SentCommand) => unknown) {
  const client = fakeDynamodb(answer);
  return createDynamodbDeadLetters({ client, table: 't', system: createMemorySystem() });
}

describe('dead letters', () => {
  it('are read from their end, by one consistent request', async () => {
    const sent: SentCommand[] = [];
    const letters = openTable((command) => {
      sent.push(command);
      const item = { sk: { S: '8' }, reason: { S: 'operator-failed' }, message: { S: 'no' } };
      return { Items: [item], LastEvaluatedKey: { pk: { S: 'p' }, sk: { S: '8' } } };
    });
    expect(await letters.readNewest(channel, '7', 1)).toEqual([
      { place: '8', reason: 'operator-failed', message: 'no' },
    ]);
    expect(sent.map(({ input }) => input)).toEqual([
      expect.objectContaining({
        KeyConditionExpression: 'pk = :pk AND sk > :after',
        ExpressionAttributeValues: {
          ':pk': { S: 'totals#totals/orders@7/shardId-1' },
          ':after': { S: '7' },
        },
        ...{ ScanIndexForward: false, ConsistentRead: true, Limit: 1 },
      }),
    ]);
    await letters.readNewest(channel, undefined, 1);
    expect(sent[1]!.input['KeyConditionExpression']).toBe('pk = :pk');
  });

  it('say where they were to be read from when they cannot be', async () => {
    const letters = openTable(() => {
      throw sdkError('ResourceNotFoundException', 400);
    });
    const thrown: unknown = await letters
      .readNewest(channel, undefined, 1)
      .catch((error: unknown) => error);
    expect(isHoldfastError(thrown)).toBe(true);
    expect(String(thrown)).toContain('read the dead letters of totals#totals/orders@7/shardId-1');
  });
});
