import { GetItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe } from 'vitest';

import {
  startDynamoDb,
  type DynamoDbEmulator,
} from '../../localstack/embedded/emulators/dynamodb.ts';
import { createDynamodbAppendSink } from '../../shared/adapters/dynamodb/dynamodb-append-sink.ts';
import { createDynamodbControlStore } from '../../shared/adapters/dynamodb/dynamodb-control-store.ts';
import { createDynamodbHintStore } from '../../shared/adapters/dynamodb/dynamodb-hint-store.ts';
import { createDynamodbStateStore } from '../../shared/adapters/dynamodb/dynamodb-state-store.ts';
import { createDynamodbUpsertSink } from '../../shared/adapters/dynamodb/dynamodb-upsert-sink.ts';
import { statePartitionPrefix } from '../../shared/adapters/dynamodb/table-keys.ts';
import { describeControlStore } from './control-store.contract.ts';
import { connect, createTable, hastySystem, readVisibleRows } from './dynamodb-tables.ts';
import { describeFences } from './fence.contract.ts';
import { describeHintStore } from './hint-store.contract.ts';
import { describeRegistry } from './registry.contract.ts';
import { describeSinkTable } from './sink-table.contract.ts';
import { describeAppendSink, describeUpsertSink, sinkColumns } from './sink.contract.ts';
import { describeStateStore } from './state-store.contract.ts';

const system = hastySystem;

describe('over the DynamoDB emulator', () => {
  let emulator: DynamoDbEmulator;
  let client: DynamoDBClient;

  beforeAll(async () => {
    emulator = await startDynamoDb();
    client = connect(emulator.endpoint);
  });

  afterAll(async () => {
    client.destroy();
    await emulator.stop();
  });

  describe.each(['partiql-batch', 'conditional-put'] as const)('%s', (writeMode) => {
    describeStateStore(`dynamodb, ${writeMode}`, async () => {
      const table = await createTable(client);
      return {
        store: createDynamodbStateStore({ client, table, system, writeMode }),
        readExpiry: async (scope, { key, keyGroup }) => {
          const Key = { pk: { S: statePartitionPrefix(scope) + keyGroup }, sk: { S: key } };
          const { Item } = await client.send(new GetItemCommand({ TableName: table, Key }));
          const expiry = Item?.['ttl']?.N;
          return expiry === undefined ? undefined : Number(expiry);
        },
      };
    });

    describeAppendSink(`dynamodb, ${writeMode}`, async () => {
      const table = await createTable(client);
      return {
        sink: createDynamodbAppendSink({ client, table, system, writeMode, columns: sinkColumns }),
        readRows: (keys) => readVisibleRows(client, table, keys),
      };
    });

    describeUpsertSink(`dynamodb, ${writeMode}`, async () => {
      const table = await createTable(client);
      return {
        sink: createDynamodbUpsertSink({ client, table, system, writeMode, columns: sinkColumns }),
        readRows: (keys) => readVisibleRows(client, table, keys),
      };
    });
  });

  describeControlStore('dynamodb', async () => {
    const table = await createTable(client);
    return createDynamodbControlStore({ client, table, system });
  });

  describeFences('dynamodb', async () => {
    const table = await createTable(client);
    return createDynamodbControlStore({ client, table, system });
  });

  describeRegistry('dynamodb', async () => {
    const table = await createTable(client);
    return createDynamodbControlStore({ client, table, system });
  });

  describeSinkTable('dynamodb, append', async () => {
    const table = await createTable(client);
    return createDynamodbAppendSink({ client, table, system, columns: sinkColumns });
  });

  describeSinkTable('dynamodb, upsert', async () => {
    const table = await createTable(client);
    return createDynamodbUpsertSink({ client, table, system, columns: sinkColumns });
  });

  describeHintStore('dynamodb', async () => {
    const table = await createTable(client);
    return createDynamodbHintStore({ client, table, system });
  });
});
