import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  ConditionalCheckFailedException,
  ExecuteStatementCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  type DynamoDbFixture,
  fillTo,
  type Item,
  startDynamoDbFixture,
} from './dynamodb-fixture.ts';
import { failureOf } from './sdk-clients.ts';

let fixture: DynamoDbFixture;

beforeAll(async () => {
  fixture = await startDynamoDbFixture();
});
afterAll(() => fixture.stop());

const keyOf = ({ pk = { S: '' }, sk = { S: '' } }: Item): [AttributeValue, AttributeValue] => [
  pk,
  sk,
];
const listMembers = (item: Item): string =>
  Object.keys(item)
    .map((name) => `'${name}': ?`)
    .join(', ');
const insert = (item: Item): BatchStatementRequest => ({
  Statement: `INSERT INTO "items" VALUE {${listMembers(item)}}`,
  Parameters: Object.values(item),
});
/** `UPDATE … <changes> WHERE <key> <condition>`; the key's parameters go between the others. */
const update = (
  key: Item,
  changes: string,
  values: AttributeValue[],
  condition = '',
  ...bounds: AttributeValue[]
): BatchStatementRequest => ({
  Statement: `UPDATE "items" ${changes} WHERE "pk" = ? AND "sk" = ? ${condition}`,
  Parameters: [...values, ...keyOf(key), ...bounds],
});
const remove = (key: Item, condition = '', ...bounds: AttributeValue[]): BatchStatementRequest => ({
  Statement: `DELETE FROM "items" WHERE "pk" = ? AND "sk" = ? ${condition}`,
  Parameters: [...keyOf(key), ...bounds],
});
const select = (key: Item): BatchStatementRequest => ({
  Statement: 'SELECT * FROM "items" WHERE "pk" = ? AND "sk" = ?',
  Parameters: keyOf(key),
});

async function runOne(statement: BatchStatementRequest) {
  const [response] = await fixture.executeBatch(statement);
  if (response === undefined) throw new Error('no response');
  return response;
}
const codeOf = async (statement: BatchStatementRequest): Promise<string | undefined> =>
  (await runOne(statement)).Error?.Code;

