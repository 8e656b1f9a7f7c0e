import {
  BatchWriteItemCommand,
  type BatchWriteItemCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import type { SinkReceipt } from '../../ports/sink.ts';
import type { ConditionalWriter, TableAccess } from './conditional-write.ts';
import { classifyError, failureError, mapDynamodbError } from './map-error.ts';
import { sendInRounds } from './send-rounds.ts';
import type { Item } from './table-keys.ts';

/** How many puts one request may carry. */
const putsMax = 25;

/** Creates items that are never changed; those that are there already are skipped. Twice is once. */
export async function createRows(
  writer: ConditionalWriter,
  items: readonly Item[],
  doing: string,
): Promise<SinkReceipt> {
  const results = await writer.write(
    items.map((item) => ({ kind: 'create', item })),
    { doing, onUnknown: 'resend' },
  );
  const written = results.filter((result) => result === 'done').length;
  return { written, skipped: items.length - written };
}

/** Puts items without a condition. */
export async function putRows(
  { client, table, system, retryPolicy }: TableAccess,
  items: readonly Item[],
  doing: string,
): Promise<SinkReceipt> {
  const send = async (numbers: readonly number[]): Promise<readonly number[]> => {
    const puts = numbers.map((number): WriteRequest => ({
      PutRequest: { Item: items[number] },
    }));
    let reply: BatchWriteItemCommandOutput;
    try {
      reply = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
    } catch (error) {
      const failure = classifyError(error);
      if (failure === 'throttled' || failure === 'unknown-reply') return numbers;
      throw mapDynamodbError(error, doing);
    }
    const rest = reply.UnprocessedItems?.[table] ?? [];
    if (rest.length === 0) return [];
    const names = new Set(rest.map(({ PutRequest }) => nameOf(PutRequest?.Item)));
    return numbers.filter((number) => names.has(nameOf(items[number])));
  };

  await sendInRounds({
    system,
    policy: retryPolicy,
    count: items.length,
    requestSize: putsMax,
    send,
    giveUp: (unsettled) =>
      failureError('throttled', doing, `${unsettled} of ${items.length} rows were refused`),
  });
  return { written: items.length, skipped: 0 };
}

function nameOf(item: Item | undefined): string {
  return `${item?.['pk']?.S} ${item?.['sk']?.S}`;
}
