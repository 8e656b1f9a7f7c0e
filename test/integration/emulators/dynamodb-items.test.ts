import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
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
let TableName: string;

beforeAll(async () => {
  fixture = await startDynamoDbFixture();
  TableName = fixture.table;
});
afterAll(() => fixture.stop());

const putIfAbsent = (item: Item, returnOld = false) =>
  fixture.client.send(
    new PutItemCommand({
      TableName,
      Item: item,
      ConditionExpression: 'attribute_not_exists(pk)',
      ...(returnOld ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } : {}),
    }),
  );

async function lostItemOf(promise: Promise<unknown>): Promise<Item | undefined> {
  const error = await failureOf(promise);
  expect(error).toBeInstanceOf(ConditionalCheckFailedException);
  return (error as ConditionalCheckFailedException).Item;
}

describe('conditions', () => {
  it('let exactly one of fifty racers create an item', async () => {
    const key = fixture.newKey();
    const racers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) => putIfAbsent({ ...key, n: { N: String(n) } })),
    );
    const winners = racers.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
    expect(winners).toHaveLength(1);
    expect(await fixture.get(key)).toEqual({ ...key, n: { N: String(winners[0]) } });
  });

  it('let no increment of a version get lost among racers', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, version: { N: '0' } });
    const increment = async (): Promise<void> => {
      const seen = (await fixture.get(key))?.['version']?.N ?? '';
      await fixture.client.send(
        new UpdateItemCommand({
          TableName,
          Key: key,
          UpdateExpression: 'SET version = version + :one',
          ConditionExpression: 'version = :seen',
          ExpressionAttributeValues: { ':one': { N: '1' }, ':seen': { N: seen } },
        }),
      );
    };
    const racers = await Promise.allSettled(Array.from({ length: 30 }, increment));
    const wins = racers.filter(({ status }) => status === 'fulfilled').length;
    expect(wins).toBeGreaterThan(0);
    expect((await fixture.get(key))?.['version']).toEqual({ N: String(wins) });
  });

  it('keep the losing item to themselves unless asked', async () => {
    const item = await fixture.put({ ...fixture.newKey(), a: { S: 'old' } });
    expect(await lostItemOf(putIfAbsent(item))).toBeUndefined();
  });

  it('hand the losing item back to PutItem under ALL_OLD', async () => {
    const item = await fixture.put({ ...fixture.newKey(), a: { S: 'old' } });
    expect(await lostItemOf(putIfAbsent({ ...item, a: { S: 'new' } }, true))).toEqual(item);
  });

  it('hand the losing item back to UpdateItem under ALL_OLD', async () => {
    const key = fixture.newKey();
    const item = await fixture.put({ ...key, version: { N: '7' } });
    const update = new UpdateItemCommand({
      TableName,
      Key: key,
      UpdateExpression: 'SET version = :next',
      ConditionExpression: 'version = :seen',
      ExpressionAttributeValues: { ':next': { N: '7' }, ':seen': { N: '6' } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(await lostItemOf(fixture.client.send(update))).toEqual(item);
  });

  it('hand the losing item back to DeleteItem under ALL_OLD', async () => {
    const key = fixture.newKey();
    const item = await fixture.put({ ...key, version: { N: '7' } });
    const remove = new DeleteItemCommand({
      TableName,
      Key: key,
      ConditionExpression: 'version < :bound',
      ExpressionAttributeValues: { ':bound': { N: '7' } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(await lostItemOf(fixture.client.send(remove))).toEqual(item);
    expect(await fixture.get(key)).toEqual(item);
  });

  it('have no losing item when there is none', async () => {
    const remove = new DeleteItemCommand({
      TableName,
      Key: fixture.newKey(),
      ConditionExpression: 'attribute_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    expect(await lostItemOf(fixture.client.send(remove))).toBeUndefined();
  });

  it('are refused, not answered wrongly, when they compare maps', async () => {
    const item = await fixture.put({ ...fixture.newKey(), m: { M: { a: { S: 'x' } } } });
    const put = new PutItemCommand({
      TableName,
      Item: item,
      ConditionExpression: 'm = :m',
      ExpressionAttributeValues: { ':m': { M: { a: { S: 'x' } } } },
    });
    expect((await failureOf(fixture.client.send(put))).message).toMatch(/cannot compare maps/);
  });
});

describe('limits', () => {
  it('refuse a number of more than 38 digits', async () => {
    const write = fixture.put({ ...fixture.newKey(), n: { N: '4'.repeat(39) } });
    expect((await failureOf(write)).message).toMatch(/more than 38 significant digits/);
  });

  it('refuse a sum of more than 38 digits', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, n: { N: '9'.repeat(38) } });
    const add = new UpdateItemCommand({
      TableName,
      Key: key,
      UpdateExpression: 'ADD n :half',
      ExpressionAttributeValues: { ':half': { N: '0.5' } },
    });
    const error = await failureOf(fixture.client.send(add));
    expect(error.message).toMatch(/more than 38 significant digits/);
    expect((await fixture.get(key))?.['n']).toEqual({ N: '9'.repeat(38) });
  });

  it('take an item of 400 KB and refuse one byte more', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, fill: fillTo(409_600, key) });
    const error = await failureOf(fixture.put({ ...key, fill: fillTo(409_601, key) }));
    expect(error.name).toBe('ValidationException');
  });

  it('measure text in UTF-8', async () => {
    const write = fixture.put({ ...fixture.newKey(), text: { S: 'é'.repeat(210_000) } });
    expect((await failureOf(write)).name).toBe('ValidationException');
  });
});

