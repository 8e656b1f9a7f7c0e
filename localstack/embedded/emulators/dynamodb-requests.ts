import { itemBytes, writeUnits } from './capacity.ts';
import { runAction, validateRequest } from './dynalite-internals.ts';
import type { DynamoDbStore } from './dynamodb-store.ts';
import { createItemReader } from './item-read.ts';
import { attemptWrite, checkWrite, locateWrite, type WriteOperation } from './item-write.ts';
import { createStatementRunner } from './partiql-execution.ts';
import { createTableOperations } from './table-operations.ts';
import type { TableSettings } from './table-settings.ts';
import { createTransactWriter } from './transact-write.ts';
import { consumedCapacity, isCapacityWanted, listCapacity, type UsageMeter } from './usage.ts';

/** Answers one operation. Throws or rejects with `ApiError`. `throttled` are the parts of a batch to refuse. */
export type RequestHandler = (
  body: object,
  throttled: ReadonlySet<number>,
) => Promise<object> | object;

export interface RequestHandlers {
  /** `undefined` for an operation that this emulator does not have. */
  find(operation: string): RequestHandler | undefined;
  /** Whether the parts of an operation can be throttled one by one. */
  hasParts(operation: string): boolean;
  /** Names of the tables that a request is about. */
  tablesOf(operation: string, body: object): string[];
}

export function createRequestHandlers(
  store: DynamoDbStore,
  usage: UsageMeter,
  settings: TableSettings,
  nowMs: () => number,
): RequestHandlers {
  const reader = createItemReader(store, usage);
  const statements = createStatementRunner(store, usage);
  const tables = createTableOperations(store, settings);
  const transactions = createTransactWriter(store, usage, nowMs);

  const handlers: Readonly<Record<string, RequestHandler>> = {
    GetItem: (body) => reader.getItem(body),
    BatchGetItem: (body, throttled) => reader.batchGetItem(body, throttled),
    PutItem: (body) => writeItem(store, usage, 'PutItem', body),
    UpdateItem: (body) => writeItem(store, usage, 'UpdateItem', body),
    DeleteItem: (body) => writeItem(store, usage, 'DeleteItem', body),
    BatchWriteItem: (body) => writeBatch(store, usage, body),
    TransactWriteItems: (body) => transactions.write(body),
    BatchExecuteStatement: (body, throttled) => statements.executeBatch(body, throttled),
    ExecuteStatement: (body) => statements.execute(body),
    Query: (body) => readPage(store, usage, 'Query', body),
    Scan: (body) => readPage(store, usage, 'Scan', body),
    CreateTable: (body) => tables.createTable(body),
    UpdateTable: (body) => tables.updateTable(body),
    DeleteTable: (body) => tables.deleteTable(body),
    DescribeTable: (body) => passThrough(store, 'DescribeTable', body),
    ListTables: (body) => passThrough(store, 'ListTables', body),
    TagResource: (body) => passThrough(store, 'TagResource', body),
    UntagResource: (body) => passThrough(store, 'UntagResource', body),
    ListTagsOfResource: (body) => passThrough(store, 'ListTagsOfResource', body),
    UpdateTimeToLive: (body) => settings.updateTimeToLive(body),
    DescribeTimeToLive: (body) => settings.describeTimeToLive(body),
    UpdateContinuousBackups: (body) => settings.updateContinuousBackups(body),
    DescribeContinuousBackups: (body) => settings.describeContinuousBackups(body),
  };

  return {
    find: (operation) => (Object.hasOwn(handlers, operation) ? handlers[operation] : undefined),
    hasParts: (operation) => operation === 'BatchExecuteStatement' || operation === 'BatchGetItem',
    tablesOf: (operation, body) => {
      const { TableName, RequestItems, TransactItems, Statements } = body as NamingBody;
      if (operation === 'ExecuteStatement') return present([statements.findTable(body)]);
      if (Statements !== undefined)
        return present(Statements.map((one) => statements.findTable(one)));
      if (RequestItems !== undefined) return Object.keys(RequestItems);
      if (TransactItems !== undefined) {
        return present(TransactItems.map((item) => Object.values(item)[0]?.TableName));
      }
      return present([TableName]);
    },
  };
}

