import { describe, expect, it } from 'vitest';

import {
  itemIsAbsent,
  versionIsSeen,
} from '../../../../shared/adapters/dynamodb/condition-clauses.ts';
import type {
  ConditionalWrite,
  WriteOptions,
} from '../../../../shared/adapters/dynamodb/conditional-write.ts';
import { createSingleWriter } from '../../../../shared/adapters/dynamodb/single-writes.ts';
import { createStatementWriter } from '../../../../shared/adapters/dynamodb/statement-batch.ts';
import { createStatementTexts } from '../../../../shared/adapters/dynamodb/statement-text.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { tableKey } from '../../../../shared/adapters/dynamodb/table-keys.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import { fakeDynamodb, sdkError, type SentCommand } from '../fake-client.ts';

const system = createMemorySystem();
const report: WriteOptions = { doing: 'write it', onUnknown: 'report' };
const resend: WriteOptions = { doing: 'write it', onUnknown: 'resend' };

function makeCreates(count: number): ConditionalWrite[] {
  return Array.from({ length: count }, (_, at) => ({
    kind: 'create',
    item: tableKey('p', `s${at}`),
  }));
}

interface SentStatement {
  readonly Statement: string;
  readonly Parameters: { readonly S?: string }[];
}

function statementsOf({ input }: SentCommand): readonly SentStatement[] {
  return input['Statements'] as SentStatement[];
}

/** A client that answers each statement, named by its sort key, with a code or with success. */
function answerStatements(code: (sort: string, request: number) => string | undefined) {
  const requests: string[][] = [];
  const client = fakeDynamodb((command) => {
    const sorts = statementsOf(command).map(({ Parameters }) => Parameters[1]?.S ?? '');
    requests.push(sorts);
    return {
      Responses: sorts.map((sort) => {
        const Code = code(sort, requests.length - 1);
        return Code === undefined ? {} : { Error: { Code, Message: 'because' } };
      }),
    };
  });
  return { writer: createStatementWriter({ client, table: 't', system }), requests };
}

describe('statement batch', () => {
  it('sends 25 statements with a request', async () => {
    const { writer, requests } = answerStatements(() => undefined);
    const results = await writer.write(makeCreates(60), report);
    expect(results).toEqual(Array.from({ length: 60 }, () => 'done'));
    expect(requests.map((request) => request.length)).toEqual([25, 25, 10]);
  });

  it('sends nothing for no writes', async () => {
    const { writer, requests } = answerStatements(() => undefined);
    expect(await writer.write([], report)).toEqual([]);
    expect(requests).toEqual([]);
  });

  it('classifies each statement for itself, in the order of the call', async () => {
    const codes = ['ConditionalCheckFailed', undefined, 'DuplicateItem', 'InternalServerError'];
    const { writer } = answerStatements((sort) => codes[Number(sort.slice(1))]);
    expect(await writer.write(makeCreates(4), report)).toEqual([
      'refused',
      'done',
      'refused',
      'unknown',
    ]);
  });

  it.each([
    'ThrottlingError',
    'ProvisionedThroughputExceeded',
    'RequestLimitExceeded',
    'TransactionConflict',
  ])('sends a statement again after %s', async (code) => {
    const { writer, requests } = answerStatements((sort, request) =>
      sort === 's1' && request < 2 ? code : undefined,
    );
    expect(await writer.write(makeCreates(3), report)).toEqual(['done', 'done', 'done']);
    expect(requests).toEqual([['s0', 's1', 's2'], ['s1'], ['s1']]);
  });

  it('sends a statement without an answer again only where it is told to', async () => {
    const code = (sort: string, request: number): string | undefined =>
      sort === 's0' && request === 0 ? 'InternalServerError' : undefined;
    const reporting = answerStatements(code);
    expect(await reporting.writer.write(makeCreates(2), report)).toEqual(['unknown', 'done']);
    const resending = answerStatements(code);
    expect(await resending.writer.write(makeCreates(2), resend)).toEqual(['done', 'done']);
    expect(resending.requests).toEqual([['s0', 's1'], ['s0']]);
  });

  it('takes statements that the reply does not speak of as unknown', async () => {
    const client = fakeDynamodb(() => ({ Responses: [{}] }));
    const writer = createStatementWriter({ client, table: 't', system });
    expect(await writer.write(makeCreates(3), report)).toEqual(['done', 'unknown', 'unknown']);
  });

  it.each([
    ['ValidationError', 'invalid'],
    ['ItemCollectionSizeLimitExceeded', 'invalid'],
    ['AccessDenied', 'invalid'],
    ['ResourceNotFound', 'invalid'],
  ] as const)('throws for %s and names the item', async (code, kind) => {
    const { writer } = answerStatements((sort) => (sort === 's1' ? code : undefined));
    const thrown: unknown = await writer.write(makeCreates(3), report).catch((e: unknown) => e);
    expect(isHoldfastError(thrown, kind)).toBe(true);
    expect(String(thrown)).toContain('write it, item ["p","s1"]');
    expect(String(thrown)).toContain('because');
  });

  it('gives up where throttling does not end, and says how much is left', async () => {
    const { writer, requests } = answerStatements((sort) =>
      sort === 's2' ? 'ThrottlingError' : undefined,
    );
    await expect(writer.write(makeCreates(4), report)).rejects.toThrow(
      /1 of 4 writes were refused/,
    );
    // One round that settled three of them, and as many in vain as the policy allows.
    expect(requests).toHaveLength(1 + 8);
  });

  it('has at most eight requests under way, and keeps them busy', async () => {
    let underWay = 0;
    let most = 0;
    const client = fakeDynamodb(async (command) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      await Promise.resolve();
      underWay -= 1;
      return { Responses: statementsOf(command).map(() => ({})) };
    });
    const writer = createStatementWriter({ client, table: 't', system });
    await writer.write(makeCreates(25 * 30), report);
    expect(most).toBe(8);
  });

  it('begins no request after one that throws, and waits for those under way', async () => {
    let begun = 0;
    let ended = 0;
    const client = fakeDynamodb(async (command) => {
      begun += 1;
      const isFirst = begun === 1;
      if (isFirst) throw sdkError('ValidationException', 400);
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      ended += 1;
      return { Responses: statementsOf(command).map(() => ({})) };
    });
    const writer = createStatementWriter({ client, table: 't', system });
    await expect(writer.write(makeCreates(25 * 30), report)).rejects.toThrow(/ValidationException/);
    expect(begun).toBe(8);
    expect(ended).toBe(7);
  });
});

