import { describe, expect, it } from 'vitest';

import { probeWriteMode } from '../../../../shared/adapters/dynamodb/probe-write-mode.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { fakeDynamodb, sdkError } from '../fake-client.ts';

interface Response {
  readonly Error?: { readonly Code: string };
}

interface Endpoint {
  /** Answers a batch, which is named by the first word of each statement. */
  readonly batch: (words: string, request: number) => readonly Response[];
  /** What the update has set, where it sets less than it is told. */
  readonly forgets?: 'b';
  readonly createsMissing?: true;
}

const failed: Response = { Error: { Code: 'ConditionalCheckFailed' } };

function probe({ batch, forgets, createsMissing }: Endpoint): Promise<string> {
  let text = '';
  let request = 0;
  const client = fakeDynamodb(({ name, input }) => {
    if (name === 'BatchExecuteStatementCommand') {
      const statements = input['Statements'] as {
        Statement: string;
        Parameters: { S: string }[];
      }[];
      const words = statements.map(({ Statement }) => Statement.split(' ')[0]).join();
      if (words === 'UPDATE,UPDATE') text = statements[0]!.Parameters[1]!.S;
      return { Responses: batch(words, request++) };
    }
    const { sk } = input['Key'] as { sk: { S: string } };
    if (sk.S === 'miss') return createsMissing ? { Item: { pk: { S: '!probe' } } } : {};
    return {
      Item: { pk: { S: '!probe' }, a: { S: text }, ...(forgets ? {} : { b: { S: text } }) },
    };
  });
  return probeWriteMode({ client, table: 't', system: createMemorySystem() });
}

const able = (words: string): readonly Response[] => (words === 'INSERT' ? [{}] : [{}, failed]);

describe('probe of the write mode', () => {
  it('finds partiql-batch on an endpoint that does everything', async () => {
    expect(await probe({ batch: able })).toBe('partiql-batch');
  });

  it('finds it where somebody probed before', async () => {
    const duplicate = { Error: { Code: 'DuplicateItem' } };
    const batch = (words: string) => (words === 'INSERT' ? [duplicate] : able(words));
    expect(await probe({ batch })).toBe('partiql-batch');
  });

  it.each<[string, Endpoint]>([
    [
      'does not know the operation',
      {
        batch: () => {
          throw sdkError('UnknownOperationException', 400);
        },
      },
    ],
    [
      'cannot read two SETs',
      {
        batch: (words) => {
          if (words === 'INSERT') return [{}];
          throw sdkError('ValidationException', 400);
        },
      },
    ],
    [
      'refuses two SETs as a statement',
      {
        batch: (words) =>
          words === 'INSERT' ? [{}] : [{ Error: { Code: 'ValidationError' } }, failed],
      },
    ],
    ['takes the first of two SETs only', { batch: able, forgets: 'b' }],
    ['does not report a failed condition', { batch: (w) => (w === 'INSERT' ? [{}] : [{}, {}]) }],
    [
      'fails the statement whose condition holds',
      { batch: (w) => (w === 'INSERT' ? [{}] : [failed, failed]) },
    ],
    ['creates by an update', { batch: able, createsMissing: true }],
    ['answers nothing', { batch: () => [] }],
  ])('finds conditional-put where the endpoint %s', async (_title, endpoint) => {
    expect(await probe(endpoint)).toBe('conditional-put');
  });

  it('asks again where it was throttled or got no answer', async () => {
    const batch = (words: string, request: number): readonly Response[] => {
      if (request === 0) throw sdkError('ThrottlingException', 400);
      if (request === 1) throw sdkError('TimeoutError');
      if (request === 2) return [{ Error: { Code: 'ThrottlingError' } }];
      return able(words);
    };
    expect(await probe({ batch })).toBe('partiql-batch');
  });

  it.each(['AccessDenied', 'ResourceNotFound'])(
    'chooses nothing where it may not ask: %s',
    async (code) => {
      for (const batch of [
        () => [{ Error: { Code: code } }],
        () => {
          throw sdkError(`${code}Exception`, 400);
        },
      ]) {
        const thrown: unknown = await probe({ batch }).catch((error: unknown) => error);
        expect(isHoldfastError(thrown, 'invalid')).toBe(true);
      }
    },
  );
});
