import type { PropertyReader } from '../template/property-reader.ts';
import type { ShardPosition } from './stream-reader.ts';

/** A mapping as the template describes it, defaults filled in as Lambda does. */
export interface MappingSettings {
  readonly batchSize: number;
  readonly windowMs: number;
  /** For shards that exist when the mapping first looks. */
  readonly startingPosition: ShardPosition;
  readonly reportsItemFailures: boolean;
  /** Infinity: until the record leaves the stream. */
  readonly retriesMax: number;
  readonly recordAgeMsMax: number;
  readonly bisectsOnError: boolean;
  /** Name of the bucket that gets what was given up. */
  readonly failureBucket: string | undefined;
  readonly isEnabled: boolean;
}

export function readMappingSettings(reader: PropertyReader): MappingSettings {
  if (reader.integerOr('ParallelizationFactor', { min: 1, max: 10 }, 1) !== 1) {
    throw reader.refuse(
      'ParallelizationFactor',
      '1',
      'two batches of one shard at once break order',
    );
  }
  if (reader.integerOr('TumblingWindowInSeconds', { min: 0, max: 900 }, 0) !== 0) {
    throw reader.refuse('TumblingWindowInSeconds', '0', 'tumbling windows are not run locally');
  }
  const responseTypes = reader.texts('FunctionResponseTypes');
  if (responseTypes.some((type) => type !== 'ReportBatchItemFailures')) {
    throw reader.refuse('FunctionResponseTypes', '["ReportBatchItemFailures"]');
  }
  return {
    batchSize: reader.integerOr('BatchSize', { min: 1, max: 10_000 }, 100),
    windowMs: reader.integerOr('MaximumBatchingWindowInSeconds', { min: 0, max: 300 }, 0) * 1_000,
    startingPosition: readStartingPosition(reader),
    reportsItemFailures: responseTypes.length > 0,
    retriesMax: infinityIfMinusOne(
      reader.integerOr('MaximumRetryAttempts', { min: -1, max: 10_000 }, -1),
    ),
    recordAgeMsMax: readRecordAge(reader) * 1_000,
    bisectsOnError: reader.boolean('BisectBatchOnFunctionError', false),
    failureBucket: readFailureBucket(reader),
    isEnabled: reader.boolean('Enabled', true),
  };
}

function readStartingPosition(reader: PropertyReader): ShardPosition {
  // Required for streams, so there is no default.
  const name = reader.text('StartingPosition');
  switch (name) {
    case 'TRIM_HORIZON':
      return { kind: 'trim-horizon' };
    case 'LATEST':
      return { kind: 'latest' };
    case 'AT_TIMESTAMP': {
      const bounds = { min: 0, max: Math.floor(Date.now() / 1_000) };
      return {
        kind: 'timestamp',
        timestampMs: reader.integer('StartingPositionTimestamp', bounds) * 1_000,
      };
    }
    default:
      throw reader.refuse('StartingPosition', 'TRIM_HORIZON, LATEST or AT_TIMESTAMP');
  }
}

function readRecordAge(reader: PropertyReader): number {
  const seconds = reader.integerOr('MaximumRecordAgeInSeconds', { min: -1, max: 604_800 }, -1);
  if (seconds >= 0 && seconds < 60) {
    throw reader.refuse('MaximumRecordAgeInSeconds', '-1 or 60 to 604800');
  }
  return infinityIfMinusOne(seconds);
}

function readFailureBucket(reader: PropertyReader): string | undefined {
  const onFailure = reader.object('DestinationConfig')?.object('OnFailure');
  const destination = onFailure?.textOr('Destination', undefined);
  if (onFailure === undefined || destination === undefined) return undefined;
  const [, bucket] = /^arn:aws:s3:::([^/]+)$/.exec(destination) ?? [];
  if (bucket === undefined) {
    throw onFailure.refuse(
      'Destination',
      'the ARN of a bucket',
      'queues and topics are not run locally',
    );
  }
  return bucket;
}

function infinityIfMinusOne(value: number): number {
  return value === -1 ? Number.POSITIVE_INFINITY : value;
}
