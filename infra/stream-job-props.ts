import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import type { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { SinkKind } from '../shared/config/job.ts';
import type { JobEncryption } from './job-key.ts';
import type { VpcProps } from './job-network.ts';
import type { StreamSource } from './stream-source.ts';

export interface StreamJobProps {
  /**
   * The stable name of the job: a to z, 0 to 9 and "-", a letter first, at most 63 characters.
   * State and checkpoints are kept under it; another name is another job.
   */
  readonly jobName: string;

  /** Where every operator of the job reads from. */
  readonly source: StreamSource;

  /** One to four operators: they share what a shard can serve. */
  readonly operators: readonly OperatorProps[];

  /**
   * Into how many key groups the keys are cut: a power of two up to 32,768, and the most readers
   * that a restore can use. It is fixed for the life of the job.
   *
   * @default 128
   */
  readonly maxParallelism?: number;

  /**
   * How checkpoints are made: recovery points of the whole job, from which it can be restored. One is a few requests, whatever
   * the size of the state, and stops nothing.
   *
   * @default - every minute, the last five are kept
   */
  readonly checkpointing?: CheckpointingProps;

  /**
   * How long the state of a generation stays in its table after a restore has left it: whole hours, one hour to a year. Nothing
   * reads it any more; going back to it is a restore from its undo point, which loads files. After that time it is deleted in the
   * background.
   *
   * @default Duration.days(7)
   */
  readonly generationRetention?: Duration;

  /**
   * Lets event time go on while nothing arrives: a function puts a heartbeat into every shard of the source, from time to
   * time. For operators with `eventTime` whose events tell the time of day; without it, event time stands still in a shard
   * until its next record. It also keeps quiet shards from growing older than the retention of the stream.
   *
   * Heartbeats are records that every reader of the stream sees: `{"holdfast":"heartbeat","time":<ms>}`.
   *
   * @default - no heartbeats
   */
  readonly heartbeat?: HeartbeatProps;

  /**
   * Lets the job begin as a clone of another one that reads the same stream: it is deployed closed, and processes nothing until
   * `holdfast clone` has loaded a checkpoint or savepoint of the other job into it. From then on the two have nothing to do with
   * each other, and this says nothing any more. Tables, sinks and bucket are its own, and so may its code be.
   *
   * It counts when the job is first deployed. Its workflows may read the other job's objects and pin a manifest in its control
   * table. `maxParallelism` must be that of the other job, `source` its stream: `existingStream(other.stream, …)`.
   *
   * @default - the job begins at the oldest record of the stream
   */
  readonly cloneOf?: ClonedJob;

  /**
   * Encrypts tables, bucket, logs, and the stream where the job creates it, with one key that you control: `'customer-managed'`
   * for a key that the job creates, is rotated each year, and is retained like the data; or your own. The functions may use it
   * through DynamoDB, S3 and Kinesis alone. The policy of an imported key must let CloudWatch Logs in; it is not the job's to change.
   *
   * It is for the life of the job: what is stored under a key stays under it, and without the prop, or with another key,
   * the functions lose the right to read that. A job that began without it can take it later.
   *
   * @default - the keys that DynamoDB, S3, Kinesis and CloudWatch Logs own or manage
   */
  readonly encryption?: JobEncryption;

  /**
   * Attaches all functions of the job to a network of yours. It must lead to DynamoDB, S3, Kinesis and Lambda, by endpoints or NAT:
   * docs/deploying.md has the list. Nothing that a job does needs it; it is for accounts in which functions must not call AWS over
   * anything but their own network.
   *
   * @default - none: functions call AWS from the network of Lambda
   */
  readonly vpc?: VpcProps;

  /**
   * What happens to stream, tables, bucket, logs and key when they leave the stack.
   *
   * With DESTROY the bucket must still be emptied by hand before the stack can be deleted.
   * `autoDeleteObjects` is left out on purpose: it deploys a function with the right to delete
   * every checkpoint and savepoint of the job, for a convenience that is needed once.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * Turns the file of a handler into the code of its function.
   *
   * @default bundleHandler, which calls the esbuild of this project
   * @internal
   */
  readonly bundle?: (entry: string) => Code;
}

/** The job that a clone begins with; a `StreamJob` is one. */
export interface ClonedJob {
  readonly jobName: string;
  readonly bucket: Pick<IBucket, 'arnForObjects' | 'bucketArn' | 'bucketName'>;
  readonly controlTable: Pick<ITable, 'tableArn' | 'tableName'>;
  /** What its bucket and tables are encrypted with. @default - the keys of AWS */
  readonly encryptionKey?: IKey | undefined;
}

/** What of a bucket is needed to copy into it. */
export type BackupBucket = Pick<IBucket, 'arnForObjects' | 'bucketArn' | 'bucketName'>;

/** A place for second copies. */
export interface BackupProps {
  /**
   * A bucket, best of another account, in the job's region and encrypted with the keys of S3; one of another account must let the
   * roles of the coordinator and of the workflows' steps in.
   *
   * @default - the job's own: `prefix` is needed then
   */
  readonly bucket?: BackupBucket;

  /**
   * Begins all names there, as `backup/`.
   *
   * @default - none
   */
  readonly prefix?: string;
}

/**
 * The settings of checkpoints, with the names and the meanings that they have in Flink. Two are fixed: there is one checkpoint
 * at a time, and none is unaligned, since the operators of a job do not exchange records.
 */
export interface CheckpointingProps {
  /**
   * From one checkpoint to the next, ten seconds to six hours. A restore reads the records since.
   *
   * @default Duration.minutes(1)
   */
  readonly interval?: Duration;

  /**
   * A checkpoint that is not complete after this time has failed. At least three intervals and three minutes: the next ticks of
   * the coordinator finish what one that was killed has begun.
   *
   * @default - ten minutes, or three intervals where those are longer
   */
  readonly timeout?: Duration;

  /**
   * From the end of one checkpoint to the beginning of the next, at least; shorter than the interval.
   *
   * @default Duration.seconds(0)
   */
  readonly minPause?: Duration;

  /**
   * How many checkpoints may fail in a row before the coordinator logs an error each minute. The job goes on in any case.
   *
   * @default 0
   */
  readonly tolerableFailures?: number;

  /**
   * How many complete checkpoints are kept. Savepoints are kept besides, until somebody deletes them.
   *
   * @default 5
   */
  readonly retained?: number;

  /**
   * What takes a second copy of each manifest, and of savepoints with all of their files, under the same names: a restore, a drill
   * or a verification with `--from-backup` reads from it what is missing or damaged. Nothing is ever deleted there: a lifecycle
   * rule may. The files of checkpoints are not copied, since a segment comes with every unit: where those are wanted, too, let S3
   * replicate the job's bucket into this one, with no prefix.
   *
   * @default - no second copies
   */
  readonly backup?: BackupProps;
}

/** When heartbeats are put, and what they say. */
export interface HeartbeatProps {
  /**
   * Whole minutes, up to eight hours. In a silent shard a window is closed when `behind` and at most this much, and the
   * minute of grace that a schedule takes, have passed since its end.
   */
  readonly every: Duration;

  /**
   * How far before the time of day a heartbeat says that event time has come. The watermark is set to exactly this:
   * `outOfOrdernessMs`, which is taken off the times of events, is not taken off once more. So give at least the
   * operator's out-of-orderness and what events need to reach the stream; an event older than the last heartbeat of its
   * shard is late, however far others are.
   *
   * It has no default: too little makes events late that the operator would have waited for. A watermark never goes back,
   * so a heartbeat that says less than the events so far changes nothing.
   */
  readonly behind: Duration;
}

/**
 * One operator, which becomes one function and one event source mapping.
 *
 * What such a mapping must be for the positions of the job to be exact is not for choice: one
 * invocation for each shard, TRIM_HORIZON, no filter, no enhanced fan-out, no limit to retries or
 * to the age of a record. `refused-settings.ts` gives the reason for each.
 */
export interface OperatorProps {
  /** The stable id of the operator; its state is kept under it. Same characters as `jobName`. */
  readonly id: string;

  /** The file that exports `handler`, relative to the folder in which the app is started. */
  readonly entry: string;

  /**
   * The sinks that this operator, and no other, writes to: name → kind. Each gets a table.
   *
   * @default - none
   */
  readonly sinks?: Readonly<Record<string, SinkKind>>;

  /**
   * The most records in one invocation, 1 to 10,000. They are committed together, as far as they have no more than 1,000 keys and
   * 4 MB: a key that comes ten times is written once.
   *
   * @default 10000, what Lambda hands over at most
   */
  readonly batchSize?: number;

  /**
   * How long Lambda waits for a batch to fill, up to five minutes.
   *
   * @default Duration.seconds(1)
   */
  readonly batchingWindow?: Duration;

  /**
   * Memory in MB, 128 to 10,240. CPU comes in proportion.
   *
   * @default 1769, which is one CPU
   */
  readonly memorySize?: number;

  /**
   * How long one invocation may take, up to 15 minutes.
   *
   * @default Duration.seconds(60)
   */
  readonly timeout?: Duration;
}
