import {
  type CancellationReason,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  type DynamoDbFixture,
  fillTo,
  type Item,
  startDynamoDbFixture,
} from './dynamodb-fixture.ts';
import { failureOf } from './sdk-clients.ts';

let nowMs = 0;
let fixture: DynamoDbFixture;
let TableName: string;

beforeAll(async () => {
  fixture = await startDynamoDbFixture(() => nowMs);
  TableName = fixture.table;
});
afterAll(() => fixture.stop());

const transact = (TransactItems: TransactWriteItem[], ClientRequestToken?: string) =>
  fixture.client.send(
    new TransactWriteItemsCommand({
      TransactItems,
      ...(ClientRequestToken === undefined ? {} : { ClientRequestToken }),
    }),
  );

const put = (item: Item): TransactWriteItem => ({ Put: { TableName, Item: item } });
const putIfAbsent = (item: Item, returnOld = false): TransactWriteItem => ({
  Put: {
    TableName,
    Item: item,
    ConditionExpression: 'attribute_not_exists(pk)',
    ...(returnOld ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}),
  },
});
const increment = (Key: Item): TransactWriteItem => ({
  Update: {
    TableName,
    Key,
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  },
});
const check = (Key: Item, ConditionExpression: string): TransactWriteItem => ({
  ConditionCheck: { TableName, Key, ConditionExpression },
});

async function reasonsOf(promise: Promise<unknown>): Promise<CancellationReason[]> {
  const error = await failureOf(promise);
  expect(error).toBeInstanceOf(TransactionCanceledException);
  return (error as TransactionCanceledException).CancellationReasons ?? [];
}

