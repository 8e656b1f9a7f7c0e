import { randomUUID } from 'node:crypto';

import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  type BatchStatementResponse,
  CreateTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';

import {
  type DynamoDbEmulator,
  startDynamoDb,
} from '../../../localstack/embedded/emulators/dynamodb.ts';
import type { Fault } from '../../../localstack/embedded/emulators/faults.ts';
import type { TableUsage } from '../../../localstack/embedded/emulators/usage.ts';
import { connectDynamoDb } from './sdk-clients.ts';

export type Item = Record<string, AttributeValue>;

/** An emulator with one table (`pk`, `sk`: strings), and what tests do with it. */
export interface DynamoDbFixture {
  readonly emulator: DynamoDbEmulator;
  readonly client: DynamoDBClient;
  readonly table: string;
  /** A key that no other test uses. */
  newKey(): Item;
  put(item: Item): Promise<Item>;
  /** The item with this item's key, as a strongly consistent read sees it. */
  get(item: Item): Promise<Item | undefined>;
  executeBatch(...statements: BatchStatementRequest[]): Promise<BatchStatementResponse[]>;
  /** What the table's meter shows after `act`, from zero. */
  measure(act: () => Promise<unknown>): Promise<TableUsage>;
  /** Sends one request while every request meets the fault. */
  underFault<T>(fault: Fault, send: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export async function startDynamoDbFixture(nowMs = Date.now): Promise<DynamoDbFixture> {
  const emulator = await startDynamoDb({ nowMs });
  const client = connectDynamoDb(emulator);
  const table = 'items';
  await createTable(client, table);
  return {
    emulator,
    client,
    table,
    newKey: () => ({ pk: { S: randomUUID() }, sk: { S: 's' } }),
    put: async (item) => {
      await client.send(new PutItemCommand({ TableName: table, Item: item }));
      return item;
    },
    get: async ({ pk = { S: '' }, sk = { S: '' } }) => {
      const Key = { pk, sk };
      const read = new GetItemCommand({ TableName: table, Key, ConsistentRead: true });
      return (await client.send(read)).Item;
    },
    executeBatch: async (...Statements) => {
      const reply = await client.send(new BatchExecuteStatementCommand({ Statements }));
      return reply.Responses ?? [];
    },
    measure: async (act) => {
      emulator.resetStats();
      await act();
      return emulator.stats()[table] ?? { requests: {}, writeUnits: 0, readUnits: 0 };
    },
    underFault: async (fault, send) => {
      emulator.setFaultHook(() => fault);
      try {
        return await send();
      } finally {
        emulator.setFaultHook(undefined);
      }
    },
    stop: async () => {
      client.destroy();
      await emulator.stop();
    },
  };
}

export async function createTable(client: DynamoDBClient, TableName: string): Promise<void> {
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
}

/** A value that makes the item `{ ...key, fill }` exactly as large as asked. */
export function fillTo(bytes: number, key: Item): AttributeValue {
  let used = 'fill'.length;
  for (const [name, value] of Object.entries(key)) used += name.length + (value.S?.length ?? 0);
  return { S: 'x'.repeat(bytes - used) };
}