describe('batches', () => {
  it('read what exists, in another order than it was asked for', async () => {
    const items = await Promise.all([1, 2, 3].map(() => fixture.put(fixture.newKey())));
    const reply = await batchGet([fixture.newKey(), ...items]);
    const found = reply.Responses?.[TableName] ?? [];
    expect(found).toHaveLength(3);
    expect(found).toEqual(expect.arrayContaining(items));
    expect(found).not.toEqual(items);
    expect(reply.UnprocessedKeys).toEqual({});
  });

  it('refuse a key that is asked twice', async () => {
    const key = fixture.newKey();
    const error = await failureOf(batchGet([key, key]));
    expect(error.message).toBe('Provided list of item keys contains duplicates');
  });

  it('leave keys unprocessed past 1 MB of one partition, and repeat how to read them', async () => {
    const partition = fixture.newKey()['pk'] ?? { S: '' };
    const keys = ['1', '2', '3', '4', '5'].map((sk) => ({ pk: partition, sk: { S: sk } }));
    for (const key of keys) await fixture.put({ ...key, fill: { S: 'x'.repeat(300_000) } });
    let request = await batchGet(keys, 'sk');
    const found = [...(request.Responses?.[TableName] ?? [])];
    const left = request.UnprocessedKeys?.[TableName];
    expect(left?.Keys?.length).toBeGreaterThan(0);
    expect(left).toMatchObject({ ConsistentRead: true, ProjectionExpression: 'sk' });
    request = await fixture.client.send(
      new BatchGetItemCommand({ RequestItems: request.UnprocessedKeys ?? {} }),
    );
    found.push(...(request.Responses?.[TableName] ?? []));
    expect(found.map(({ sk }) => sk?.S).sort()).toEqual(['1', '2', '3', '4', '5']);
    expect(found[0]).not.toHaveProperty('fill');
  });

  it('write and delete together', async () => {
    const gone = fixture.newKey();
    const made = fixture.newKey();
    await fixture.put(gone);
    const usage = await fixture.measure(() =>
      fixture.client.send(
        new BatchWriteItemCommand({
          RequestItems: {
            [TableName]: [
              { DeleteRequest: { Key: gone } },
              { PutRequest: { Item: { ...made, fill: fillTo(1_025, made) } } },
            ],
          },
        }),
      ),
    );
    expect(await fixture.get(gone)).toBeUndefined();
    expect(await fixture.get(made)).toBeDefined();
    expect(usage).toMatchObject({ requests: { BatchWriteItem: 1 }, writeUnits: 3 });
  });

  function batchGet(Keys: Item[], projection?: string) {
    const request = { Keys, ConsistentRead: true };
    return fixture.client.send(
      new BatchGetItemCommand({
        RequestItems: {
          [TableName]: projection ? { ...request, ProjectionExpression: projection } : request,
        },
      }),
    );
  }
});

describe('queries', () => {
  it('see what every kind of write has left, in order of the sort key', async () => {
    const { pk = { S: '' } } = fixture.newKey();
    await fixture.put({ pk, sk: { S: 'b' } });
    await fixture.executeBatch({
      Statement: `INSERT INTO "${TableName}" VALUE {'pk': ?, 'sk': ?}`,
      Parameters: [pk, { S: 'a' }],
    });
    const reply = await fixture.client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
      }),
    );
    expect(reply.Items?.map(({ sk }) => sk?.S)).toEqual(['a', 'b']);
  });

  it('come in pages of 1 MB', async () => {
    const { pk = { S: '' } } = fixture.newKey();
    for (const sk of ['1', '2', '3', '4']) {
      await fixture.put({ pk, sk: { S: sk }, fill: { S: 'x'.repeat(390_000) } });
    }
    const query = {
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
    };
    const first = await fixture.client.send(new QueryCommand(query));
    expect(first.Items).toHaveLength(3);
    const second = await fixture.client.send(
      new QueryCommand({ ...query, ExclusiveStartKey: first.LastEvaluatedKey }),
    );
    expect(second.Items?.map(({ sk }) => sk?.S)).toEqual(['4']);
    expect(second.LastEvaluatedKey).toBeUndefined();
  });
});