describe('a batch', () => {
  it('applies what can be applied and reports the rest in place', async () => {
    const [fresh, taken, known, stale] = [1, 2, 3, 4].map(() => fixture.newKey()) as [
      Item,
      Item,
      Item,
      Item,
    ];
    await fixture.put({ ...taken, v: { N: '1' } });
    await fixture.put({ ...known, v: { N: '1' } });
    await fixture.put({ ...stale, v: { N: '2' } });
    const responses = await fixture.executeBatch(
      insert(fresh),
      insert(taken),
      update(known, 'SET "v" = ?', [{ N: '2' }], 'AND "v" = ?', { N: '1' }),
      update(stale, 'SET "v" = ?', [{ N: '2' }], 'AND "v" = ?', { N: '1' }),
    );
    expect(responses.map(({ Error: error }) => error?.Code)).toEqual([
      undefined,
      'DuplicateItem',
      undefined,
      'ConditionalCheckFailed',
    ]);
    expect(responses.map(({ TableName }) => TableName)).toEqual(Array(4).fill('items'));
    expect(await fixture.get(fresh)).toEqual(fresh);
    expect((await fixture.get(known))?.['v']).toEqual({ N: '2' });
    expect((await fixture.get(stale))?.['v']).toEqual({ N: '2' });
  });

  it('mixes INSERT, UPDATE and DELETE', async () => {
    const [made, changed, gone] = [1, 2, 3].map(() => fixture.newKey()) as [Item, Item, Item];
    await fixture.put(changed);
    await fixture.put(gone);
    const responses = await fixture.executeBatch(
      insert(made),
      update(changed, 'SET "a" = ?', [{ S: 'x' }]),
      remove(gone),
    );
    expect(responses.every(({ Error: error }) => error === undefined)).toBe(true);
    expect(await fixture.get(gone)).toBeUndefined();
  });

  it('refuses the whole request when a key comes twice', async () => {
    const key = fixture.newKey();
    const error = await failureOf(fixture.executeBatch(insert(key), remove(key)));
    expect(error.name).toBe('ValidationException');
    expect(error.message).toBe('Provided list of item keys contains duplicates');
    expect(await fixture.get(key)).toBeUndefined();
  });

  it('takes 25 statements and refuses one more', async () => {
    const inserts = (count: number) =>
      Array.from({ length: count }, () => insert(fixture.newKey()));
    expect(await fixture.executeBatch(...inserts(25))).toHaveLength(25);
    expect((await failureOf(fixture.executeBatch(...inserts(26)))).name).toBe(
      'ValidationException',
    );
  });

  it('refuses reads mixed with writes', async () => {
    const batch = fixture.executeBatch(select(fixture.newKey()), insert(fixture.newKey()));
    expect((await failureOf(batch)).name).toBe('ValidationException');
  });

  it('reads items by their keys', async () => {
    const item = await fixture.put({ ...fixture.newKey(), a: { L: [{ BOOL: true }] } });
    const responses = await fixture.executeBatch(select(item), select(fixture.newKey()));
    expect(responses.map(({ Item: found }) => found)).toEqual([item, undefined]);
  });

  it('lets exactly one of twenty racing batches insert each item', async () => {
    const keys = Array.from({ length: 10 }, () => fixture.newKey());
    const racers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        fixture.executeBatch(...keys.map((key) => insert({ ...key, by: { N: String(n) } }))),
      ),
    );
    for (const [position, key] of keys.entries()) {
      const winners = racers.flatMap((responses, n) =>
        responses[position]?.Error === undefined ? [n] : [],
      );
      expect(winners).toHaveLength(1);
      expect((await fixture.get(key))?.['by']).toEqual({ N: String(winners[0]) });
    }
  });

  it('costs the sum of its statements, failed ones included', async () => {
    const [fresh, taken, known] = [1, 2, 3].map(() => fixture.newKey()) as [Item, Item, Item];
    await fixture.put({ ...taken, fill: fillTo(3_000, taken) });
    await fixture.put({ ...known, fill: fillTo(5_000, known) });
    fixture.emulator.resetStats();
    const reply = await fixture.client.send(
      new BatchExecuteStatementCommand({
        Statements: [
          insert(fresh),
          insert(taken),
          update(known, 'SET "a" = ?', [{ S: 'x' }]),
          update(fixture.newKey(), 'SET "a" = ?', [{ S: 'x' }]),
        ],
        ReturnConsumedCapacity: 'TOTAL',
      }),
    );
    expect(reply.ConsumedCapacity).toEqual([{ TableName: 'items', CapacityUnits: 1 + 3 + 5 + 1 }]);
    expect(fixture.emulator.stats()).toEqual({
      items: { requests: { BatchExecuteStatement: 1 }, writeUnits: 10, readUnits: 0 },
    });
  });
});

