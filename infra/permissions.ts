/**
 * Every right that the functions of a job have, as data: what the deployment grants, and what
 * recorded calls are compared with. No wildcard action, no resource that is not the job's own.
 * (What Lambda itself needs to attach them to a VPC is in job-network.ts, and denied to their code.)
 */

/** What a right is about. The construct knows the ARNs; a name without ARNs grants nothing. */
export type GrantedResource =
  | 'stream'
  | 'stream-key'
  | 'storage-key'
  | 'state-table'
  | 'control-table'
  | 'dead-letter-table'
  | 'sink-tables'
  | 'bucket'
  | 'job-objects'
  | 'discarded-batches'
  | 'backup'
  | 'backup-objects'
  | 'cloned-control-table'
  | 'cloned-bucket'
  | 'cloned-job-objects'
  | 'cloned-storage-key'
  | 'operator-functions'
  | 'event-source-mappings'
  | 'step-function'
  | 'log-group'
  | 'network'
  | 'network-interfaces'
  | 'scheduled-function';

export interface Permission {
  readonly on: GrantedResource;
  readonly actions: readonly string[];
  /** The services that a key may be used through, for the role, and not by the role itself. @default - it is no key */
  readonly through?: readonly string[];
  readonly why: string;
}

const LOGGING: Permission = {
  on: 'log-group',
  actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  why: 'the group itself belongs to the deployment, so that its retention is never lost',
};

/**
 * For a job whose tables and bucket are encrypted with a key of their owner's. DynamoDB asks for these of whoever reads and writes;
 * S3 for two of them. Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
 */
const STORAGE_KEY: Permission = {
  on: 'storage-key',
  actions: [
    'kms:Decrypt',
    'kms:DescribeKey',
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ],
  through: ['dynamodb', 's3'],
  why: "only where tables and bucket are encrypted with their owner's key: DynamoDB and S3 use it with the rights of whoever asks them",
};

const STREAM_KEY_READER: Permission = {
  on: 'stream-key',
  actions: ['kms:Decrypt'],
  through: ['kinesis'],
  why: "only a stream that is encrypted with its owner's key",
};

const STREAM_KEY_WRITER: Permission = { ...STREAM_KEY_READER, actions: ['kms:GenerateDataKey'] };

const IDEMPOTENT_OUTPUT_ACTIONS = [
  'dynamodb:BatchGetItem',
  'dynamodb:GetItem',
  'dynamodb:PartiQLInsert',
  'dynamodb:PartiQLUpdate',
  'dynamodb:PutItem',
];

export const OPERATOR_PERMISSIONS: readonly Permission[] = [
  {
    on: 'stream',
    actions: [
      'kinesis:DescribeStream',
      'kinesis:DescribeStreamSummary',
      'kinesis:GetRecords',
      'kinesis:GetShardIterator',
      'kinesis:ListShards',
    ],
    why: 'the event source mapping reads with the rights of the function, and so does our own reader',
  },
  STREAM_KEY_READER,
  {
    on: 'state-table',
    actions: [
      'dynamodb:BatchGetItem',
      'dynamodb:BatchWriteItem',
      'dynamodb:GetItem',
      'dynamodb:PartiQLInsert',
      'dynamodb:PartiQLUpdate',
      'dynamodb:PutItem',
      'dynamodb:Query',
      'dynamodb:UpdateItem',
    ],
    why: 'no DeleteItem: a removed key leaves a tombstone, which TTL collects (P14); hints of timers alone are removed, in batches, and found by queries (P12)',
  },
  {
    on: 'control-table',
    actions: [
      'dynamodb:ConditionCheckItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
      'dynamodb:UpdateItem',
    ],
    why: 'progress, its fences, and the first commit of a channel, which checks its parents (P9)',
  },
  {
    on: 'dead-letter-table',
    actions: IDEMPOTENT_OUTPUT_ACTIONS,
    why: 'a verdict is an emission like any other (P15)',
  },
  {
    on: 'sink-tables',
    // BatchWriteItem serves sinks that are declared at-least-once: whether one is, is known to the code alone.
    actions: ['dynamodb:BatchWriteItem', ...IDEMPOTENT_OUTPUT_ACTIONS],
    why: "the operator's own sinks only: each sink has one writer",
  },
  {
    on: 'job-objects',
    actions: ['s3:GetObject', 's3:PutObject'],
    why: 'segments are written once and read; collecting them is not the work of an operator',
  },
  {
    on: 'discarded-batches',
    actions: ['s3:PutObject'],
    why: 'Lambda writes what it discards with the rights of the function',
  },
  {
    on: 'bucket',
    actions: ['s3:ListBucket'],
    why: 'Lambda asks for it before it accepts the bucket as a destination, with no prefix to make a condition of; and a missing object is 404 only to those who may list. The bucket belongs to the job alone',
  },
  STORAGE_KEY,
  LOGGING,
];