describe('units', () => {
  it('of a write are 1 KB, rounded up', async () => {
    const key = fixture.newKey();
    const write = (bytes: number) => () => fixture.put({ ...key, fill: fillTo(bytes, key) });
    expect((await fixture.measure(write(1_024))).writeUnits).toBe(1);
    expect((await fixture.measure(write(1_025))).writeUnits).toBe(2);
  });

  it('of an update go by the whole item, the larger of before and after', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, fill: fillTo(10_000, key) });
    const update = (UpdateExpression: string, value?: string) => () =>
      fixture.client.send(
        new UpdateItemCommand({
          TableName,
          Key: key,
          UpdateExpression,
          ...(value === undefined ? {} : { ExpressionAttributeValues: { ':v': { S: value } } }),
        }),
      );
    expect((await fixture.measure(update('SET a = :v', 'x'))).writeUnits).toBe(10);
    expect((await fixture.measure(update('REMOVE fill'))).writeUnits).toBe(10);
    expect((await fixture.measure(update('SET a = :v', 'y'))).writeUnits).toBe(1);
  });

  it('of a failed condition go by the item that is there', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, fill: fillTo(3_000, key) });
    const large = { ...key, fill: fillTo(9_000, key) };
    const lose = () => failureOf(putIfAbsent(large));
    expect((await fixture.measure(lose)).writeUnits).toBe(3);
  });

  it('of a failed condition on an absent item are one', async () => {
    const remove = new DeleteItemCommand({
      TableName,
      Key: fixture.newKey(),
      ConditionExpression: 'attribute_exists(pk)',
    });
    const lose = () => failureOf(fixture.client.send(remove));
    expect((await fixture.measure(lose)).writeUnits).toBe(1);
  });

  it('of a read are 4 KB, half if eventually consistent, one for nothing', async () => {
    const key = fixture.newKey();
    await fixture.put({ ...key, fill: fillTo(4_097, key) });
    const read = (Key: Item, ConsistentRead: boolean) => () =>
      fixture.client.send(new GetItemCommand({ TableName, Key, ConsistentRead }));
    expect((await fixture.measure(read(key, true))).readUnits).toBe(2);
    expect((await fixture.measure(read(key, false))).readUnits).toBe(1);
    expect((await fixture.measure(read(fixture.newKey(), true))).readUnits).toBe(1);
  });

  it('of a batch read are summed by item, missing ones included', async () => {
    const small = await fixture.put(fixture.newKey());
    const key = fixture.newKey();
    await fixture.put({ ...key, fill: fillTo(9_000, key) });
    const Keys = [small, key, fixture.newKey()];
    const read = new BatchGetItemCommand({
      RequestItems: { [TableName]: { Keys, ConsistentRead: true } },
      ReturnConsumedCapacity: 'TOTAL',
    });
    const reply = await fixture.client.send(read);
    expect(reply.ConsumedCapacity).toEqual([{ TableName, CapacityUnits: 1 + 3 + 1 }]);
  });

  it('of a page go by its bytes together, half if eventually consistent, and by half a unit at least', async () => {
    const key = fixture.newKey();
    for (const sk of ['1', '2', '3']) {
      await fixture.put({ ...key, sk: { S: sk }, fill: { S: 'x'.repeat(3_000) } });
    }
    const query = (pk: AttributeValue | undefined, ConsistentRead: boolean) => () =>
      fixture.client.send(
        new QueryCommand({
          TableName,
          ConsistentRead,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': pk ?? { S: '' } },
        }),
      );
    expect((await fixture.measure(query(key['pk'], true))).readUnits).toBe(3);
    expect((await fixture.measure(query(key['pk'], false))).readUnits).toBe(1.5);
    expect((await fixture.measure(query({ S: 'nobody' }, false))).readUnits).toBe(0.5);
    const scan = (ConsistentRead: boolean) => () =>
      fixture.client.send(new ScanCommand({ TableName, ConsistentRead, Limit: 10 }));
    const strong = (await fixture.measure(scan(true))).readUnits;
    expect((await fixture.measure(scan(false))).readUnits).toBe(strong / 2);
  });

  it('are returned to who asks', async () => {
    const key = fixture.newKey();
    const put = new PutItemCommand({
      TableName,
      Item: { ...key, fill: fillTo(2_000, key) },
      ReturnConsumedCapacity: 'TOTAL',
    });
    const reply = await fixture.client.send(put);
    expect(reply.ConsumedCapacity).toEqual({ TableName, CapacityUnits: 2 });
    expect((await fixture.client.send(new ScanCommand({ TableName }))).ConsumedCapacity).toBe(
      undefined,
    );
  });

  it('are counted by operation until they are reset', async () => {
    const usage = await fixture.measure(async () => {
      const item = await fixture.put(fixture.newKey());
      await fixture.get(item);
      await fixture.get(item);
    });
    expect(usage).toEqual({ requests: { PutItem: 1, GetItem: 2 }, writeUnits: 1, readUnits: 2 });
    fixture.emulator.resetStats();
    expect(fixture.emulator.stats()).toEqual({});
  });
});
