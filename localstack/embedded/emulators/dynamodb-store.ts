import {
  db,
  type DynaliteStore,
  type Item,
  type StoreOperation,
  type Table,
  throwIf,
} from './dynalite-internals.ts';
import { DynamoDbRefusal } from './dynamodb-errors.ts';

/** An item that a unit of writes has read or changed. */
export interface TouchedItem {
  readonly table: string;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/**
 * Staged writes. `store` is handed to dynalite's actions in place of the real one: they read through it,
 * and what they write stays in the unit until `commit`.
 */
export interface WriteUnit {
  readonly store: DynaliteStore;
  /** The item as it was before the unit and as it is staged; reads it if nothing has yet. */
  touch(table: string, key: string): TouchedItem;
  touched(): Iterable<TouchedItem>;
  staged(): Iterable<StoreOperation>;
}

/** dynalite's store with synchronous reads and a single writer. */
export interface DynamoDbStore {
  /** The store itself: for table operations, queries and scans. */
  readonly dynalite: DynaliteStore;
  /** Throws `ResourceNotFoundException`. */
  table(name: string): Table;
  /** `undefined` if the table is missing or on its way out. */
  findTable(name: string): Table | undefined;
  /** Whatever its status. */
  findStoredTable(name: string): Table | undefined;
  /** Tables are remembered; this must follow every change of one. */
  forgetTables(): void;
  /** The committed item. `key` comes from `keyOf`. */
  read(table: string, key: string): Item | undefined;
  /** All committed items of a table. */
  items(table: string): AsyncIterable<Item>;
  openUnit(): WriteUnit;
  /** Makes the staged writes of all units visible in one step. A unit without it leaves no trace. */
  commit(units: Iterable<WriteUnit>): Promise<void>;
  /** Runs writers one after the other. */
  exclusively<T>(write: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const itemPrefix = (table: string): string => `item-${table}~`;
const indexPrefix = (kind: string, table: string, index: string): string =>
  `index-${kind.toLowerCase()}~${table}~${index}~`;
// Above all hexadecimal digits that a key is made of.
const prefixEnd = '\xff';

/** Checks a key against the table's schema and spells it for the store. Throws `ApiError`. */
export function keyOf(key: Item, table: Table): string {
  throwIf(db.validateKey(key, table));
  return db.createKey(key, table);
}

export async function openDynamoDbStore(): Promise<DynamoDbStore> {
  const dynalite = db.create({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  await dynalite.db.open();
  const tables = new Map<string, Table>();
  let lastWriter: Promise<unknown> = Promise.resolve();

  const findStoredTable = (name: string): Table | undefined =>
    dynalite.db.getSync(`table~${name}`) as Table | undefined;
  const findTable = (name: string): Table | undefined => {
    const known = tables.get(name);
    if (known !== undefined) return known;
    const table = findStoredTable(name);
    if (table === undefined || table.TableStatus === 'DELETING') return undefined;
    if (table.TableStatus === 'ACTIVE') tables.set(name, table);
    return table;
  };
  const table = (name: string): Table => {
    const found = findTable(name);
    if (found === undefined || found.TableStatus === 'CREATING') {
      throw new DynamoDbRefusal('ResourceNotFoundException', 'Requested resource not found');
    }
    return found;
  };
  const read = (name: string, key: string): Item | undefined =>
    dynalite.db.getSync(itemPrefix(name) + key) as Item | undefined;

  return {
    dynalite,
    table,
    findTable,
    findStoredTable,
    forgetTables: () => tables.clear(),
    read,
    items: async function* (name) {
      const prefix = itemPrefix(name);
      for await (const [, item] of dynalite.db.iterator({ gte: prefix, lt: prefix + prefixEnd })) {
        yield item as Item;
      }
    },
    openUnit: () => openUnit(dynalite, table, read),
    commit: async (units) => {
      const operations = [...units].flatMap((unit) => [...unit.staged()]);
      if (operations.length > 0) await dynalite.db.batch(operations);
    },
    exclusively: (write) => {
      const mine = lastWriter.then(write);
      lastWriter = mine.catch(() => undefined);
      return mine;
    },
    close: () => new Promise((resolve) => dynalite.db.close(() => resolve())),
  };
}

function openUnit(
  dynalite: DynaliteStore,
  findTable: (name: string) => Table,
  readCommitted: (table: string, key: string) => Item | undefined,
): WriteUnit {
  const staged = new Map<string, StoreOperation>();
  const items = new Map<string, TouchedItem>();

  const touch = (table: string, key: string): TouchedItem => {
    const full = itemPrefix(table) + key;
    const known = items.get(full);
    if (known !== undefined) return known;
    const before = readCommitted(table, key);
    const item = { table, before, after: before };
    items.set(full, item);
    return item;
  };
  const stage = (table: string, key: string, after: Item | undefined): void => {
    const full = itemPrefix(table) + key;
    items.set(full, { table, before: touch(table, key).before, after });
    staged.set(full, operation(full, after));
  };
  const stageIndex = (full: string, value: Item | undefined): void => {
    staged.set(full, operation(full, value));
  };

  const store: DynaliteStore = {
    options: dynalite.options,
    db: dynalite.db,
    getTable: (name, ...rest) => {
      const callback = rest.length === 1 ? rest[0] : rest[1];
      let table: Table;
      try {
        table = findTable(name);
      } catch (error) {
        callback(error);
        return;
      }
      callback(undefined, table);
    },
    getItemDb: (table) => ({
      // One unit is open at a time, so its items need no locks.
      lock: (_key, hold) => hold((done) => done),
      get: (key, callback) => callback(undefined, touch(table, key).after),
      put: (key, value, callback) => {
        stage(table, key, value);
        callback(undefined);
      },
      del: (key, callback) => {
        stage(table, key, undefined);
        callback(undefined);
      },
    }),
    getIndexDb: (kind, table, index) => {
      const prefix = indexPrefix(kind, table, index);
      return {
        lock: (_key, hold) => hold((done) => done),
        get: (key, callback) => callback(undefined, dynalite.db.getSync(prefix + key) as Item),
        put: (key, value, callback) => {
          stageIndex(prefix + key, value);
          callback(undefined);
        },
        del: (key, callback) => {
          stageIndex(prefix + key, undefined);
          callback(undefined);
        },
      };
    },
  };
  return { store, touch, touched: () => items.values(), staged: () => staged.values() };
}

function operation(key: string, value: Item | undefined): StoreOperation {
  return value === undefined ? { type: 'del', key } : { type: 'put', key, value };
}
