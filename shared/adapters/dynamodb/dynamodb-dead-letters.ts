import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { channelId, type Channel } from '../../core/channel.ts';
import { retry } from '../system/backoff.ts';
import type { TableAccess } from './conditional-write.ts';
import { isPassing, mapDynamodbError } from './map-error.ts';
import { deadLetterPartition } from './table-keys.ts';

/** A record or timer that could not be processed. */
export interface FoundLetter {
  /** Its place in the channel; sorts like the channel's records. */
  readonly place: string;
  readonly reason: string;
  readonly message: string;
}

/** Reads the dead letters that {@link createDynamodbDeadLetterSink} has written. */
export interface DeadLetters {
  /**
   * The last ones of a channel in the order of its records, newest first; those at or before a place are left out. One
   * request, whatever the table holds.
   */
  readNewest(channel: Channel, after: string | undefined, most: number): Promise<FoundLetter[]>;
}

export function createDynamodbDeadLetters({
  client,
  table,
  system,
  retryPolicy,
}: Omit<TableAccess, 'writeMode'>): DeadLetters {
  return {
    async readNewest(channel, after, most) {
      const partition = deadLetterPartition(channel.operator, channelId(channel));
      const command = new QueryCommand({
        TableName: table,
        KeyConditionExpression: after === undefined ? 'pk = :pk' : 'pk = :pk AND sk > :after',
        ExpressionAttributeValues: {
          ':pk': { S: partition },
          ...(after === undefined ? {} : { ':after': { S: after } }),
        },
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: most,
      });
      try {
        const reply = await retry(system, () => client.send(command), isPassing, retryPolicy);
        return (reply.Items ?? []).map(({ sk, reason, message }) => ({
          place: sk?.S ?? '',
          reason: reason?.S ?? '',
          message: message?.S ?? '',
        }));
      } catch (error) {
        throw mapDynamodbError(error, `read the dead letters of ${partition} from table ${table}`);
      }
    },
  };
}
