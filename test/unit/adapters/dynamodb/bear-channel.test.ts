import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';

import { bearChannel } from '../../../../shared/adapters/dynamodb/bear-channel.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { makeChannel, makeProgress } from '../../../contract/control-store.contract.ts';
import { fakeDynamodb, sdkError } from '../fake-client.ts';

const birth = {
  job: 'flights',
  channel: makeChannel(),
  progress: makeProgress(),
  finishedParentIds: ['shardId-000000000001', 'shardId-000000000002'],
};

function cancelled(...codes: string[]): Error {
  return new TransactionCanceledException({
    message: 'cancelled',
    $metadata: { httpStatusCode: 400 },
    CancellationReasons: codes.map((Code) => ({ Code, Message: 'because' })),
  });
}

/** Bears against a client that throws these errors, one for each request, and then succeeds. */
async function bearWith(...errors: Error[]) {
  const tokens: unknown[] = [];
  const client = fakeDynamodb(({ input }) => {
    tokens.push(input['ClientRequestToken']);
    const error = errors[tokens.length - 1];
    if (error !== undefined) throw error;
    return {};
  });
  const access = { client, table: 't', system: createMemorySystem() };
  return { outcome: await bearChannel(access, birth), tokens };
}

const failed = 'ConditionalCheckFailed';

describe('birth of a channel', () => {
  it.each([
    [[failed, failed, 'None', failed, 'None'], 'job-changed'],
    [['None', failed, 'None', failed, 'None'], 'exists'],
    [['None', 'None', 'None', failed, 'None'], 'parents-unfinished'],
    [['None', 'None', 'None', 'None', failed], 'parents-unfinished'],
    [['TransactionConflict', failed, 'None', 'None', 'None'], 'exists'],
  ] as const)('reads the reasons %j as %s', async (codes, expected) => {
    expect((await bearWith(cancelled(...codes))).outcome).toBe(expected);
  });

  it('tries again where another transaction was in the way, under a new token', async () => {
    const conflict = cancelled('TransactionConflict', 'None', 'None', 'None', 'None');
    const throttled = cancelled('None', 'ThrottlingError', 'None', 'None', 'None');
    const { outcome, tokens } = await bearWith(conflict, throttled);
    expect(outcome).toBe('born');
    expect(new Set(tokens).size).toBe(3);
  });

  it('asks for the same transaction again where its reply was lost', async () => {
    const { outcome, tokens } = await bearWith(
      sdkError('TimeoutError'),
      sdkError('InternalServerError', 500),
    );
    expect(outcome).toBe('born');
    expect(tokens).toHaveLength(3);
    expect(new Set(tokens).size).toBe(1);
  });

  it('is unavailable where conflicts do not end', async () => {
    const conflicts = Array.from({ length: 100 }, () => cancelled('TransactionConflict'));
    const thrown: unknown = await bearWith(...conflicts).catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'unavailable')).toBe(true);
    expect(String(thrown)).toContain('refused 16 times');
  });

  it('is invalid where DynamoDB refuses an item', async () => {
    const refused = cancelled('None', 'ValidationError', 'None', 'None', 'None');
    const thrown: unknown = await bearWith(refused).catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
  });
});
