import { setImmediate as nextTurn } from 'node:timers/promises';

import { runAction, validateRequest } from './dynalite-internals.ts';
import { validationError } from './dynamodb-errors.ts';
import type { DynamoDbStore } from './dynamodb-store.ts';
import type { TableSettings } from './table-settings.ts';

interface CreateTableBody {
  readonly TableName?: string;
  readonly StreamSpecification?: { readonly StreamEnabled?: boolean };
  readonly Tags?: readonly { readonly Key: string; readonly Value: string }[];
}

/** Turns of the event loop that dynalite may take to finish a change of a table. */
const turnsMax = 10_000;

export interface TableOperations {
  /** Each answers when the change is complete: a new table is usable, a deleted one gone. */
  createTable(body: CreateTableBody): Promise<object>;
  updateTable(body: object): Promise<object>;
  deleteTable(body: object): Promise<object>;
}

export function createTableOperations(
  store: DynamoDbStore,
  settings: TableSettings,
): TableOperations {
  const change = async (
    operation: 'CreateTable' | 'UpdateTable' | 'DeleteTable',
    body: object,
  ): Promise<{ TableName: string; reply: object }> => {
    const data = validateRequest(operation, body, store.dynalite);
    const { TableName } = data;
    const reply = await store.exclusively(async () => {
      const started = await runAction(operation, store.dynalite, data);
      store.forgetTables();
      await settle(store, TableName, operation === 'DeleteTable');
      return started;
    });
    return { TableName, reply };
  };

  return {
    createTable: async (body) => {
      const { StreamSpecification, Tags } = body;
      if (StreamSpecification?.StreamEnabled === true) {
        throw validationError(
          'this emulator has no DynamoDB streams; leave StreamSpecification out',
        );
      }
      const { reply } = await change('CreateTable', body);
      if (Tags !== undefined && Tags.length > 0) {
        const { TableArn } = (reply as { TableDescription: { TableArn: string } }).TableDescription;
        const tags = { ResourceArn: TableArn, Tags };
        await runAction('TagResource', store.dynalite, tags);
      }
      return reply;
    },
    updateTable: async (body) => (await change('UpdateTable', body)).reply,
    deleteTable: async (body) => {
      const { TableName, reply } = await change('DeleteTable', body);
      settings.forget(TableName);
      return reply;
    },
  };
}

/** dynalite finishes a change in a timer of its own, though of zero length. */
async function settle(store: DynamoDbStore, name: string, isDeletion: boolean): Promise<void> {
  for (let turn = 0; turn < turnsMax; turn += 1) {
    const table = store.findStoredTable(name);
    const indexes = table?.GlobalSecondaryIndexes ?? [];
    const isActive =
      table?.TableStatus === 'ACTIVE' &&
      indexes.every(({ IndexStatus }) => IndexStatus === undefined || IndexStatus === 'ACTIVE');
    if (isDeletion ? table === undefined : isActive) return;
    await nextTurn();
  }
  throw new Error(`dynalite left table ${name} in between for ${turnsMax} turns`);
}
