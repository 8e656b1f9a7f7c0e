import {
  BatchGetItemCommand,
  CreateTableCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactGetItemsCommand,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createTable, type DynamoDbFixture, startDynamoDbFixture } from './dynamodb-fixture.ts';
import { failureOf } from './sdk-clients.ts';

let fixture: DynamoDbFixture;

beforeAll(async () => {
  fixture = await startDynamoDbFixture();
});
afterAll(() => fixture.stop());

const insertInto = (table: string, pk: string) => ({
  Statement: `INSERT INTO "${table}" VALUE {'pk': ?, 'sk': 's'}`,
  Parameters: [{ S: pk }],
});

describe('tables', () => {
  it('are usable as soon as they are created, and empty when they are created again', async () => {
    const TableName = 'short-lived';
    for (const round of [1, 2]) {
      await createTable(fixture.client, TableName);
      const { Table } = await fixture.client.send(new DescribeTableCommand({ TableName }));
      expect(Table?.TableStatus).toBe('ACTIVE');
      await fixture.executeBatch(insertInto(TableName, `item of round ${round}`));
      const { Items } = await fixture.client.send(new ScanCommand({ TableName }));
      expect(Items?.map(({ pk }) => pk?.S)).toEqual([`item of round ${round}`]);
      await fixture.client.send(new DeleteTableCommand({ TableName }));
      const gone = await failureOf(fixture.client.send(new ScanCommand({ TableName })));
      expect(gone.name).toBe('ResourceNotFoundException');
    }
  });

  it('are created once', async () => {
    const error = await failureOf(createTable(fixture.client, fixture.table));
    expect(error.name).toBe('ResourceInUseException');
  });

  it('keep their indexes in step with every kind of write', async () => {
    const TableName = 'indexed';
    await fixture.client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['pk', 'sk', 'owner'].map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'by-owner',
            KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      }),
    );
    const owned = async (owner: string): Promise<(string | undefined)[]> => {
      const query = new QueryCommand({
        TableName,
        IndexName: 'by-owner',
        KeyConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': { S: owner } },
      });
      const { Items } = await fixture.client.send(query);
      return (Items ?? []).map(({ pk }) => pk?.S);
    };
    await fixture.executeBatch({
      Statement: `INSERT INTO "indexed" VALUE {'pk': 'a', 'sk': 's', 'owner': 'ann'}`,
    });
    expect(await owned('ann')).toEqual(['a']);
    await fixture.executeBatch({
      Statement: `UPDATE "indexed" SET "owner" = 'bob' WHERE "pk" = 'a' AND "sk" = 's'`,
    });
    expect([await owned('ann'), await owned('bob')]).toEqual([[], ['a']]);
    await fixture.executeBatch({
      Statement: `DELETE FROM "indexed" WHERE "pk" = 'a' AND "sk" = 's'`,
    });
    expect(await owned('bob')).toEqual([]);
  });

  it('keep the tags that they are created with', async () => {
    const Tags = [{ Key: 'job', Value: 'orders' }];
    const { TableDescription } = await fixture.client.send(
      new CreateTableCommand({
        TableName: 'tagged',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        Tags,
      }),
    );
    const ResourceArn = TableDescription?.TableArn;
    const reply = await fixture.client.send(new ListTagsOfResourceCommand({ ResourceArn }));
    expect(reply.Tags).toEqual(Tags);
  });

  it('with a stream are refused', async () => {
    const create = new CreateTableCommand({
      TableName: 'streamed',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    });
    expect((await failureOf(fixture.client.send(create))).message).toMatch(/no DynamoDB streams/);
  });

  it('record their point-in-time recovery', async () => {
    const TableName = fixture.table;
    const status = async (): Promise<string | undefined> => {
      const reply = await fixture.client.send(new DescribeContinuousBackupsCommand({ TableName }));
      const { PointInTimeRecoveryDescription } = reply.ContinuousBackupsDescription ?? {};
      return PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
    };
    expect(await status()).toBe('DISABLED');
    await fixture.client.send(
      new UpdateContinuousBackupsCommand({
        TableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    );
    expect(await status()).toBe('ENABLED');
  });
});

describe('time to live', () => {
  it('is recorded, and deletes only when it is told to', async () => {
    const TableName = 'expiring';
    await createTable(fixture.client, TableName);
    const enable = () =>
      fixture.client.send(
        new UpdateTimeToLiveCommand({
          TableName,
          TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
        }),
      );
    await enable();
    expect((await failureOf(enable())).message).toBe('TimeToLive is already enabled');
    const described = await fixture.client.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(described.TimeToLiveDescription).toEqual({
      TimeToLiveStatus: 'ENABLED',
      AttributeName: 'expiresAt',
    });

    const nowSeconds = 2_000_000_000;
    const expiries: Record<string, { N: string } | { S: string }> = {
      due: { N: String(nowSeconds) },
      later: { N: String(nowSeconds + 1) },
      text: { S: String(nowSeconds) },
      ancient: { N: '1000' },
    };
    for (const [pk, expiresAt] of Object.entries(expiries)) {
      const Item = { pk: { S: pk }, sk: { S: 's' }, expiresAt };
      await fixture.client.send(new PutItemCommand({ TableName, Item }));
    }
    fixture.emulator.resetStats();
    expect(await fixture.emulator.expire(nowSeconds * 1000)).toBe(1);
    expect(fixture.emulator.stats()).toEqual({});
    const { Items } = await fixture.client.send(new ScanCommand({ TableName }));
    expect(Items?.map(({ pk }) => pk?.S).sort()).toEqual(['ancient', 'later', 'text']);
  });
});

