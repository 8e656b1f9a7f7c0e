import {
  BatchWriteItemCommand,
  type BatchWriteItemCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import type { TableAccess } from './conditional-write.ts';
import { classifyError, failureError, mapDynamodbError } from './map-error.ts';
import { sendInRounds } from './send-rounds.ts';

/** How many puts and deletes one request may carry. */
const requestSize = 25;

export interface BatchWriteOptions {
  /** For errors, say `write rows to table t`. */
  readonly doing: string;
  /** What the items are, for errors. */
  readonly things: string;
}

/** Puts and deletes items without a condition; twice is once. An item must occur once in a call. */
export async function sendBatchWrites(
  { client, table, system, retryPolicy }: Omit<TableAccess, 'writeMode'>,
  writes: readonly WriteRequest[],
  { doing, things }: BatchWriteOptions,
): Promise<void> {
  const send = async (numbers: readonly number[]): Promise<readonly number[]> => {
    const some = numbers.map((number) => writes[number]!);
    let reply: BatchWriteItemCommandOutput;
    try {
      reply = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: some } }));
    } catch (error) {
      const failure = classifyError(error);
      if (failure === 'throttled' || failure === 'unknown-reply') return numbers;
      throw mapDynamodbError(error, doing);
    }
    const rest = reply.UnprocessedItems?.[table] ?? [];
    if (rest.length === 0) return [];
    const names = new Set(rest.map(nameOf));
    return numbers.filter((number) => names.has(nameOf(writes[number]!)));
  };

  await sendInRounds({
    system,
    policy: retryPolicy,
    count: writes.length,
    requestSize,
    send,
    giveUp: (unsettled) =>
      failureError('throttled', doing, `${unsettled} of ${writes.length} ${things} were refused`),
  });
}

function nameOf({ PutRequest, DeleteRequest }: WriteRequest): string {
  const item = PutRequest?.Item ?? DeleteRequest?.Key;
  return `${item?.['pk']?.S} ${item?.['sk']?.S}`;
}
