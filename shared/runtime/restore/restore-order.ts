import type { OperatorCalls } from '../../ports/operator-calls.ts';
import type { ShardReader } from '../../ports/shard-reader.ts';
import type { SweptSink } from '../../ports/sink.ts';
import type { StreamMappings } from '../../ports/stream-mappings.ts';
import type { LoadPorts } from './load.ts';

export interface RestorePorts extends LoadPorts {
  readonly reader: ShardReader;
  readonly calls: OperatorCalls;
  readonly sinks: readonly SweptSink[];
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
  /** What is missing or damaged in the job's bucket is read from its backup. @default false */
  readonly fromBackup?: boolean;
}