/** Where the bodies of the operations name their tables. */
interface NamingBody {
  readonly TableName?: string;
  readonly RequestItems?: object;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName?: string }>>[];
  readonly Statements?: readonly { readonly Statement?: string }[];
}

function present(names: readonly (string | undefined)[]): string[] {
  return names.filter((name) => name !== undefined);
}

async function writeItem(
  store: DynamoDbStore,
  usage: UsageMeter,
  operation: WriteOperation,
  body: object,
): Promise<object> {
  const requested = (body as { ReturnConsumedCapacity?: string }).ReturnConsumedCapacity;
  const write = locateWrite(store, checkWrite(store, operation, body));
  const table = write.table.TableName;
  return store.exclusively(async () => {
    const outcome = await attemptWrite(store, write);
    if (outcome.units > 0) usage.addWriteUnits(table, outcome.units);
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- dynalite's own shape
    if (outcome.kind === 'refused') throw outcome.error;
    await store.commit([outcome.unit]);
    if (!isCapacityWanted(requested)) return outcome.reply;
    const capacity = consumedCapacity(table, outcome.units, requested);
    return { ...outcome.reply, ConsumedCapacity: capacity };
  });
}

/** Unconditional puts and deletes. */
async function writeBatch(store: DynamoDbStore, usage: UsageMeter, body: object): Promise<object> {
  const data = validateRequest('BatchWriteItem', body, store.dynalite);
  const requested = data.ReturnConsumedCapacity;
  delete data.ReturnConsumedCapacity;
  return store.exclusively(async () => {
    const unit = store.openUnit();
    const reply = await runAction('BatchWriteItem', unit.store, data);
    await store.commit([unit]);
    const spent = [...unit.touched()].map(({ table, before, after }): [string, number] => {
      const bytes = [before, after].map((item) => (item === undefined ? 0 : itemBytes(item)));
      return [table, writeUnits(Math.max(...bytes))];
    });
    for (const [table, units] of spent) usage.addWriteUnits(table, units);
    const capacity = listCapacity(spent, requested);
    return { ...reply, ...(capacity === undefined ? {} : { ConsumedCapacity: capacity }) };
  });
}

async function readPage(
  store: DynamoDbStore,
  usage: UsageMeter,
  operation: 'Query' | 'Scan',
  body: object,
): Promise<object> {
  // Before validation: dynalite does not know it for scans, though its pages go by it.
  const isConsistent = (body as { ConsistentRead?: boolean }).ConsistentRead === true;
  const data = validateRequest(operation, body, store.dynalite);
  data.ConsistentRead = isConsistent;
  const isWanted = isCapacityWanted(data.ReturnConsumedCapacity);
  if (!isWanted) data.ReturnConsumedCapacity = 'TOTAL';
  const reply = await runAction(operation, store.dynalite, data);
  const { ConsumedCapacity, ...page } = reply as {
    readonly ConsumedCapacity?: { readonly CapacityUnits: number };
  };
  // A page that found nothing is charged too.
  const least = isConsistent ? 1 : 0.5;
  const units = Math.max(least, ConsumedCapacity?.CapacityUnits ?? 0);
  usage.addReadUnits(data.TableName, units);
  if (!isWanted) return page;
  return { ...page, ConsumedCapacity: { ...ConsumedCapacity, CapacityUnits: units } };
}

function passThrough(
  store: DynamoDbStore,
  operation:
    'DescribeTable' | 'ListTables' | 'TagResource' | 'UntagResource' | 'ListTagsOfResource',
  body: object,
): Promise<object> {
  return runAction(operation, store.dynalite, validateRequest(operation, body, store.dynalite));
}
