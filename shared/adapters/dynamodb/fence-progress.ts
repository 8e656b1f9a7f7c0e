import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Progress } from '../../core/progress.ts';
import { retry } from '../system/backoff.ts';
import { itemIsPresent } from './condition-clauses.ts';
import type { TableAccess } from './conditional-write.ts';
import { decodeProgress } from './control-items.ts';
import { classifyError, isPassing, mapDynamodbError } from './map-error.ts';
import type { TableKey } from './table-keys.ts';

/**
 * Raises the version of a progress item and sets its fence, in one write that never creates (R2). Where a reply was lost it
 * is sent again, and may raise the version twice: whoever holds an older version loses either way, and the reply that
 * arrives tells of the last one.
 *
 * @returns what the item is from then on; undefined where there is none
 */
export async function fenceProgress(
  { client, table, system, retryPolicy }: Omit<TableAccess, 'writeMode'>,
  key: TableKey,
  fence: string,
): Promise<Progress | undefined> {
  const command = new UpdateItemCommand({
    TableName: table,
    Key: key,
    UpdateExpression: 'ADD #version :one SET #fence = :fence',
    ConditionExpression: itemIsPresent.expression,
    ExpressionAttributeNames: { ...itemIsPresent.names, '#version': 'version', '#fence': 'fence' },
    ExpressionAttributeValues: { ':one': { N: '1' }, ':fence': { S: fence } },
    ReturnValues: 'ALL_NEW',
  });
  try {
    const { Attributes } = await retry(system, () => client.send(command), isPassing, retryPolicy);
    return decodeProgress(Attributes!);
  } catch (error) {
    if (classifyError(error) === 'condition-failed') return undefined;
    throw mapDynamodbError(error, `fence progress ${key.pk.S} in table ${table}`);
  }
}
