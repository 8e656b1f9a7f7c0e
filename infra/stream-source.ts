import { type IStream, Stream, StreamEncryption, StreamMode } from 'aws-cdk-lib/aws-kinesis';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Duration, type RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { DEFAULTS } from '../shared/config/limits.ts';
import type { ResourceArns } from './policy-statements.ts';

/** Where a job reads from. Made by one of the functions below. */
export type StreamSource =
  | {
      readonly kind: 'provisioned';
      readonly shards: number;
      readonly retention?: Duration;
    }
  | { readonly kind: 'on-demand'; readonly retention?: Duration }
  | { readonly kind: 'existing'; readonly stream: IStream; readonly retention: Duration };

export interface NewStreamProps {
  /**
   * How long the stream keeps a record, and so how far behind a job may fall.
   *
   * @default Duration.hours(24)
   */
  readonly retention?: Duration;
}

/** A stream that the job creates, with a fixed number of shards until somebody reshards it. */
export function provisionedStream(
  props: NewStreamProps & {
    /** Shards to begin with: each takes 1,000 records and 1 MB a second. */
    readonly shards: number;
  },
): StreamSource {
  return { kind: 'provisioned', ...props };
}

/** A stream that the job creates and that splits its shards by itself. */
export function onDemandStream(props: NewStreamProps = {}): StreamSource {
  return { kind: 'on-demand', ...props };
}

/** A stream that somebody else owns. The job creates none and never changes it. */
export function existingStream(
  stream: IStream,
  props: {
    /**
     * The retention that the stream really has: it cannot be read from an import, and tombstones
     * and gap reports rest on it.
     */
    readonly retention: Duration;
  },
): StreamSource {
  return { kind: 'existing', stream, ...props };
}

export interface SourceStreamProps {
  readonly removalPolicy: RemovalPolicy;
  /** Of a new stream; undefined: the key that AWS manages for Kinesis, with no rights to hand out. */
  readonly encryptionKey: IKey | undefined;
}

/** What the rights of whoever reads or writes a stream are about. */
export function listStreamArns({ streamArn, encryptionKey }: IStream): ResourceArns {
  return { stream: [streamArn], 'stream-key': encryptionKey ? [encryptionKey.keyArn] : [] };
}

/** The stream to read: a new one, or the one that is there already. */
export function createSourceStream(
  scope: Construct,
  source: StreamSource,
  { removalPolicy, encryptionKey }: SourceStreamProps,
): IStream {
  if (source.kind === 'existing') return source.stream;
  const stream = new Stream(scope, 'Source', {
    ...(source.kind === 'provisioned'
      ? { streamMode: StreamMode.PROVISIONED, shardCount: source.shards }
      : { streamMode: StreamMode.ON_DEMAND }),
    retentionPeriod: source.retention ?? Duration.hours(DEFAULTS.retentionHours),
    ...(encryptionKey === undefined
      ? { encryption: StreamEncryption.MANAGED }
      : { encryption: StreamEncryption.KMS, encryptionKey }),
    removalPolicy,
  });
  if (encryptionKey !== undefined) {
    Validations.of(stream).acknowledge({
      id: 'AwsSolutions-KDS3',
      reason: "not the key that AWS manages for Kinesis: the job's owner wants one of his own",
    });
  }
  return stream;
}
