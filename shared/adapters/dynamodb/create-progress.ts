import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Channel } from '../../core/channel.ts';
import type { Progress } from '../../core/progress.ts';
import { retry } from '../system/backoff.ts';
import { itemIsAbsent } from './condition-clauses.ts';
import type { TableAccess } from './conditional-write.ts';
import { encodeChannel, encodeProgress } from './control-items.ts';
import { classifyError, isPassing, mapDynamodbError } from './map-error.ts';
import { channelListKey, progressKey, type Item } from './table-keys.ts';

/**
 * Creates the progress of a restored channel (R5). The channel's entry in the list comes first: progress never exists
 * without one, so that whoever fences or cuts by the list sees every channel. Both writes are done as often as their reply
 * is lost; twice is once.
 *
 * @returns `exists` also where it was this very call that created it, and the reply was lost
 */
export async function createProgress(
  access: Omit<TableAccess, 'writeMode'>,
  job: string,
  channel: Channel,
  progress: Progress,
): Promise<'created' | 'exists'> {
  const { generation } = progress;
  await put(access, encodeChannel(channelListKey(job, generation, channel), channel));
  return put(access, encodeProgress(progressKey(job, generation, channel), progress));
}

async function put(
  { client, table, system, retryPolicy }: Omit<TableAccess, 'writeMode'>,
  item: Item,
): Promise<'created' | 'exists'> {
  const command = new PutItemCommand({
    TableName: table,
    Item: item,
    ConditionExpression: itemIsAbsent.expression,
    ExpressionAttributeNames: itemIsAbsent.names,
  });
  try {
    await retry(system, () => client.send(command), isPassing, retryPolicy);
    return 'created';
  } catch (error) {
    if (classifyError(error) === 'condition-failed') return 'exists';
    throw mapDynamodbError(error, `create item ${item['pk']?.S} in table ${table}`);
  }
}