describe('INSERT', () => {
  it('writes every type of value', async () => {
    const item: Item = {
      ...fixture.newKey(),
      s: { S: "it's" },
      n: { N: '-1.5' },
      b: { B: new Uint8Array([0, 255]) },
      yes: { BOOL: true },
      none: { NULL: true },
      list: { L: [{ S: 'a' }, { N: '1' }] },
      map: { M: { inner: { S: 'x' } } },
      strings: { SS: ['a', 'b'] },
    };
    await runOne(insert(item));
    expect(await fixture.get(item)).toEqual(item);
  });

  it('reads literals as it reads parameters', async () => {
    const key = fixture.newKey();
    const response = await runOne({
      Statement: `INSERT INTO items VALUE {'pk': ?, 'sk': 's', 'a': 'it''s', 'n': -12, 'f': FALSE,
        'z': NULL, 'l': [1, ?], 'm': {'x': {'y': 'deep'}}, 't': <<'p', 'q'>>}`,
      Parameters: [keyOf(key)[0], { S: 'in list' }],
    });
    expect(response.Error).toBeUndefined();
    expect(await fixture.get(key)).toEqual({
      ...key,
      a: { S: "it's" },
      n: { N: '-12' },
      f: { BOOL: false },
      z: { NULL: true },
      l: { L: [{ N: '1' }, { S: 'in list' }] },
      m: { M: { x: { M: { y: { S: 'deep' } } } } },
      t: { SS: ['p', 'q'] },
    });
  });

  it('of an existing key is a DuplicateItem and changes nothing', async () => {
    const item = await fixture.put({ ...fixture.newKey(), a: { S: 'old' } });
    const response = await runOne(insert({ ...item, a: { S: 'new' } }));
    expect(response.Error).toEqual({
      Code: 'DuplicateItem',
      Message: 'Duplicate primary key exists in table',
    });
    expect(await fixture.get(item)).toEqual(item);
  });

  it('without the whole key is a ValidationError', async () => {
    expect(await codeOf(insert({ pk: { S: 'alone' } }))).toBe('ValidationError');
  });

  it('of more than 400 KB is a ValidationError of that statement alone', async () => {
    const [large, small] = [fixture.newKey(), fixture.newKey()];
    const responses = await fixture.executeBatch(
      insert({ ...large, fill: fillTo(409_601, large) }),
      insert(small),
    );
    expect(responses.map(({ Error: error }) => error?.Code)).toEqual([
      'ValidationError',
      undefined,
    ]);
    expect(await fixture.get(large)).toBeUndefined();
    expect(await fixture.get(small)).toEqual(small);
  });

  it('of a number with more than 38 digits is a ValidationError', async () => {
    const item = { ...fixture.newKey(), n: { N: '4'.repeat(56) } };
    expect(await codeOf(insert(item))).toBe('ValidationError');
  });
});

