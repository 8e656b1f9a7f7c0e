import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DynamoDBClient,
  QueryCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

import { nodeSystem } from '../../shared/adapters/system/node-system.ts';
import type { System } from '../../shared/ports/system.ts';
import type { VisibleRow } from './sink.contract.ts';

/** The clock and dice of the process, without waiting. */
export const hastySystem: System = { ...nodeSystem, sleep: () => Promise.resolve() };

/** A client that shows the first failure instead of trying again. */
export function connect(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
}

/** Creates a table as all tables of a job are, and returns its name. */
export async function createTable(client: DynamoDBClient): Promise<string> {
  const TableName = `table-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  return TableName;
}

/** All items of a partition, in order of their sort keys. */
export async function queryPartition(
  client: DynamoDBClient,
  table: string,
  partition: string,
): Promise<Record<string, AttributeValue>[]> {
  const items: Record<string, AttributeValue>[] = [];
  let start: Record<string, AttributeValue> | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: partition } },
        ConsistentRead: true,
        ExclusiveStartKey: start,
      }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return items;
}

/** The rows of some keys as somebody reads them who knows the table only. */
export async function readVisibleRows(
  client: DynamoDBClient,
  table: string,
  keys: readonly string[],
): Promise<VisibleRow[]> {
  const rows: VisibleRow[] = [];
  for (const key of keys) {
    for (const item of await queryPartition(client, table, key)) {
      const { pk, sk, _id, _job, _generation, _channel, _position, _order, _deleted, ...value } =
        unmarshall(item) as Record<string, string> & { _generation: number; _deleted?: true };
      if (_deleted === true) continue;
      rows.push({
        key: pk ?? '',
        row: _order === undefined ? '' : (sk ?? ''),
        id: _id ?? '',
        generation: _generation,
        channel: _channel ?? '',
        position: _position ?? '',
        value,
      });
    }
  }
  return rows;
}
