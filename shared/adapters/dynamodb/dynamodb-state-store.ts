import { HoldfastError } from '../../core/errors.ts';
import type { StoredItem } from '../../core/stored-item.ts';
import type { ItemKey, ItemWrite, StateStore } from '../../ports/state-store.ts';
import { readItems } from './batch-reads.ts';
import { sendBatchWrites } from './batch-writes.ts';
import { isTombstoneOfVersion, versionIsSeen } from './condition-clauses.ts';
import type { ConditionalWrite, ReplaceRule, TableAccess } from './conditional-write.ts';
import { createConditionalWriter } from './conditional-writer.ts';
import { queryItems } from './query-items.ts';
import { decodeStateItem, encodeStateItem, optionalStateAttributes } from './state-item.ts';
import { statePartitionPrefix, tableKey, type Item, type TableKey } from './table-keys.ts';

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
      const doing = `load state from table ${access.table}`;
      await readItems(access, placesOf(prefix, keys), { doing }, found);
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

    async *scan(scope, keyGroup) {
      const query = {
        partition: statePartitionPrefix(scope) + keyGroup,
        doing: `look through key group ${keyGroup} of operator ${scope.operator}`,
      };
      for await (const item of queryItems(access, query)) yield decodeStateItem(item);
    },

    async remove(scope, keys) {
      const deletes = placesOf(statePartitionPrefix(scope), keys).map((Key) => ({
        DeleteRequest: { Key },
      }));
      const doing = `remove state from table ${access.table}`;
      await sendBatchWrites(access, deletes, { doing, things: 'items' });
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
