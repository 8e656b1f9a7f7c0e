import {
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  type KeysAndAttributes,
} from '@aws-sdk/client-dynamodb';
import type { TableAccess } from './conditional-write.ts';
import { classifyError, failureError, mapDynamodbError } from './map-error.ts';
import { projectionOf } from './projection.ts';
import { sendInRounds } from './send-rounds.ts';
import type { Item, TableKey } from './table-keys.ts';

/** How many keys one request may ask for. */
const keysMax = 100;

export interface BatchReadOptions {
  /** For errors, say `load state from table t`. */
  readonly doing: string;
  /** What to read of each item; with `pk` and `sk` where they are asked for. @default everything */
  readonly attributes?: readonly string[];
}

/**
 * Reads items by their keys, by consistent reads; those that do not exist are passed over. A key must occur once. An item
 * may come twice, where a part of a reply was lost.
 */
export async function readItems(
  { client, table, system, retryPolicy }: Omit<TableAccess, 'writeMode'>,
  keys: readonly TableKey[],
  { doing, attributes }: BatchReadOptions,
  found: (item: Item) => void,
): Promise<void> {
  const how: Omit<KeysAndAttributes, 'Keys'> = {
    ConsistentRead: true,
    ...(attributes === undefined ? {} : projectionOf(attributes)),
  };

  const send = async (numbers: readonly number[]): Promise<readonly number[]> => {
    const some = numbers.map((number) => keys[number]!);
    let reply: BatchGetItemCommandOutput;
    try {
      reply = await client.send(
        new BatchGetItemCommand({ RequestItems: { [table]: { ...how, Keys: some } } }),
      );
    } catch (error) {
      const failure = classifyError(error);
      if (failure === 'throttled' || failure === 'unknown-reply') return numbers;
      throw mapDynamodbError(error, doing);
    }
    for (const item of reply.Responses?.[table] ?? []) found(item);
    const rest = reply.UnprocessedKeys?.[table]?.Keys ?? [];
    if (rest.length === 0) return [];
    const names = new Set(rest.map(nameOfItem));
    return numbers.filter((number) => names.has(nameOfItem(keys[number]!)));
  };

  await sendInRounds({
    system,
    policy: retryPolicy,
    count: keys.length,
    requestSize: keysMax,
    send,
    giveUp: (unsettled) =>
      failureError('throttled', doing, `${unsettled} of ${keys.length} keys were not served`),
  });
}

/** Names an item within its table. */
export function nameOfItem(item: Item): string {
  return JSON.stringify([item['pk']?.S, item['sk']?.S]);
}
