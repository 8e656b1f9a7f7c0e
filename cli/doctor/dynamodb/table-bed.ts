import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import type { TableAccess } from '../../../shared/adapters/dynamodb/conditional-write.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import { doctorRetryPolicy, type ClinicSupplies } from '../clinic.ts';
import { pollUntil } from '../poll-until.ts';
import type { TemporaryResources } from '../temporary-resources.ts';

/** A table as all tables of a job are, for the probes alone. */
export type TableBed = Omit<TableAccess, 'writeMode'>;

export function prepareTable({ clients, temporary }: ClinicSupplies): Promise<TableBed> {
  return createTable(clients.dynamodb, temporary, 'table');
}

export async function createTable(
  client: DynamoDBClient,
  temporary: TemporaryResources,
  what: string,
): Promise<TableBed> {
  const table = temporary.name(what);
  temporary.put(`table ${table}`, () => client.send(new DeleteTableCommand({ TableName: table })));
  await client.send(
    new CreateTableCommand({
      TableName: table,
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
  await pollUntil(
    async () => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
      return Table?.TableStatus === 'ACTIVE';
    },
    { limitMs: 60_000, what: `table ${table} to become active` },
  );
  return { client, table, system: nodeSystem, retryPolicy: doctorRetryPolicy };
}