describe('a transaction', () => {
  it('puts, updates, deletes and checks together', async () => {
    const [made, changed, gone, checked] = [1, 2, 3, 4].map(() => fixture.newKey()) as [
      Item,
      Item,
      Item,
      Item,
    ];
    await Promise.all([changed, gone, checked].map((item) => fixture.put(item)));
    await transact([
      put({ ...made, a: { S: 'x' } }),
      increment(changed),
      { Delete: { TableName, Key: gone } },
      check(checked, 'attribute_exists(pk)'),
    ]);
    expect(await fixture.get(made)).toEqual({ ...made, a: { S: 'x' } });
    expect(await fixture.get(changed)).toEqual({ ...changed, n: { N: '1' } });
    expect(await fixture.get(gone)).toBeUndefined();
    expect(await fixture.get(checked)).toEqual(checked);
  });

  it('writes nothing when one condition fails, and gives a reason for each action in order', async () => {
    const [fresh, taken, counted] = [1, 2, 3].map(() => fixture.newKey()) as [Item, Item, Item];
    await fixture.put(taken);
    const reasons = await reasonsOf(transact([put(fresh), putIfAbsent(taken), increment(counted)]));
    expect(reasons).toEqual([
      { Code: 'None' },
      { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      { Code: 'None' },
    ]);
    expect(await fixture.get(fresh)).toBeUndefined();
    expect(await fixture.get(counted)).toBeUndefined();
  });

  it('hands losing items back under ALL_OLD, for the actions that ask', async () => {
    const [asked, silent] = [fixture.newKey(), fixture.newKey()];
    const item = await fixture.put({ ...asked, v: { N: '5' } });
    await fixture.put(silent);
    const reasons = await reasonsOf(transact([putIfAbsent(asked, true), putIfAbsent(silent)]));
    expect(reasons.map(({ Item: lost }) => lost)).toEqual([item, undefined]);
  });

  it('is cancelled by a check of an absent item', async () => {
    const key = fixture.newKey();
    const reasons = await reasonsOf(
      transact([put(key), check(fixture.newKey(), 'attribute_exists(pk)')]),
    );
    expect(reasons.map(({ Code }) => Code)).toEqual(['None', 'ConditionalCheckFailed']);
    expect(await fixture.get(key)).toBeUndefined();
  });

  it('is cancelled by a key that does not fit its table', async () => {
    const key = fixture.newKey();
    const reasons = await reasonsOf(transact([put(key), increment({ pk: { S: 'no sort key' } })]));
    expect(reasons.map(({ Code }) => Code)).toEqual(['None', 'ValidationError']);
    expect(await fixture.get(key)).toBeUndefined();
  });

  it('lets exactly one of twenty racers over the same two items win', async () => {
    const [one, two] = [fixture.newKey(), fixture.newKey()];
    const racers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => {
        const by = { by: { N: String(n) } };
        const [first, second] = n % 2 === 0 ? [one, two] : [two, one];
        return transact([putIfAbsent({ ...first, ...by }), putIfAbsent({ ...second, ...by })]);
      }),
    );
    const winners = racers.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
    expect(winners).toHaveLength(1);
    const by = { N: String(winners[0]) };
    expect([(await fixture.get(one))?.['by'], (await fixture.get(two))?.['by']]).toEqual([by, by]);
  });

  it('refuses two actions on one item', async () => {
    const key = fixture.newKey();
    const error = await failureOf(transact([put(key), increment(key)]));
    expect(error.message).toBe(
      'Transaction request cannot include multiple operations on one item',
    );
  });

  it('takes a hundred actions and refuses one more', async () => {
    const actions = (count: number) => Array.from({ length: count }, () => put(fixture.newKey()));
    await transact(actions(100));
    expect((await failureOf(transact(actions(101)))).name).toBe('ValidationException');
  });

  it('refuses more than 4 MB and writes none of it', async () => {
    const keys = Array.from({ length: 11 }, () => fixture.newKey());
    const items = keys.map((key) => put({ ...key, fill: fillTo(400_000, key) }));
    const error = await failureOf(transact(items));
    expect(error.message).toMatch(/cannot exceed 4MB/);
    expect(await fixture.get(keys[0] ?? {})).toBeUndefined();
  });

  it('fails as a whole when a table is missing', async () => {
    const key = fixture.newKey();
    const foreign = { Put: { TableName: 'missing', Item: key } };
    expect((await failureOf(transact([put(key), foreign]))).name).toBe('ResourceNotFoundException');
  });

  it('costs twice what plain writes cost, also when it is cancelled', async () => {
    const [small, large] = [fixture.newKey(), fixture.newKey()];
    await fixture.put({ ...large, fill: fillTo(3_000, large) });
    const done = await fixture.measure(() => transact([increment(small), increment(large)]));
    expect(done.writeUnits).toBe(2 * (1 + 3));
    const cancelled = await fixture.measure(() =>
      failureOf(transact([putIfAbsent(large), increment(small)])),
    );
    expect(cancelled.writeUnits).toBe(2 * (3 + 1));
  });
});

describe('a client request token', () => {
  it('makes a repeated transaction do nothing', async () => {
    const key = fixture.newKey();
    await transact([increment(key)], 'repeated');
    await transact([increment(key)], 'repeated');
    expect((await fixture.get(key))?.['n']).toEqual({ N: '1' });
  });

  it('lets a cancelled transaction run again', async () => {
    const key = fixture.newKey();
    const actions = [check(key, 'attribute_exists(pk)'), put(fixture.newKey())];
    await reasonsOf(transact(actions, 'again'));
    await fixture.put(key);
    await transact(actions, 'again');
  });

  it('is refused with other parameters', async () => {
    await transact([put(fixture.newKey())], 'mismatch');
    const error = await failureOf(transact([put(fixture.newKey())], 'mismatch'));
    expect(error.name).toBe('IdempotentParameterMismatchException');
  });

  it('is forgotten after ten minutes', async () => {
    const key = fixture.newKey();
    await transact([increment(key)], 'forgotten');
    nowMs += 10 * 60 * 1000;
    await transact([increment(key)], 'forgotten');
    expect((await fixture.get(key))?.['n']).toEqual({ N: '2' });
  });
});
