import { isOwnedBy } from '../../core/key-group.ts';
import type { Hint, HintStore } from '../../ports/hint-store.ts';
import type { StateScope } from '../../ports/state-store.ts';
import { sendBatchWrites } from './batch-writes.ts';
import type { TableAccess } from './conditional-write.ts';
import { decodeHint, encodeHint, hintAttributes } from './hint-item.ts';
import { queryItems } from './query-items.ts';
import { hintKey, hintPartition, hintSorts } from './table-keys.ts';

/** So many hints cost what one costs to read. Mostly fewer are due at once, and one request finds them and the next. */
const firstPageItems = 20;

/** An index of timers by time, in the table that has the state. */
export function createDynamodbHintStore(access: Omit<TableAccess, 'writeMode'>): HintStore {
  const { table } = access;

  return {
    async insert(scope, hints) {
      const puts = distinctHints(scope, hints).map((hint) => ({
        PutRequest: { Item: encodeHint(scope, hint) },
      }));
      const doing = `insert hints into table ${table}`;
      await sendBatchWrites(access, puts, { doing, things: 'hints' });
    },

    async findDue(scope, partition, domain, upTo, range) {
      const due: Hint[] = [];
      const query = {
        partition: hintPartition(scope, partition),
        sorts: hintSorts(domain),
        attributes: hintAttributes,
        firstPageItems,
        doing: `find hints of operator ${scope.operator}`,
      };
      // In order of time, so that the first that is not due ends the search.
      for await (const item of queryItems(access, query)) {
        const hint = decodeHint(item);
        // P10: the partition has hints of other shards' keys, too.
        if (!isOwnedBy(range, hint.keyHash)) continue;
        if (hint.time > upTo) return { due, nextTime: hint.time };
        due.push(hint);
      }
      return { due, nextTime: undefined };
    },

    async remove(scope, hints) {
      const deletes = distinctHints(scope, hints).map((hint) => ({
        DeleteRequest: { Key: hintKey(scope, hint) },
      }));
      const doing = `remove hints from table ${table}`;
      await sendBatchWrites(access, deletes, { doing, things: 'hints' });
    },
  };
}

/** A key has one hint for all its timers of a domain and time; a request that names an item twice would be refused. */
function distinctHints(scope: StateScope, hints: readonly Hint[]): Hint[] {
  return [...new Map(hints.map((hint) => [hintKey(scope, hint).sk.S, hint])).values()];
}
