import type { OperatorCalls } from '../../ports/operator-calls.ts';
import type { ShardReader } from '../../ports/shard-reader.ts';
import type { SweptSink } from '../../ports/sink.ts';
import type { JobPorts } from '../job-ports.ts';
import type { StreamMappings } from '../../ports/stream-mappings.ts';
import type { LoadPorts } from './load.ts';

/** R12: another job, as far as a clone of it needs it. Its objects are only read; of its tables only the registry is touched. */
export type ClonedJob = Pick<JobPorts, 'job' | 'control' | 'objects'>;

export interface RestorePorts extends LoadPorts {
  readonly reader: ShardReader;
  readonly calls: OperatorCalls;
  readonly sinks: readonly SweptSink[];
  /** The job that this one was deployed as a clone of. @default none */
  readonly cloned?: ClonedJob;
  readonly mappings: StreamMappings;
}

export interface RestoreOrder {
  /** Names the restore, for people and for its twins: one name is one restore. */
  readonly restore: string;
  /** Object name of the manifest. */
  readonly manifest: string;
  /** State that the deployed code does not declare is left behind. */
  readonly allowNonRestoredState: boolean;
  /** Records that have left the stream unread are given up. */
  readonly acceptsGaps: boolean;
  /** The tables of the job are lost: it is made again from S3 alone (R11). */
  readonly areTablesLost: boolean;
  /**
   * R12: object name of a manifest of the cloned job. It is copied first, and `manifest` then names the copy.
   *
   * @default none
   */
  readonly copyOf?: string | undefined;
  /** What is missing or damaged in the job's bucket is read from its backup. @default false */
  readonly fromBackup?: boolean;
}