export const REGISTRAR_PERMISSIONS: readonly Permission[] = [
  {
    on: 'control-table',
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    why: 'the job item (C1)',
  },
  {
    on: 'job-objects',
    actions: ['s3:GetObject', 's3:PutObject'],
    why: 'the marker that tells lost tables from a first deployment (C1)',
  },
  {
    on: 'bucket',
    actions: ['s3:ListBucket'],
    why: 'a missing marker is 404 only to those who may list; 403 would look like a lost right',
  },
  STORAGE_KEY,
  LOGGING,
];

export const HEARTBEAT_PERMISSIONS: readonly Permission[] = [
  {
    on: 'stream',
    actions: ['kinesis:ListShards', 'kinesis:PutRecords'],
    why: 'one record into each open shard (P11); it reads none',
  },
  STREAM_KEY_WRITER,
  LOGGING,
];

export const COORDINATOR_PERMISSIONS: readonly Permission[] = [
  {
    on: 'control-table',
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
    why: 'the job, the progress of its channels and their list, and the registry of its manifests (C4); no progress is written',
  },
  {
    on: 'job-objects',
    actions: ['s3:DeleteObject', 's3:GetObject', 's3:PutObject'],
    why: 'manifests and merged files, and the collection of what nothing refers to any more (C7)',
  },
  {
    on: 'bucket',
    actions: ['s3:ListBucket'],
    why: 'garbage is found by listing; and a missing object is 404 only to those who may list',
  },
  {
    on: 'backup-objects',
    actions: ['s3:GetObject', 's3:PutObject'],
    why: 'second copies of manifests and savepoints, if the job asks for them; none is ever deleted',
  },
  {
    on: 'backup',
    actions: ['s3:ListBucket'],
    why: 'a missing copy is 404 only to those who may list',
  },
  {
    on: 'stream',
    actions: ['kinesis:DescribeStreamSummary', 'kinesis:ListShards'],
    why: 'which shards are closed, and how long records are kept (R7); it reads none',
  },
  {
    on: 'operator-functions',
    actions: ['lambda:InvokeFunction'],
    why: 'what the deployed code is a contract about, and visits to channels that nothing arrives in (R7); the operators of this job alone',
  },
  STORAGE_KEY,
  LOGGING,
];

