import type { EventSourceMapping } from './event-source-mapping.ts';
import type { ShardPosition } from './stream-reader.ts';

const startingPositions: Readonly<Record<ShardPosition['kind'], string | undefined>> = {
  'trim-horizon': 'TRIM_HORIZON',
  latest: 'LATEST',
  timestamp: 'AT_TIMESTAMP',
  at: undefined,
  after: undefined,
};

/** A mapping as GetEventSourceMapping tells of it. What is refused here is told as what Lambda does without it. */
export function describeMapping({
  id,
  streamArn,
  functionArn,
  settings,
}: EventSourceMapping): Readonly<Record<string, unknown>> {
  const { startingPosition, failureBucket } = settings;
  return {
    UUID: id,
    EventSourceArn: streamArn,
    FunctionArn: functionArn,
    StartingPosition: startingPositions[startingPosition.kind],
    BatchSize: settings.batchSize,
    MaximumBatchingWindowInSeconds: settings.windowMs / 1_000,
    ParallelizationFactor: 1,
    MaximumRetryAttempts: minusOneIfInfinite(settings.retriesMax),
    MaximumRecordAgeInSeconds: minusOneIfInfinite(settings.recordAgeMsMax / 1_000),
    BisectBatchOnFunctionError: settings.bisectsOnError,
    TumblingWindowInSeconds: 0,
    FunctionResponseTypes: settings.reportsItemFailures ? ['ReportBatchItemFailures'] : [],
    State: settings.isEnabled ? 'Enabled' : 'Disabled',
    ...(failureBucket === undefined
      ? {}
      : { DestinationConfig: { OnFailure: { Destination: `arn:aws:s3:::${failureBucket}` } } }),
  };
}

function minusOneIfInfinite(value: number): number {
  return Number.isFinite(value) ? value : -1;
}
