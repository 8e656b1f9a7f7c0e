import { BatchGetItemCommand, type BatchGetItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { HoldfastError } from '../../core/errors.ts';
import type { StoredItem } from '../../core/stored-item.ts';
import type { ItemKey, ItemWrite, StateStore } from '../../ports/state-store.ts';
import { isTombstoneOfVersion, versionIsSeen } from './condition-clauses.ts';
import type { ConditionalWrite, ReplaceRule, TableAccess } from './conditional-write.ts';
import { createConditionalWriter } from './conditional-writer.ts';
import { classifyError, failureError, mapDynamodbError } from './map-error.ts';
import { sendInRounds } from './send-rounds.ts';
import { decodeStateItem, encodeStateItem, optionalStateAttributes } from './state-item.ts';
import { statePartitionPrefix, tableKey, type Item, type TableKey } from './table-keys.ts';

/** How many keys one request may ask for. */
const keysMax = 100;

const stateRule: ReplaceRule = { condition: versionIsSeen, removable: optionalStateAttributes };

/** Keyed state in a DynamoDB table. */
export function createDynamodbStateStore(access: TableAccess): StateStore {
  const writer = createConditionalWriter(access);

  return {
    async load(scope, keys) {
      const prefix = statePartitionPrefix(scope);
      const items = new Map<string, StoredItem>();
      const found = (item: Item): void => {
        const decoded = decodeStateItem(item);
        items.set(decoded.key, decoded);
      };
      await readItems(access, placesOf(prefix, keys), found);
      return items;
    },

    async write(scope, writes) {
      assertDistinct(writes);
      const prefix = statePartitionPrefix(scope);
      const results = await writer.write(
        writes.map((write) => toConditionalWrite(prefix, write)),
        { doing: `write state to table ${access.table}`, onUnknown: 'report' },
      );
      return results.map((result) => (result === 'done' ? 'written' : 'conflict'));
    },

    async expireTombstones(scope, tombstones) {
      const prefix = statePartitionPrefix(scope);
      // What is no tombstone of this version any more is refused, and that is all.
      await writer.write(
        tombstones.map(({ key, keyGroup, version, expiresAtSeconds }) => ({
          kind: 'patch',
          key: tableKey(prefix + keyGroup, key),
          changes: { ttl: { N: String(expiresAtSeconds) } },
          condition: isTombstoneOfVersion,
          values: [{ N: String(version) }, { BOOL: true }],
        })),
        { doing: `let tombstones of table ${access.table} expire`, onUnknown: 'resend' },
      );
    },
  };
}

function toConditionalWrite(
  prefix: string,
  { item, expectedVersion }: ItemWrite,
): ConditionalWrite {
  const encoded = encodeStateItem(prefix, item);
  if (expectedVersion === undefined) return { kind: 'create', item: encoded };
  return {
    kind: 'replace',
    item: encoded,
    rule: stateRule,
    values: [{ N: String(expectedVersion) }],
  };
}

/** One place for each key; a request that names one twice would be refused. */
function placesOf(prefix: string, keys: readonly ItemKey[]): TableKey[] {
  const places = new Map<string, TableKey>();
  for (const { key, keyGroup } of keys) places.set(key, tableKey(prefix + keyGroup, key));
  return [...places.values()];
}

function assertDistinct(writes: readonly ItemWrite[]): void {
  const keys = new Set<string>();
  for (const { item } of writes) keys.add(item.key);
  if (keys.size === writes.length) return;
  throw new HoldfastError(
    'internal',
    `a call writes ${writes.length} items of ${keys.size} keys; a key must occur once in a unit (P5)`,
  );
}

async function readItems(
  { client, table, system, retryPolicy }: TableAccess,
  places: readonly TableKey[],
  found: (item: Item) => void,
): Promise<void> {
  const doing = `load state from table ${table}`;

  const send = async (numbers: readonly number[]): Promise<readonly number[]> => {
    const keys = numbers.map((number) => places[number]!);
    let reply: BatchGetItemCommandOutput;
    try {
      reply = await client.send(
        new BatchGetItemCommand({
          RequestItems: { [table]: { Keys: keys, ConsistentRead: true } },
        }),
      );
    } catch (error) {
      const failure = classifyError(error);
      if (failure === 'throttled' || failure === 'unknown-reply') return numbers;
      throw mapDynamodbError(error, doing);
    }
    for (const item of reply.Responses?.[table] ?? []) found(item);
    const rest = reply.UnprocessedKeys?.[table]?.Keys ?? [];
    if (rest.length === 0) return [];
    const names = new Set(rest.map(nameOf));
    return numbers.filter((number) => names.has(nameOf(places[number]!)));
  };

  await sendInRounds({
    system,
    policy: retryPolicy,
    count: places.length,
    requestSize: keysMax,
    send,
    giveUp: (unsettled) =>
      failureError('throttled', doing, `${unsettled} of ${places.length} keys were not served`),
  });
}

function nameOf(key: Item): string {
  return `${key['pk']?.S} ${key['sk']?.S}`;
}