describe('UPDATE', () => {
  it('never creates an item, whatever its condition', async () => {
    for (const condition of ['', 'AND attribute_not_exists("pk")', 'AND "pk" IS MISSING']) {
      const key = fixture.newKey();
      const response = await runOne(update(key, 'SET "v" = ?', [{ N: '1' }], condition));
      expect(response.Error, condition).toEqual({
        Code: 'ConditionalCheckFailed',
        Message: 'The conditional request failed',
      });
      expect(await fixture.get(key), condition).toBeUndefined();
    }
  });

  it('sets with repeated SET, with commas, and removes', async () => {
    for (const changes of [
      'SET "a" = ? SET "b" = ? REMOVE "c"',
      'SET "a" = ?, "b" = ? REMOVE "c"',
    ]) {
      const key = fixture.newKey();
      await fixture.put({ ...key, a: { S: 'old' }, c: { S: 'old' }, d: { S: 'kept' } });
      const response = await runOne(update(key, changes, [{ S: 'new' }, { L: [] }]));
      expect(response.Error, changes).toBeUndefined();
      expect(await fixture.get(key), changes).toEqual({
        ...key,
        a: { S: 'new' },
        b: { L: [] },
        d: { S: 'kept' },
      });
    }
  });

  it('reaches into documents and adds numbers', async () => {
    const key = fixture.newKey();
    await fixture.put({
      ...key,
      n: { N: '40' },
      m: { M: { l: { L: [{ S: 'a' }, { S: 'b' }] } } },
    });
    await runOne(update(key, 'SET n = n + ? SET "m"."l"[1] = ?', [{ N: '2' }, { S: 'c' }]));
    expect(await fixture.get(key)).toEqual({
      ...key,
      n: { N: '42' },
      m: { M: { l: { L: [{ S: 'a' }, { S: 'c' }] } } },
    });
  });

  it('hands the losing item back under ALL_OLD, for the statement that asks', async () => {
    const [asked, silent] = [fixture.newKey(), fixture.newKey()];
    const item = await fixture.put({ ...asked, v: { N: '2' } });
    await fixture.put({ ...silent, v: { N: '2' } });
    const lose = (key: Item) => update(key, 'SET "v" = ?', [{ N: '2' }], 'AND "v" = ?', { N: '1' });
    const responses = await fixture.executeBatch(
      { ...lose(asked), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
      lose(silent),
    );
    expect(responses.map(({ Error: error }) => error?.Item)).toEqual([item, undefined]);
  });

  it('of a key attribute is a ValidationError', async () => {
    const item = await fixture.put(fixture.newKey());
    expect(await codeOf(update(item, 'SET "sk" = ?', [{ S: 'other' }]))).toBe('ValidationError');
  });

  it('of overlapping paths is a ValidationError', async () => {
    const item = await fixture.put(fixture.newKey());
    const twice = update(item, 'SET "a" = ? SET "a"."b" = ?', [{ S: '1' }, { S: '2' }]);
    expect(await codeOf(twice)).toBe('ValidationError');
  });

  it('that would pass 400 KB is a ValidationError and changes nothing', async () => {
    const key = fixture.newKey();
    const item = await fixture.put({ ...key, fill: fillTo(400_000, key) });
    const grow = update(key, 'SET "more" = ?', [{ S: 'x'.repeat(20_000) }]);
    expect(await codeOf(grow)).toBe('ValidationError');
    expect(await fixture.get(key)).toEqual(item);
  });
});

describe('DELETE', () => {
  it('of an absent item succeeds, even under a condition', async () => {
    expect((await runOne(remove(fixture.newKey(), 'AND "v" = ?', { N: '1' }))).Error).toBe(
      undefined,
    );
  });

  it('under a false condition is a ConditionalCheckFailed', async () => {
    const item = await fixture.put({ ...fixture.newKey(), v: { N: '2' } });
    expect(await codeOf(remove(item, 'AND "v" = ?', { N: '1' }))).toBe('ConditionalCheckFailed');
    expect(await fixture.get(item)).toEqual(item);
  });
});

describe('a condition', () => {
  const stored = {
    n: { N: '10' },
    s: { S: 'm' },
    flag: { BOOL: true },
    list: { L: [{ N: '1' }] },
    map: { M: { inner: { N: '3' } } },
  };

  it.each([
    ['"n" = ?', [{ N: '10.0' }]],
    ['? = "n"', [{ N: '10' }]],
    ['"n" <> ?', [{ N: '9' }]],
    ['"n" != ?', [{ N: '9' }]],
    ['"n" > ? AND "n" < ?', [{ N: '9' }, { N: '11' }]],
    ['"n" >= ? AND "n" <= ?', [{ N: '10' }, { N: '10' }]],
    ['"n" BETWEEN ? AND ?', [{ N: '2' }, { N: '10' }]],
    ['"s" IN [?, ?]', [{ S: 'a' }, { S: 'm' }]],
    ['"s" < ?', [{ S: 'n' }]],
    ['"flag" = TRUE', []],
    ['NOT "n" = ?', [{ N: '9' }]],
    ['("n" = ? OR "s" = ?)', [{ N: '0' }, { S: 'm' }]],
    ['("n" = ? OR ("s" = ? AND NOT ("n" < ?)))', [{ N: '0' }, { S: 'm' }, { N: '5' }]],
    ['"gone" IS MISSING', []],
    ['"n" IS NOT MISSING', []],
    ['attribute_exists("n")', []],
    ['attribute_not_exists("gone")', []],
    ['attribute_type("n", ?)', [{ S: 'N' }]],
    ['begins_with("s", ?)', [{ S: 'm' }]],
    ['contains("list", ?)', [{ N: '1' }]],
    ['size("s") = ?', [{ N: '1' }]],
    ['"map"."inner" = ?', [{ N: '3' }]],
    ['"list"[0] = ?', [{ N: '1' }]],
  ] as [string, AttributeValue[]][])(
    '%s holds, and its negation does not',
    async (text, bounds) => {
      const key = fixture.newKey();
      await fixture.put({ ...key, ...stored });
      const set = (condition: string) =>
        codeOf(update(key, 'SET "hit" = ?', [{ BOOL: true }], `AND ${condition}`, ...bounds));
      expect(await set(`(${text})`)).toBeUndefined();
      expect(await set(`NOT (${text})`)).toBe('ConditionalCheckFailed');
    },
  );

  it('binds AND stronger than OR', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, ...stored });
    const text = 'AND ("n" = 10 OR "s" = \'x\' AND "s" = \'y\')';
    expect(await codeOf(update(key, 'SET "hit" = 1', [], text))).toBeUndefined();
  });

  it('of another type than the attribute is false', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, ...stored });
    const compare = update(key, 'SET "hit" = 1', [], 'AND "n" = ?', { S: '10' });
    expect(await codeOf(compare)).toBe('ConditionalCheckFailed');
  });
});

