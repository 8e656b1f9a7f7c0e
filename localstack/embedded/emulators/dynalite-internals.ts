/**
 * The parts of dynalite 4.0.0 that this emulator is built from, typed as far as they are used. dynalite has
 * no declarations and its server lacks transactions and PartiQL, so its store, validations and actions are
 * called directly.
 */
import { createRequire } from 'node:module';

/** One DynamoDB value as the JSON protocol spells it: exactly one member, e.g. `{ S: 'text' }`. */
export type AttributeValue = Readonly<Record<string, unknown>>;
/** An item or a key: attribute name → value. */
export type Item = Readonly<Record<string, AttributeValue>>;
/** Attribute name, then names and list positions inside it. */
export type DocumentPath = readonly (string | number)[];

export interface KeySchemaElement {
  readonly AttributeName: string;
  readonly KeyType: 'HASH' | 'RANGE';
}

export interface Table {
  readonly TableName: string;
  readonly TableStatus: string;
  readonly KeySchema: readonly KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: readonly { readonly IndexStatus?: string }[];
}

/** A condition in the form that dynalite's parser makes and its filter evaluates. */
export interface Condition {
  readonly type: string;
  readonly name?: string;
  readonly args: readonly Operand[];
}
export type Operand = DocumentPath | AttributeValue | Condition;

/** One action of an update expression, in the form that dynalite's parser makes. */
export interface UpdateSection {
  readonly type: 'set' | 'remove' | 'add' | 'delete';
  readonly path: DocumentPath;
  readonly val?: Operand;
  readonly attrType?: string | undefined;
}

/** A validated request as dynalite's actions take it. They change it; use it once. */
export interface ActionRequest {
  TableName: string;
  Key?: Item;
  Item?: Item;
  ReturnValues?: string;
  ReturnConsumedCapacity?: string;
  ConsistentRead?: boolean;
  AttributesToGet?: readonly string[];
  _condition?: { readonly expression: Condition };
  _updates?: {
    readonly sections: readonly UpdateSection[];
    readonly paths: readonly DocumentPath[];
    readonly nestedPaths: Readonly<Record<string, boolean>>;
  };
  _projection?: {
    readonly paths: readonly DocumentPath[];
    readonly nestedPaths: Readonly<Record<string, boolean>>;
  };
}

/** A refusal by the service, ready to send. Anything else that dynalite throws is a surprise. */
export interface ApiError {
  readonly statusCode: number;
  readonly body: { readonly __type: string; readonly message?: string };
}

export type Callback<T = unknown> = (error: unknown, value?: T) => void;

export interface SubStore {
  lock(key: string, hold: (release: (done: Callback) => Callback) => void): void;
  get(key: string, callback: Callback<Item>): void;
  put(key: string, value: Item, callback: Callback): void;
  del(key: string, callback: Callback): void;
}

export type StoreOperation =
  | { readonly type: 'put'; readonly key: string; readonly value: unknown }
  | { readonly type: 'del'; readonly key: string };

export interface DynaliteStore {
  readonly options: { readonly maxItemSize: number };
  readonly db: {
    open(): Promise<void>;
    getSync(key: string): unknown;
    batch(operations: readonly StoreOperation[]): Promise<void>;
    iterator(range: { gte: string; lt: string }): AsyncIterable<[string, unknown]>;
    close(callback: Callback): void;
  };
  getTable(name: string, ...rest: [Callback<Table>] | [boolean, Callback<Table>]): void;
  getItemDb(table: string): SubStore;
  getIndexDb(kind: string, table: string, index: string): SubStore;
}

export type Action = (store: DynaliteStore, data: object, callback: Callback<object>) => void;

interface Validation {
  readonly types: object;
  readonly custom?: (data: object, store: DynaliteStore) => string | undefined;
}

interface Db {
  create(options: {
    readonly createTableMs: number;
    readonly deleteTableMs: number;
    readonly updateTableMs: number;
  }): DynaliteStore;
  createKey(item: Item, table: Table): string;
  validateKey(key: Item, table: Table): ApiError | undefined;
  validateItem(item: Item, table: Table): ApiError | undefined;
  validateKeyPaths(nested: object | undefined, table: Table): ApiError | undefined;
  checkConditional(data: ActionRequest, existing: Item | undefined): ApiError | null | undefined;
  mapPath(path: DocumentPath, item: Item): AttributeValue | null | undefined;
  mapPaths(paths: readonly (DocumentPath | string)[], item: Item): Item;
}

interface Validations {
  /** A copy without unknown members; throws `ApiError`. */
  checkTypes(data: object, types: object): object;
  /** Throws `ApiError`. */
  checkValidations(
    data: object,
    types: object,
    custom: Validation['custom'],
    store: DynaliteStore,
  ): void;
  /** What is wrong with the value. Brings numbers to their canonical form, in place. */
  validateAttributeValue(value: AttributeValue): string | undefined;
}

const require = createRequire(import.meta.url);

export const db = require('dynalite/db') as Db;
export const validations = require('dynalite/validations') as Validations;

const operations = [
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'DeleteTable',
  'DescribeTable',
  'GetItem',
  'ListTables',
  'ListTagsOfResource',
  'PutItem',
  'Query',
  'Scan',
  'TagResource',
  'UntagResource',
  'UpdateItem',
  'UpdateTable',
] as const;
export type DynaliteOperation = (typeof operations)[number];

const loaded = new Map(
  operations.map((operation) => {
    const file = operation.charAt(0).toLowerCase() + operation.slice(1);
    const action = require(`dynalite/actions/${file}`) as Action;
    return [
      operation,
      { action, validation: require(`dynalite/validations/${file}`) as Validation },
    ];
  }),
);

function load(operation: DynaliteOperation): { action: Action; validation: Validation } {
  const parts = loaded.get(operation);
  if (parts === undefined) throw new Error(`dynalite has no operation ${operation}`);
  return parts;
}

/** Checks a request body as the service does. Returns what the action takes; throws `ApiError`. */
export function validateRequest(
  operation: DynaliteOperation,
  body: object,
  store: DynaliteStore,
): ActionRequest {
  const { types, custom } = load(operation).validation;
  const data = validations.checkTypes(body, types);
  validations.checkValidations(data, types, custom, store);
  return data as ActionRequest;
}

/** Runs an action with a validated request. Rejects with `ApiError` when it refuses. */
export function runAction(
  operation: DynaliteOperation,
  store: DynaliteStore,
  data: object,
): Promise<object> {
  return new Promise((resolve, reject) => {
    load(operation).action(store, data, (error, reply) => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- dynalite's own shape
      if (error !== null && error !== undefined) reject(error);
      else resolve(reply ?? {});
    });
  });
}

export function isApiError(error: unknown): error is ApiError {
  return typeof error === 'object' && error !== null && 'statusCode' in error && 'body' in error;
}

/** For dynalite's checks, which return their refusal. */
export function throwIf(error: ApiError | null | undefined): void {
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- dynalite's own shape
  if (error !== null && error !== undefined) throw error;
}
