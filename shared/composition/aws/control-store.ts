import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamodbControlStore } from '../../adapters/dynamodb/dynamodb-control-store.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { ControlStore } from '../../ports/control-store.ts';

/** The control store of a deployed job, for tools that look at it from outside. */
export function openControlStore(client: DynamoDBClient, table: string): ControlStore {
  return createDynamodbControlStore({ client, table, system: nodeSystem });
}
