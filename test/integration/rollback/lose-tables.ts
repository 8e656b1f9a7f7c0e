import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { pollUntil } from '../embedded/poll-until.ts';
import type { JobAws } from '../embedded/start-job-aws.ts';

/** Deletes every table of the stack, with all that is in them; returns what they were. */
export async function deleteTables({ aws, clients }: JobAws): Promise<TableDescription[]> {
  const names = [...aws.resources.values()]
    .filter(({ type }) => type === 'AWS::DynamoDB::Table')
    .map(({ physicalId }) => physicalId);
  const described = names.map(async (TableName) => {
    const { Table } = await clients.dynamodb.send(new DescribeTableCommand({ TableName }));
    await clients.dynamodb.send(new DeleteTableCommand({ TableName }));
    await pollUntil(`the end of ${TableName}`, () => isGone(clients, TableName));
    return Table!;
  });
  return Promise.all(described);
}

/** Creates tables anew and empty, as a deployment of the stack does. */
export async function createTables(
  { clients }: JobAws,
  tables: readonly TableDescription[],
): Promise<void> {
  const created = tables.map(async ({ TableName, KeySchema, AttributeDefinitions }) => {
    const BillingMode = 'PAY_PER_REQUEST';
    await clients.dynamodb.send(
      new CreateTableCommand({ TableName, KeySchema, AttributeDefinitions, BillingMode }),
    );
    await pollUntil(`table ${TableName!}`, async () => {
      const { Table } = await clients.dynamodb.send(new DescribeTableCommand({ TableName }));
      return Table?.TableStatus === 'ACTIVE' ? true : undefined;
    });
  });
  await Promise.all(created);
}

async function isGone(clients: JobAws['clients'], TableName: string): Promise<true | undefined> {
  try {
    await clients.dynamodb.send(new DescribeTableCommand({ TableName }));
    return undefined;
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return true;
    throw error;
  }
}