describe('an operation that is not there', () => {
  it('is unknown, not ignored', async () => {
    const get = { Get: { TableName: fixture.table, Key: fixture.newKey() } };
    const error = await failureOf(
      fixture.client.send(new TransactGetItemsCommand({ TransactItems: [get] })),
    );
    expect(error.name).toBe('UnknownOperationException');
  });
});

describe('faults', () => {
  it('drop before: nothing is written', async () => {
    const key = fixture.newKey();
    const write = fixture.underFault({ kind: 'drop-before' }, () => fixture.put(key));
    expect((await failureOf(write)).name).not.toMatch(/Exception/);
    expect(await fixture.get(key)).toBeUndefined();
  });

  it('drop after: all is written and the reply lost', async () => {
    const [one, two] = [fixture.newKey(), fixture.newKey()];
    const write = fixture.underFault({ kind: 'drop-after' }, () =>
      fixture.executeBatch(
        insertInto(fixture.table, one['pk']?.S ?? ''),
        insertInto(fixture.table, two['pk']?.S ?? ''),
      ),
    );
    expect((await failureOf(write)).name).not.toMatch(/Exception/);
    expect([await fixture.get(one), await fixture.get(two)]).toEqual([one, two]);
  });

  it('delay: the write comes, although its client has given up', async () => {
    const key = fixture.newKey();
    const abort = new AbortController();
    let reached = (): void => undefined;
    const held = new Promise<void>((resolve) => (reached = resolve));
    fixture.emulator.setFaultHook(() => {
      reached();
      return { kind: 'delay', ms: 50 };
    });
    const put = new PutItemCommand({ TableName: fixture.table, Item: key });
    const write = failureOf(fixture.client.send(put, { abortSignal: abort.signal }));
    await held;
    fixture.emulator.setFaultHook(undefined);
    abort.abort();
    expect((await write).name).toBe('AbortError');
    await expect.poll(() => fixture.get(key)).toEqual(key);
  });

  it('throttle: the request is refused for capacity', async () => {
    const key = fixture.newKey();
    const write = fixture.underFault({ kind: 'throttle' }, () => fixture.put(key));
    expect((await failureOf(write)).name).toBe('ProvisionedThroughputExceededException');
    expect(await fixture.get(key)).toBeUndefined();
  });

  it('throttle of some statements: they fail and the others are applied', async () => {
    const [one, two, three] = ['1', '2', '3'].map((name) => `${name}-${fixture.newKey()['pk']?.S}`);
    const responses = await fixture.underFault({ kind: 'throttle', only: [1] }, () =>
      fixture.executeBatch(...[one, two, three].map((pk = '') => insertInto(fixture.table, pk))),
    );
    expect(responses.map(({ Error: error }) => error?.Code)).toEqual([
      undefined,
      'ThrottlingError',
      undefined,
    ]);
    const stored = [one, two, three].map((pk = '') =>
      fixture.get({ pk: { S: pk }, sk: { S: 's' } }),
    );
    expect((await Promise.all(stored)).map((item) => item !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('throttle of some keys: they come back unprocessed', async () => {
    const items = await Promise.all([fixture.put(fixture.newKey()), fixture.put(fixture.newKey())]);
    const reply = await fixture.underFault({ kind: 'throttle', only: [0] }, () =>
      fixture.client.send(
        new BatchGetItemCommand({ RequestItems: { [fixture.table]: { Keys: items } } }),
      ),
    );
    expect(reply.Responses?.[fixture.table]).toEqual([items[1]]);
    expect(reply.UnprocessedKeys?.[fixture.table]?.Keys).toEqual([items[0]]);
  });

  it('are chosen by what the hook sees: operation, table and body', async () => {
    const seen: unknown[] = [];
    const key = fixture.newKey();
    fixture.emulator.setFaultHook(({ operation, table, body }) => {
      seen.push([operation, table, structuredClone(body)]);
      return undefined;
    });
    await fixture.put(key);
    await fixture.executeBatch(insertInto(fixture.table, 'seen'));
    fixture.emulator.setFaultHook(undefined);
    expect(seen).toMatchObject([
      ['PutItem', 'items', { Item: key }],
      ['BatchExecuteStatement', 'items', { Statements: [insertInto(fixture.table, 'seen')] }],
    ]);
  });
});
