import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { createCheckpointBucket } from './checkpoint-bucket.ts';
import { DISCARDED_BATCHES_PATTERN, jobObjectsPattern } from './permissions.ts';
import type { ResourceArns } from './policy-statements.ts';
import { createKeyedTable } from './tables.ts';

/** Where a job keeps what it must not lose. */
export interface JobStorage {
  readonly stateTable: Table;
  readonly controlTable: Table;
  readonly deadLetterTable: Table;
  /** Sink name → table, for every sink of the job. */
  readonly sinkTables: ReadonlyMap<string, Table>;
  readonly bucket: Bucket;
  /** What all of it is encrypted with; undefined for the keys of AWS. */
  readonly encryptionKey: IKey | undefined;
}

export interface JobStorageProps {
  readonly sinkNames: readonly string[];
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey: IKey | undefined;
}

/**
 * Creates the storage directly in the scope of the job: the ids here are a contract, since another
 * id is another, empty table.
 */
export function createJobStorage(
  scope: Construct,
  { sinkNames, ...kept }: JobStorageProps,
): JobStorage {
  return {
    stateTable: createKeyedTable(scope, 'State', { ...kept, timeToLiveAttribute: 'ttl' }),
    controlTable: createKeyedTable(scope, 'Control', kept),
    deadLetterTable: createKeyedTable(scope, 'DeadLetters', kept),
    sinkTables: new Map(
      sinkNames.map((name) => [name, createKeyedTable(scope, `Sink-${name}`, kept)]),
    ),
    bucket: createCheckpointBucket(scope, 'Checkpoints', kept),
    encryptionKey: kept.encryptionKey,
  };
}

/** The ARNs of the storage as one function may see it: with the sinks that are its own. */
export function listStorageArns(
  storage: JobStorage,
  jobName: string,
  ownSinks: ReadonlyMap<string, Table>,
): ResourceArns {
  return {
    'state-table': [storage.stateTable.tableArn],
    'control-table': [storage.controlTable.tableArn],
    'dead-letter-table': [storage.deadLetterTable.tableArn],
    'sink-tables': [...ownSinks.values()].map((table) => table.tableArn),
    'storage-key': storage.encryptionKey ? [storage.encryptionKey.keyArn] : [],
    bucket: [storage.bucket.bucketArn],
    'job-objects': [storage.bucket.arnForObjects(jobObjectsPattern(jobName))],
    'discarded-batches': [storage.bucket.arnForObjects(DISCARDED_BATCHES_PATTERN)],
  };
}
