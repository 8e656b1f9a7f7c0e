import { type ApiError, type Item, isApiError } from './dynalite-internals.ts';
import { DynamoDbRefusal, nameOfError, validationError } from './dynamodb-errors.ts';
import type { DynamoDbStore } from './dynamodb-store.ts';
import {
  attemptWrite,
  checkWrite,
  locateWrite,
  type PlannedWrite,
  type WriteOperation,
  type WriteOutcome,
} from './item-write.ts';
import { createTokenBook } from './request-tokens.ts';
import { listCapacity, type UsageMeter } from './usage.ts';

const actionsMax = 100;
const transactionBytesMax = 4 * 1024 * 1024;

const operationOf: Readonly<Record<string, WriteOperation>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheck',
};

export interface TransactWriteBody {
  readonly TransactItems?: readonly Readonly<Record<string, object | undefined>>[];
  readonly ClientRequestToken?: string;
  readonly ReturnConsumedCapacity?: string;
}

/** One entry that is either validated or refused by itself; the latter cancels the transaction. */
type PlannedAction =
  | { readonly kind: 'planned'; readonly write: PlannedWrite }
  | { readonly kind: 'refused'; readonly error: ApiError };

interface CancellationReason {
  readonly Code: string;
  readonly Message?: string | undefined;
  readonly Item?: Item | undefined;
}

export interface TransactWriter {
  /** All writes or none. Throws `TransactionCanceledException` with a reason for each action, in order. */
  write(body: TransactWriteBody): Promise<object>;
}

/** `nowMs` times the life of client request tokens. */
export function createTransactWriter(
  store: DynamoDbStore,
  usage: UsageMeter,
  nowMs: () => number,
): TransactWriter {
  const tokens = createTokenBook(nowMs);
  return {
    write: async (body) => {
      const request = tokens.read(body);
      const actions = planActions(store, body);
      return store.exclusively(async () => {
        if (tokens.isRepeated(request)) return {};
        const units = await writeAll(store, usage, actions);
        tokens.remember(request);
        const capacity = listCapacity(units, body.ReturnConsumedCapacity);
        return capacity === undefined ? {} : { ConsumedCapacity: capacity };
      });
    },
  };
}

function planActions(store: DynamoDbStore, body: TransactWriteBody): PlannedAction[] {
  const items = body.TransactItems ?? [];
  if (items.length < 1 || items.length > actionsMax) {
    throw validationError(
      `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: ` +
        `Member must have length between 1 and ${actionsMax}, got ${items.length}`,
    );
  }
  const seen = new Set<string>();
  return items.map((item) => {
    const action = planAction(store, item);
    if (action.kind === 'refused') return action;
    const { table, key } = action.write;
    const identity = `${table.TableName}/${key}`;
    if (seen.has(identity)) {
      throw validationError('Transaction request cannot include multiple operations on one item');
    }
    seen.add(identity);
    return action;
  });
}

function planAction(
  store: DynamoDbStore,
  item: Readonly<Record<string, object | undefined>>,
): PlannedAction {
  const [entry, ...others] = Object.entries(item).filter(([, value]) => value !== undefined);
  const operation = entry === undefined ? undefined : operationOf[entry[0]];
  if (entry?.[1] === undefined || operation === undefined || others.length > 0) {
    throw validationError(
      'TransactItems can only contain one of Check, Put, Update or Delete in each element, got ' +
        `[${Object.keys(item).join(', ')}]`,
    );
  }
  const required = {
    UpdateItem: 'UpdateExpression',
    ConditionCheck: 'ConditionExpression',
  } as const;
  const member = operation in required ? required[operation as keyof typeof required] : undefined;
  if (member !== undefined && !(member in entry[1])) {
    throw validationError(`The ${member} of each ${entry[0]} must not be null`);
  }
  const write = checkWrite(store, operation, entry[1]);
  try {
    return { kind: 'planned', write: locateWrite(store, write) };
  } catch (error) {
    // A key or item that does not fit its table is found when the transaction runs, and cancels it.
    if (isApiError(error) && nameOfError(error) === 'ValidationException') {
      return { kind: 'refused', error };
    }
    throw error;
  }
}

/** Table and units of each action, twice what a plain write costs. */
async function writeAll(
  store: DynamoDbStore,
  usage: UsageMeter,
  actions: readonly PlannedAction[],
): Promise<[string, number][]> {
  const outcomes: (WriteOutcome & { readonly table: string })[] = [];
  for (const action of actions) {
    if (action.kind === 'refused') {
      outcomes.push({ ...action, units: 0, table: '' });
      continue;
    }
    const table = action.write.table.TableName;
    outcomes.push({ ...(await attemptWrite(store, action.write)), table });
  }
  const units = outcomes.flatMap(({ table, units }): [string, number][] =>
    units === 0 ? [] : [[table, 2 * units]],
  );
  for (const [table, twice] of units) usage.addWriteUnits(table, twice);
  if (outcomes.some(({ kind }) => kind === 'refused')) throw cancelled(outcomes.map(reasonOf));
  const done = outcomes.filter((outcome) => outcome.kind === 'done');
  const bytes = done.reduce((sum, outcome) => sum + outcome.bytes, 0);
  if (bytes > transactionBytesMax) {
    throw validationError(
      `Collective size of items in transaction cannot exceed 4MB, got ${bytes} bytes`,
    );
  }
  await store.commit(done.map(({ unit }) => unit));
  return units;
}

function reasonOf(outcome: WriteOutcome): CancellationReason {
  if (outcome.kind === 'done') return { Code: 'None' };
  const { error } = outcome;
  const codes: Readonly<Record<string, string>> = {
    ConditionalCheckFailedException: 'ConditionalCheckFailed',
    ValidationException: 'ValidationError',
  };
  const name = nameOfError(error);
  const { Item } = error.body as { Item?: Item };
  return {
    Code: codes[name] ?? name,
    Message: error.body.message,
    ...(Item === undefined ? {} : { Item }),
  };
}

function cancelled(reasons: readonly CancellationReason[]): DynamoDbRefusal {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new DynamoDbRefusal(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}