describe('single writes', () => {
  const makeWriter = (answer: (command: SentCommand) => unknown) =>
    createSingleWriter({ client: fakeDynamodb(answer), table: 't', system });

  it('send the same conditions as requests of their own', async () => {
    const sent: SentCommand[] = [];
    const writer = makeWriter((command) => {
      sent.push(command);
      return {};
    });
    const item = { ...tableKey('p', 's'), v: { N: '2' } };
    const rule = { condition: versionIsSeen, removable: ['ttl'] };
    await writer.write(
      [
        { kind: 'create', item },
        { kind: 'replace', item, rule, values: [{ N: '1' }] },
        {
          kind: 'patch',
          key: tableKey('p', 's'),
          changes: { ttl: { N: '9' } },
          condition: versionIsSeen,
          values: [{ N: '2' }],
        },
      ],
      report,
    );
    expect(sent).toEqual([
      {
        name: 'PutItemCommand',
        input: {
          TableName: 't',
          Item: item,
          ConditionExpression: itemIsAbsent.expression,
          ExpressionAttributeNames: { '#pk': 'pk' },
        },
      },
      {
        name: 'PutItemCommand',
        input: {
          TableName: 't',
          Item: item,
          ConditionExpression: '#v = :c0',
          ExpressionAttributeNames: { '#v': 'v' },
          ExpressionAttributeValues: { ':c0': { N: '1' } },
        },
      },
      {
        name: 'UpdateItemCommand',
        input: {
          TableName: 't',
          Key: tableKey('p', 's'),
          UpdateExpression: 'SET #s0 = :s0',
          ConditionExpression: '#v = :c0',
          ExpressionAttributeNames: { '#v': 'v', '#s0': 'ttl' },
          ExpressionAttributeValues: { ':c0': { N: '2' }, ':s0': { N: '9' } },
        },
      },
    ]);
  });

  it('are judged like statements', async () => {
    const errors: (Error | undefined)[] = [
      sdkError('ConditionalCheckFailedException', 400),
      sdkError('TimeoutError'),
      sdkError('ThrottlingException', 400),
    ];
    const writer = makeWriter(() => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return {};
    });
    expect(await writer.write(makeCreates(3), report)).toEqual(['refused', 'unknown', 'done']);
    errors.push(sdkError('TimeoutError'));
    expect(await writer.write(makeCreates(1), resend)).toEqual(['done']);
  });
});

describe('statement texts', () => {
  const makeStatement = createStatementTexts('my.table');
  const rule = { condition: versionIsSeen, removable: ['s', 'd', 'ttl'] };
  const item = { ...tableKey('p', 's'), v: { N: '2' }, d: { BOOL: true } };

  it('create with INSERT', () => {
    expect(makeStatement({ kind: 'create', item })).toEqual({
      Statement: `INSERT INTO "my.table" VALUE {'pk':?,'sk':?,'v':?,'d':?}`,
      Parameters: [{ S: 'p' }, { S: 's' }, { N: '2' }, { BOOL: true }],
    });
  });

  it('replace with an UPDATE that removes what the new item lacks', () => {
    expect(makeStatement({ kind: 'replace', item, rule, values: [{ N: '1' }] })).toEqual({
      Statement: `UPDATE "my.table" SET "v"=? SET "d"=? REMOVE "s" REMOVE "ttl" WHERE "pk"=? AND "sk"=? AND "v"=?`,
      Parameters: [{ N: '2' }, { BOOL: true }, { S: 'p' }, { S: 's' }, { N: '1' }],
    });
  });

  it('patch with an UPDATE that removes nothing', () => {
    const statement = makeStatement({
      kind: 'patch',
      key: tableKey('p', 's'),
      changes: { ttl: { N: '9' } },
      condition: versionIsSeen,
      values: [{ N: '2' }],
    });
    expect(statement).toEqual({
      Statement: `UPDATE "my.table" SET "ttl"=? WHERE "pk"=? AND "sk"=? AND "v"=?`,
      Parameters: [{ N: '9' }, { S: 'p' }, { S: 's' }, { N: '2' }],
    });
  });

  it('differ with the attributes of the item and with the rule', () => {
    const other = { condition: versionIsSeen, removable: ['x'] };
    const texts = [
      makeStatement({ kind: 'replace', item, rule, values: [] }),
      makeStatement({ kind: 'replace', item: { ...item, s: { S: '' } }, rule, values: [] }),
      makeStatement({ kind: 'replace', item, rule: other, values: [] }),
      makeStatement({ kind: 'create', item }),
    ].map(({ Statement }) => Statement);
    expect(new Set(texts).size).toBe(4);
  });
});