describe('a statement that cannot run', () => {
  it.each([
    ['a syntax error', 'UPDATE "items" SET WHERE "pk" = ?', [{ S: 'x' }]],
    ['no sort key', 'DELETE FROM "items" WHERE "pk" = ?', [{ S: 'x' }]],
    [
      'an OR over the key',
      'DELETE FROM "items" WHERE "pk" = ? OR "sk" = ?',
      [{ S: 'x' }, { S: 'y' }],
    ],
    ['too few parameters', 'DELETE FROM "items" WHERE "pk" = ? AND "sk" = ?', [{ S: 'x' }]],
    [
      'too many parameters',
      'DELETE FROM "items" WHERE "pk" = \'x\' AND "sk" = ?',
      [{ S: 'x' }, { S: 'y' }],
    ],
    [
      'a key of another type',
      'DELETE FROM "items" WHERE "pk" = ? AND "sk" = ?',
      [{ S: 'x' }, { N: '1' }],
    ],
    [
      'an unknown function',
      'DELETE FROM "items" WHERE "pk" = ? AND "sk" = ? AND f("a") = 1',
      [{ S: 'x' }, { S: 'y' }],
    ],
    ['an open string', 'DELETE FROM "items" WHERE "pk" = \'x', []],
  ] as [string, string, AttributeValue[]][])(
    '%s is a ValidationError',
    async (_, Statement, values) => {
      const request = values.length === 0 ? { Statement } : { Statement, Parameters: values };
      const responses = await fixture.executeBatch(request, insert(fixture.newKey()));
      expect(responses.map(({ Error: error }) => error?.Code)).toEqual([
        'ValidationError',
        undefined,
      ]);
    },
  );

  it('is a ValidationError when it is longer than 8192 characters', async () => {
    const padded = (length: number): BatchStatementRequest => {
      const { Statement = '', Parameters } = insert(fixture.newKey());
      return { Statement: Statement.padEnd(length), Parameters };
    };
    expect(await codeOf(padded(8_192))).toBeUndefined();
    expect(await codeOf(padded(8_193))).toBe('ValidationError');
  });

  it('is a ResourceNotFound when its table is missing', async () => {
    const Statement = 'DELETE FROM "missing" WHERE "pk" = \'a\' AND "sk" = \'b\'';
    expect(await codeOf({ Statement })).toBe('ResourceNotFound');
  });
});

describe('ExecuteStatement', () => {
  const execute = (statement: BatchStatementRequest) =>
    fixture.client.send(new ExecuteStatementCommand(statement));

  it('reads one item', async () => {
    const item = await fixture.put({ ...fixture.newKey(), a: { S: 'x' } });
    expect((await execute(select(item))).Items).toEqual([item]);
  });

  it('throws what a batch reports', async () => {
    const item = await fixture.put({ ...fixture.newKey(), v: { N: '2' } });
    expect((await failureOf(execute(insert(item)))).name).toBe('DuplicateItemException');
    const lost = await failureOf(
      execute({
        ...update(item, 'SET "v" = ?', [{ N: '2' }], 'AND "v" = ?', { N: '1' }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    expect(lost).toBeInstanceOf(ConditionalCheckFailedException);
    expect((lost as ConditionalCheckFailedException).Item).toEqual(item);
  });

  it('returns what RETURNING asks for', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, v: { N: '1' } });
    const { Statement = '', Parameters } = update(key, 'SET "v" = ?', [{ N: '2' }]);
    const reply = await execute({ Statement: `${Statement} RETURNING ALL NEW *`, Parameters });
    expect(reply.Items).toEqual([{ ...key, v: { N: '2' } }]);
  });
});
