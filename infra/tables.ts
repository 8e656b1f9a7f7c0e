import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

export interface KeyedTableProps {
  readonly removalPolicy: RemovalPolicy;
  /** Undefined: the key that DynamoDB owns. */
  readonly encryptionKey: IKey | undefined;
  /** The attribute by which items expire; none if they never do. */
  readonly timeToLiveAttribute?: string;
}

/**
 * A table as all tables of a job are: two text keys (positions exceed what a DynamoDB number can
 * hold), paid by the request, and restorable to any second of the last 35 days.
 */
export function createKeyedTable(
  scope: Construct,
  id: string,
  { encryptionKey, ...props }: KeyedTableProps,
): Table {
  return new Table(scope, id, {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...(encryptionKey !== undefined && {
      ...{ encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey },
    }),
    ...props,
  });
}
