import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { System } from '../../ports/system.ts';
import type { RetryPolicy } from '../system/backoff.ts';
import type { ConditionClause } from './condition-clauses.ts';
import type { Item, TableKey } from './table-keys.ts';

/** Under which condition an item replaces the one that is there. Made once, so that statements can be kept by it. */
export interface ReplaceRule {
  readonly condition: ConditionClause;
  /** Attributes that the item there may have and that go if the new one does not. */
  readonly removable: readonly string[];
}

/**
 * One write of one item.
 *
 * - `create`: only where there is none
 * - `replace`: the whole item, only where there is one and the condition holds; never creates
 * - `patch`: sets some attributes, only where there is an item and the condition holds
 */
export type ConditionalWrite =
  | { readonly kind: 'create'; readonly item: Item }
  | {
      readonly kind: 'replace';
      readonly item: Item;
      readonly rule: ReplaceRule;
      readonly values: readonly AttributeValue[];
    }
  | {
      readonly kind: 'patch';
      readonly key: TableKey;
      readonly changes: Item;
      readonly condition: ConditionClause;
      readonly values: readonly AttributeValue[];
    };

/**
 * - `done`: acknowledged
 * - `refused`: the condition failed, or the item to create is there; maybe by our own hand, where a reply was lost
 * - `unknown`: the reply was lost
 */
export type WriteResult = 'done' | 'refused' | 'unknown';

export interface WriteOptions {
  /** For errors, say `write state to table t`. */
  readonly doing: string;
  /** What to do where the reply was lost; only writes for which twice is once may be sent again. */
  readonly onUnknown: 'report' | 'resend';
}

/** Sends independent conditional writes, one result for each in the same order. An item must occur once in a call. */
export interface ConditionalWriter {
  write(writes: readonly ConditionalWrite[], options: WriteOptions): Promise<WriteResult[]>;
}

/**
 * - `partiql-batch`: 25 writes to a request, at the price of single ones
 * - `conditional-put`: a request for each, for endpoints that cannot do the other
 */
export type WriteMode = 'partiql-batch' | 'conditional-put';

export interface TableAccess {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly system: System;
  /** A mode, or who finds it out (see probe-write-mode). @default 'partiql-batch', which AWS can do */
  readonly writeMode?: WriteMode | (() => Promise<WriteMode>) | undefined;
  /** How long throttled requests are tried again. */
  readonly retryPolicy?: RetryPolicy | undefined;
}

/** The key of the item that a write is about, for errors. */
export function describeItem(write: ConditionalWrite): string {
  const { pk, sk } = write.kind === 'patch' ? write.key : write.item;
  return JSON.stringify([pk?.S, sk?.S]);
}
