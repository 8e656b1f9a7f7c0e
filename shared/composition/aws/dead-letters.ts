import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  createDynamodbDeadLetters,
  type DeadLetters,
} from '../../adapters/dynamodb/dynamodb-dead-letters.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';

/** The dead letters of a deployed job. */
export function openDeadLetters(client: DynamoDBClient, table: string): DeadLetters {
  return createDynamodbDeadLetters({ client, table, system: nodeSystem });
}
