import { itemBytes, readUnits } from './capacity.ts';
import {
  type ActionRequest,
  db,
  type Item,
  throwIf,
  validateRequest,
} from './dynalite-internals.ts';
import { type DynamoDbStore, keyOf } from './dynamodb-store.ts';
import { consumedCapacity, isCapacityWanted, listCapacity, type UsageMeter } from './usage.ts';

/** What AWS promises of one batch: 16 MB in all, and it may stop after 1 MB of one partition. */
const batchBytesMax = 16 * 1024 * 1024;
const partitionBytesMax = 1024 * 1024;

type KeysRequest = Pick<ActionRequest, 'AttributesToGet' | '_projection' | 'ConsistentRead'> & {
  readonly Keys: readonly Item[];
};

export interface ItemReader {
  getItem(body: object): object;
  /** `throttled` are positions of keys, counted over all tables; they come back unprocessed. */
  batchGetItem(body: object, throttled: ReadonlySet<number>): object;
}

export function createItemReader(store: DynamoDbStore, usage: UsageMeter): ItemReader {
  return {
    getItem: (body) => {
      const data = validateRequest('GetItem', body, store.dynalite);
      const table = store.table(data.TableName);
      throwIf(db.validateKeyPaths(data._projection?.nestedPaths, table));
      const item = store.read(table.TableName, keyOf(data.Key ?? {}, table));
      const bytes = item === undefined ? 0 : itemBytes(item);
      const units = readUnits(bytes, data.ConsistentRead ?? false);
      usage.addReadUnits(table.TableName, units);
      const requested = data.ReturnConsumedCapacity;
      return {
        ...(item === undefined ? {} : { Item: project(item, data) }),
        ...(isCapacityWanted(requested)
          ? { ConsumedCapacity: consumedCapacity(table.TableName, units, requested) }
          : {}),
      };
    },

    batchGetItem: (body, throttled) => {
      const data = validateRequest('BatchGetItem', body, store.dynalite) as unknown as {
        readonly RequestItems: Readonly<Record<string, KeysRequest>>;
        readonly ReturnConsumedCapacity?: string;
      };
      const responses: Record<string, Item[]> = {};
      const unprocessed: Record<string, object> = {};
      const spent: [string, number][] = [];
      let position = 0;
      let batchBytes = 0;
      for (const [name, request] of Object.entries(data.RequestItems)) {
        const table = store.table(name);
        const [hashName] = table.KeySchema.map(({ AttributeName }) => AttributeName);
        const partitions = new Map<string, number>();
        const found: Item[] = [];
        const left: Item[] = [];
        for (const key of request.Keys) {
          const item = store.read(name, keyOf(key, table));
          const bytes = item === undefined ? 0 : itemBytes(item);
          const partition = JSON.stringify(key[hashName ?? '']);
          const read = partitions.get(partition) ?? 0;
          const isPartial = read >= partitionBytesMax || batchBytes + bytes > batchBytesMax;
          if (throttled.has(position++) || isPartial) {
            left.push(key);
            continue;
          }
          partitions.set(partition, read + bytes);
          batchBytes += bytes;
          spent.push([name, readUnits(bytes, request.ConsistentRead ?? false)]);
          if (item !== undefined) found.push(project(item, request));
        }
        // The order is not promised; any but the request's own keeps callers honest.
        responses[name] = found.reverse();
        if (left.length > 0) unprocessed[name] = repeatFor(request, left);
      }
      for (const [name, units] of spent) usage.addReadUnits(name, units);
      const capacity = listCapacity(spent, data.ReturnConsumedCapacity);
      return {
        Responses: responses,
        UnprocessedKeys: unprocessed,
        ...(capacity === undefined ? {} : { ConsumedCapacity: capacity }),
      };
    },
  };
}

/** What a client sends next to get the rest: the same attributes in the same way. */
function repeatFor(request: KeysRequest, keys: readonly Item[]): object {
  const again: Partial<KeysRequest> = { ...request, Keys: keys };
  delete again._projection;
  return again;
}

function project(
  item: Item,
  { _projection, AttributesToGet }: Pick<ActionRequest, '_projection' | 'AttributesToGet'>,
): Item {
  const paths = _projection?.paths ?? AttributesToGet;
  return paths === undefined ? item : db.mapPaths(paths, item);
}
