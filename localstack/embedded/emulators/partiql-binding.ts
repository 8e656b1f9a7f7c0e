import {
  type ActionRequest,
  type AttributeValue,
  type Condition,
  db,
  type DocumentPath,
  type Item,
  type Operand,
  type Table,
  throwIf,
  type UpdateSection,
} from './dynalite-internals.ts';
import { validationError } from './dynamodb-errors.ts';
import { keyOf } from './dynamodb-store.ts';
import { assertComparable, type PlannedWrite } from './item-write.ts';
import type { Change, Predicate, Statement, Term } from './partiql-syntax.ts';
import { assertValue, bindPredicate, bindSum, bindValue, isPath } from './partiql-values.ts';

/** A statement with its parameters, for one item of its table. */
export type BoundStatement =
  | {
      readonly kind: 'write';
      readonly table: Table;
      readonly key: string;
      readonly write: PlannedWrite;
    }
  | {
      readonly kind: 'read';
      readonly table: Table;
      readonly key: string;
      /** `undefined` for all attributes. */
      readonly projection: readonly DocumentPath[] | undefined;
    };

/** Puts parameters into a statement and finds the key of its item. Throws `ApiError`. */
export function bindStatement(
  statement: Statement,
  parameters: readonly AttributeValue[],
  table: Table,
  wantsOldItem: boolean,
): BoundStatement {
  if (parameters.length !== statement.parameterCount) {
    throw validationError(
      `Number of parameters in request and statement don't match: ${parameters.length} given, ` +
        `${statement.parameterCount} in the statement`,
    );
  }
  for (const parameter of parameters) assertValue(parameter);
  if (statement.kind === 'insert')
    return bindInsert(statement.item, parameters, table, wantsOldItem);

  const { key: Key, rest } = splitKey(statement.where, parameters, table);
  const key = keyOf(Key, table);
  if (statement.kind === 'select') {
    if (rest !== undefined) {
      throw validationError('this emulator reads by the key alone: remove other conditions');
    }
    return { kind: 'read', table, key, projection: statement.projection };
  }
  const data: ActionRequest = { TableName: table.TableName, Key };
  if (rest !== undefined) {
    assertComparable(rest);
    data._condition = { expression: rest };
  }
  if (statement.returning !== undefined) data.ReturnValues = statement.returning;
  if (statement.kind === 'delete') {
    const write = { operation: 'DeleteItem', existing: 'optional', table, key, data } as const;
    return { kind: 'write', table, key, write: { ...write, wantsOldItem } };
  }
  data._updates = bindChanges(statement.changes, parameters, table);
  const write = { operation: 'UpdateItem', existing: 'required', table, key, data } as const;
  return { kind: 'write', table, key, write: { ...write, wantsOldItem } };
}

function bindInsert(
  term: Term,
  parameters: readonly AttributeValue[],
  table: Table,
  wantsOldItem: boolean,
): BoundStatement {
  if (term.kind !== 'map') throw validationError('INSERT needs a VALUE of the form {...}');
  const item: Record<string, AttributeValue> = {};
  for (const [name, member] of term.entries) item[name] = bindValue(member, parameters);
  throwIf(db.validateItem(item, table));
  const key = db.createKey(item, table);
  const data: ActionRequest = { TableName: table.TableName, Item: item };
  const write = { operation: 'PutItem', existing: 'refused', table, key, data } as const;
  return { kind: 'write', table, key, write: { ...write, wantsOldItem } };
}

function bindChanges(
  changes: readonly Change[],
  parameters: readonly AttributeValue[],
  table: Table,
): NonNullable<ActionRequest['_updates']> {
  const keyNames = table.KeySchema.map(({ AttributeName }) => AttributeName);
  const paths: DocumentPath[] = [];
  const sections = changes.map((change): UpdateSection => {
    const { path } = change;
    const head = String(path[0]);
    if (keyNames.includes(head)) {
      throw validationError(`Cannot update attribute ${head}. This attribute is part of the key`);
    }
    const overlapping = paths.find((other) => overlaps(path, other));
    if (overlapping !== undefined) {
      throw validationError(
        `Two document paths overlap with each other: [${overlapping.join(', ')}] and [${path.join(', ')}]`,
      );
    }
    paths.push(path);
    if (change.kind === 'remove') return { type: 'remove', path };
    const val = bindSum(change.value, parameters);
    return { type: 'set', path, val, attrType: typeOf(val) };
  });
  return { sections, paths, nestedPaths: {} };
}

function overlaps(one: DocumentPath, other: DocumentPath): boolean {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((step, index) => step === other[index]);
}

function typeOf(operand: Operand): string | undefined {
  return Array.isArray(operand) || 'args' in operand ? undefined : Object.keys(operand)[0];
}

interface SplitKey {
  readonly key: Item;
  /** What the item must satisfy besides; `undefined` if nothing. */
  readonly rest: Condition | undefined;
}

/** Takes `key = value` for each key attribute out of the outermost ANDs. */
function splitKey(where: Predicate, parameters: readonly AttributeValue[], table: Table): SplitKey {
  const key: Record<string, AttributeValue> = {};
  let rest: Condition | undefined;
  for (const predicate of conjunctsOf(where)) {
    const condition = bindPredicate(predicate, parameters);
    const equality = readEquality(condition);
    const isKey = table.KeySchema.some(({ AttributeName }) => AttributeName === equality?.name);
    if (equality !== undefined && isKey && !(equality.name in key)) {
      key[equality.name] = equality.value;
    } else {
      rest = rest === undefined ? condition : { type: 'and', args: [rest, condition] };
    }
  }
  const missing = table.KeySchema.find(({ AttributeName }) => !(AttributeName in key));
  if (missing !== undefined) {
    throw validationError(
      'Where clause does not contain a mandatory equality on all key attributes: ' +
        `${missing.AttributeName} of table ${table.TableName} is missing`,
    );
  }
  return { key, rest };
}

function conjunctsOf(predicate: Predicate): Predicate[] {
  if (!('args' in predicate) || predicate.type !== 'and') return [predicate];
  return predicate.args.flatMap(conjunctsOf);
}

/** `name = value`, either way round. */
function readEquality({
  type,
  args,
}: Condition): { name: string; value: AttributeValue } | undefined {
  const [left, right] = args;
  if (type !== '=' || left === undefined || right === undefined) return undefined;
  const [path, value] = isPath(left) ? [left, right] : [right, left];
  if (!isPath(path) || path.length !== 1 || isPath(value) || 'args' in value) return undefined;
  return { name: String(path[0]), value };
}
