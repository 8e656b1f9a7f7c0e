import { itemBytes, itemBytesMax, writeUnits } from './capacity.ts';
import {
  type ActionRequest,
  type ApiError,
  type Condition,
  db,
  isApiError,
  type Item,
  type Operand,
  runAction,
  type Table,
  throwIf,
  validateRequest,
  validations,
} from './dynalite-internals.ts';
import {
  conditionFailed,
  DynamoDbRefusal,
  nameOfError,
  validationError,
} from './dynamodb-errors.ts';
import { type DynamoDbStore, keyOf, type WriteUnit } from './dynamodb-store.ts';

export type WriteOperation = 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheck';

/** One validated write of one item. It can be attempted once. */
export interface PlannedWrite {
  readonly operation: WriteOperation;
  readonly table: Table;
  readonly key: string;
  readonly data: ActionRequest;
  /** Whether a failed condition hands back the item that it met. */
  readonly wantsOldItem: boolean;
  /**
   * What PartiQL asks before any condition: INSERT an absent item, UPDATE a present one; a DELETE of an
   * absent one succeeds, whatever its condition.
   */
  readonly existing?: 'refused' | 'required' | 'optional';
}

export type WriteOutcome =
  | {
      readonly kind: 'done';
      /** Its writes are staged; commit it. */
      readonly unit: WriteUnit;
      readonly reply: object;
      readonly bytes: number;
      readonly units: number;
    }
  | { readonly kind: 'refused'; readonly error: ApiError; readonly units: number };

/** A write that is well formed, whether or not its table and key exist. */
export type CheckedWrite = Pick<PlannedWrite, 'operation' | 'data' | 'wantsOldItem'>;

/** Validates a PutItem, UpdateItem, DeleteItem or ConditionCheck body. Throws `ApiError`. */
export function checkWrite(
  store: DynamoDbStore,
  operation: WriteOperation,
  body: object,
): CheckedWrite {
  // First, for dynalite's validation removes what it does not know.
  const wantsOldItem = readWantsOldItem(body);
  const rules = operation === 'ConditionCheck' ? 'DeleteItem' : operation;
  const data = validateRequest(rules, body, store.dynalite);
  delete data.ReturnConsumedCapacity;
  if (data._condition !== undefined) assertComparable(data._condition.expression);
  return { operation, data, wantsOldItem };
}

/** Finds table and key of a write. Throws `ApiError`. */
export function locateWrite(store: DynamoDbStore, write: CheckedWrite): PlannedWrite {
  const table = store.table(write.data.TableName);
  return { ...write, table, key: keyOfWrite(write.data, table) };
}

function keyOfWrite(data: ActionRequest, table: Table): string {
  if (data.Item === undefined) return keyOf(data.Key ?? {}, table);
  throwIf(db.validateItem(data.Item, table));
  return db.createKey(data.Item, table);
}

/** `ReturnValuesOnConditionCheckFailure` of a request or statement. */
export function readWantsOldItem(body: object): boolean {
  const value = (body as Record<string, unknown>)['ReturnValuesOnConditionCheckFailure'];
  if (value === undefined || value === null || value === 'NONE') return false;
  if (value === 'ALL_OLD') return true;
  throw validationError(
    `1 validation error detected: Value '${JSON.stringify(value)}' at ` +
      `'returnValuesOnConditionCheckFailure' failed to satisfy constraint: ` +
      `Member must satisfy enum value set: [ALL_OLD, NONE]`,
  );
}

/** Evaluates a write against the committed item. Must run inside `exclusively`, with its commit. */
export async function attemptWrite(
  store: DynamoDbStore,
  write: PlannedWrite,
): Promise<WriteOutcome> {
  const { table, key, data } = write;
  const unit = store.openUnit();
  const { before } = unit.touch(table.TableName, key);
  const bytesBefore = before === undefined ? 0 : itemBytes(before);
  try {
    assertExistence(write, before);
    if (write.existing === 'optional' && before === undefined) {
      return { kind: 'done', unit, reply: {}, bytes: 0, units: writeUnits(0) };
    }
    const computed = findComputedNumbers(data);
    const reply = await perform(write, unit, before);
    const { after } = unit.touch(table.TableName, key);
    const bytesAfter = after === undefined ? 0 : itemBytes(after);
    assertStorable(after, bytesAfter, computed, write.operation);
    const bytes = Math.max(bytesBefore, bytesAfter);
    return { kind: 'done', unit, reply, bytes, units: writeUnits(bytes) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    switch (nameOfError(error)) {
      case 'ConditionalCheckFailedException': {
        const item = write.wantsOldItem ? before : undefined;
        return { kind: 'refused', error: conditionFailed(item), units: writeUnits(bytesBefore) };
      }
      case 'DuplicateItemException':
        return { kind: 'refused', error, units: writeUnits(bytesBefore) };
      default:
        return { kind: 'refused', error, units: 0 };
    }
  }
}

function assertExistence({ existing }: PlannedWrite, before: Item | undefined): void {
  if (existing === 'required' && before === undefined) throw conditionFailed(undefined);
  if (existing === 'refused' && before !== undefined) {
    throw new DynamoDbRefusal('DuplicateItemException', 'Duplicate primary key exists in table');
  }
}

async function perform(
  { operation, data }: PlannedWrite,
  unit: WriteUnit,
  before: Item | undefined,
): Promise<object> {
  if (operation !== 'ConditionCheck') return runAction(operation, unit.store, data);
  throwIf(db.checkConditional(data, before));
  return {};
}

/** Attributes whose number the update computes; dynalite does not check what comes out. */
function findComputedNumbers(data: ActionRequest): string[] {
  return (data._updates?.sections ?? [])
    .filter(({ type, val }) => type === 'add' || (isNode(val) && val.args.length === 2))
    .map(({ path }) => String(path[0]));
}

function assertStorable(
  item: Item | undefined,
  bytes: number,
  computed: readonly string[],
  operation: WriteOperation,
): void {
  if (item === undefined) return;
  for (const name of computed) {
    const value = item[name];
    const problem = value === undefined ? undefined : validations.validateAttributeValue(value);
    if (problem !== undefined) throw validationError(problem);
  }
  if (bytes > itemBytesMax) {
    throw validationError(
      operation === 'UpdateItem'
        ? 'Item size to update has exceeded the maximum allowed size'
        : 'Item size has exceeded the maximum allowed size',
    );
  }
}

/**
 * dynalite compares maps and lists by identity, so that equality would be false for ever. Until somebody
 * needs it, that is refused and not answered wrongly.
 */
export function assertComparable(condition: Condition): void {
  const isEquality = ['=', '<>', 'in'].includes(condition.type);
  for (const operand of condition.args) {
    if (isNode(operand)) assertComparable(operand);
    else if (isEquality && !isPath(operand) && ('M' in operand || 'L' in operand)) {
      throw validationError(
        `this emulator cannot compare maps or lists with ${condition.type}; compare their members, ` +
          'or a version attribute',
      );
    }
  }
}

function isPath(operand: Operand): operand is Extract<Operand, readonly unknown[]> {
  return Array.isArray(operand);
}

function isNode(operand: Operand | undefined): operand is Condition {
  return operand !== undefined && !isPath(operand) && 'args' in operand && 'type' in operand;
}
