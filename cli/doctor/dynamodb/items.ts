import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { tableKey, type Item } from '../../../shared/adapters/dynamodb/table-keys.ts';
import type { TableBed } from './table-bed.ts';

export async function getItem(
  { client, table }: Pick<TableBed, 'client' | 'table'>,
  pk: string,
  sk: string,
): Promise<Item | undefined> {
  const Key = tableKey(pk, sk);
  const command = new GetItemCommand({ TableName: table, Key, ConsistentRead: true });
  return (await client.send(command)).Item;
}
