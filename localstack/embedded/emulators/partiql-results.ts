import type { ApiError, Item } from './dynalite-internals.ts';
import { DynamoDbRefusal, nameOfError } from './dynamodb-errors.ts';
import type { WriteUnit } from './dynamodb-store.ts';

/** What RETURNING asks for of a write, or what was read. */
interface Success {
  readonly table: string;
  /** Write units of a write, read units of a read. */
  readonly units: number;
  readonly item: Item | undefined;
}

export interface Failure {
  readonly kind: 'failed';
  /** `undefined` if the statement could not be read that far. */
  readonly table: string | undefined;
  readonly units: number;
  readonly error: ApiError;
}

export type StatementResult =
  | (Success & { readonly kind: 'read' })
  /** Its changes are staged in the unit; commit it. */
  | (Success & { readonly kind: 'write'; readonly unit: WriteUnit })
  | Failure;

export function throttle(table: string): Failure {
  const error = new DynamoDbRefusal(
    'ThrottlingException',
    'Throughput exceeds the current capacity of your table or index',
  );
  return { kind: 'failed', table, units: 0, error };
}

const batchCodes: Readonly<Record<string, string>> = {
  ConditionalCheckFailedException: 'ConditionalCheckFailed',
  DuplicateItemException: 'DuplicateItem',
  ResourceNotFoundException: 'ResourceNotFound',
  ThrottlingException: 'ThrottlingError',
  ValidationException: 'ValidationError',
};

/** A member of a batch's `Responses`. */
export function renderResult(result: StatementResult): object {
  const table = result.table === undefined ? {} : { TableName: result.table };
  if (result.kind !== 'failed') {
    return { ...table, ...(result.item === undefined ? {} : { Item: result.item }) };
  }
  const name = nameOfError(result.error);
  const { message, Item } = result.error.body as { message?: string; Item?: Item };
  return {
    ...table,
    Error: {
      Code: batchCodes[name] ?? name,
      Message: message,
      ...(Item === undefined ? {} : { Item }),
    },
  };
}