export const STEP_PERMISSIONS: readonly Permission[] = [
  {
    on: 'control-table',
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'],
    why: 'the hold, fences, the progress of a generation that is loaded, and the registry of manifests (R1, R2, R5)',
  },
  {
    on: 'state-table',
    actions: [
      'dynamodb:BatchWriteItem',
      'dynamodb:GetItem',
      'dynamodb:PartiQLInsert',
      'dynamodb:PartiQLUpdate',
      'dynamodb:PutItem',
      'dynamodb:Query',
    ],
    why: 'a generation is loaded by inserts, compared by queries, and one that is over is deleted in batches (R5, R13)',
  },
  {
    on: 'sink-tables',
    actions: ['dynamodb:BatchGetItem', 'dynamodb:DeleteItem', 'dynamodb:PutItem', 'dynamodb:Scan'],
    why: 'void rows are found, removed or written anew, whole; outputs that count again are brought back (R10)',
  },
  {
    on: 'dead-letter-table',
    actions: [
      'dynamodb:BatchGetItem',
      'dynamodb:DeleteItem',
      'dynamodb:PartiQLInsert',
      'dynamodb:PartiQLUpdate',
      'dynamodb:PutItem',
      'dynamodb:Scan',
    ],
    why: 'verdicts are outputs like others (P15, R10)',
  },
  {
    on: 'job-objects',
    actions: ['s3:DeleteObject', 's3:GetObject', 's3:PutObject'],
    why: 'manifests, files and reservations; a savepoint is deleted where somebody asks for it',
  },
  {
    on: 'bucket',
    actions: ['s3:ListBucket'],
    why: 'what a merge has made already is found by listing; and a missing object is 404 only to those who may list',
  },
  {
    on: 'backup-objects',
    actions: ['s3:GetObject', 's3:PutObject'],
    why: 'savepoints are copied where the job asks for it, and read from there where somebody asks for that; nothing is ever deleted',
  },
  {
    on: 'backup',
    actions: ['s3:ListBucket'],
    why: 'which names it has; and a missing copy is 404 only to those who may list',
  },
  {
    on: 'stream',
    actions: [
      'kinesis:DescribeStreamSummary',
      'kinesis:GetRecords',
      'kinesis:GetShardIterator',
      'kinesis:ListShards',
    ],
    why: 'whether the records after a cut can still be read is found out by reading one (R5)',
  },
  STREAM_KEY_READER,
  {
    on: 'operator-functions',
    actions: ['lambda:InvokeFunction'],
    why: 'what the deployed code is a contract about, and the replay (R6); the operators of this job alone',
  },
  {
    on: 'cloned-job-objects',
    actions: ['s3:GetObject'],
    why: 'only a clone: the manifest that it begins with, and its files (R12); nothing of the other job is ever written or deleted',
  },
  {
    on: 'cloned-bucket',
    actions: ['s3:ListBucket'],
    why: 'only a clone: a missing object is 404 only to those who may list',
  },
  {
    on: 'cloned-control-table',
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
    why: "only a clone: the other job's registry, in which it pins the manifest while it copies (R12)",
  },
  {
    ...STORAGE_KEY,
    on: 'cloned-storage-key',
    why: "only a clone of a job whose tables and bucket are encrypted with their owner's key",
  },
  {
    on: 'event-source-mappings',
    actions: ['lambda:GetEventSourceMapping'],
    why: 'a restore looks whether they still are what was deployed (R8)',
  },
  STORAGE_KEY,
  LOGGING,
];

/** What a workflow may do. */
export const WORKFLOW_PERMISSIONS: readonly Permission[] = [
  {
    on: 'step-function',
    actions: ['lambda:InvokeFunction'],
    why: 'the function that does its steps, and no version or alias of it',
  },
];

/** What a schedule may do: its role is for one function. */
export const SCHEDULE_PERMISSIONS: readonly Permission[] = [
  {
    on: 'scheduled-function',
    actions: ['lambda:InvokeFunction'],
    why: 'the function that it is there for, and no version or alias of it',
  },
];

/** For those who write to the source stream. */
export const PRODUCER_PERMISSIONS: readonly Permission[] = [
  {
    on: 'stream',
    actions: ['kinesis:PutRecord', 'kinesis:PutRecords'],
    why: 'events come from them',
  },
  STREAM_KEY_WRITER,
];

/** For those who read a sink. */
export const SINK_READER_PERMISSIONS: readonly Permission[] = [
  {
    on: 'sink-tables',
    actions: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'],
    why: 'rows are there to be read',
  },
  {
    on: 'storage-key',
    actions: ['kms:Decrypt', 'kms:DescribeKey'],
    through: ['dynamodb'],
    why: "only where tables are encrypted with their owner's key",
  },
];

/**
 * What CloudWatch Logs may do with a job's key, for log groups of its account.
 * Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
 */
export const LOGS_KEY_ACTIONS: readonly string[] = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:GenerateDataKeyWithoutPlaintext',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** Where the objects of a job lie in its bucket. */
export function jobObjectsPattern(jobName: string): string {
  return `jobs/${jobName}/*`;
}

/** Where Lambda puts batches that it has discarded; the name is Lambda's, not ours. */
export const DISCARDED_BATCHES_PATTERN = 'aws/lambda/*';
