import {
  PutItemCommand,
  UpdateItemCommand,
  type AttributeValue,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { itemIsAbsent } from './condition-clauses.ts';
import {
  describeItem,
  type ConditionalWrite,
  type ConditionalWriter,
  type TableAccess,
  type WriteResult,
} from './conditional-write.ts';
import { classifyError, failureError, mapDynamodbError } from './map-error.ts';
import { sendInRounds } from './send-rounds.ts';

/** Sends conditional writes as single requests, up to 8 at once: for endpoints without PartiQL batches. */
export function createSingleWriter(access: TableAccess): ConditionalWriter {
  const { client, table, system, retryPolicy } = access;

  return {
    async write(writes, { doing, onUnknown }) {
      const results = new Array<WriteResult>(writes.length).fill('unknown');

      const send = async (numbers: readonly number[]): Promise<readonly number[]> => {
        const [number] = numbers as [number];
        const write = writes[number]!;
        try {
          await sendOne(client, table, write);
          results[number] = 'done';
          return [];
        } catch (error) {
          switch (classifyError(error)) {
            case 'condition-failed':
              results[number] = 'refused';
              return [];
            case 'throttled':
            case 'transaction-conflict':
              return numbers;
            case 'unknown-reply':
              return onUnknown === 'resend' ? numbers : [];
            default:
              throw mapDynamodbError(error, `${doing}, item ${describeItem(write)}`);
          }
        }
      };

      await sendInRounds({
        system,
        policy: retryPolicy,
        count: writes.length,
        requestSize: 1,
        send,
        giveUp: (unsettled) =>
          failureError('throttled', doing, `${unsettled} of ${writes.length} writes were refused`),
      });
      return results;
    },
  };
}

async function sendOne(
  client: DynamoDBClient,
  table: string,
  write: ConditionalWrite,
): Promise<void> {
  switch (write.kind) {
    case 'create':
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: write.item,
          ConditionExpression: itemIsAbsent.expression,
          ExpressionAttributeNames: itemIsAbsent.names,
        }),
      );
      return;
    case 'replace':
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: write.item,
          ConditionExpression: write.rule.condition.expression,
          ExpressionAttributeNames: write.rule.condition.names,
          ExpressionAttributeValues: bindValues(write.values),
        }),
      );
      return;
    case 'patch': {
      const names = Object.keys(write.changes);
      const changes = names.map((_, at) => `#s${at} = :s${at}`);
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: write.key,
          UpdateExpression: `SET ${changes.join(', ')}`,
          ConditionExpression: write.condition.expression,
          ExpressionAttributeNames: {
            ...write.condition.names,
            ...Object.fromEntries(names.map((name, at) => [`#s${at}`, name])),
          },
          ExpressionAttributeValues: {
            ...bindValues(write.values),
            ...Object.fromEntries(names.map((name, at) => [`:s${at}`, write.changes[name]!])),
          },
        }),
      );
    }
  }
}

/** Values of a clause under the names that its expression gives them. */
export function bindValues(values: readonly AttributeValue[]): Record<string, AttributeValue> {
  return Object.fromEntries(values.map((value, at) => [`:c${at}`, value]));
}
