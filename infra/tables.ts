import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

export interface KeyedTableProps {
  readonly removalPolicy: RemovalPolicy;
  /** The attribute by which items expire; none if they never do. */
  readonly timeToLiveAttribute?: string;
}

/**
 * A table as all tables of a job are: two text keys (positions exceed what a DynamoDB number can
 * hold), paid by the request, restorable to any second of the last 35 days, and encrypted with the
 * key that DynamoDB owns.
 */
export function createKeyedTable(scope: Construct, id: string, props: KeyedTableProps): Table {
  return new Table(scope, id, {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...props,
  });
}
