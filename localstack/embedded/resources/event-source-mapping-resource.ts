import { createEventSourceMapping } from '../event-source/event-source-mapping.ts';
import { s3FailureDestination } from '../event-source/failure-destination.ts';
import { kinesisStreamReader } from '../event-source/kinesis-stream-reader.ts';
import { readMappingSettings } from '../event-source/mapping-settings.ts';
import { uuidOf } from '../template/physical-name.ts';
import { inert, nested, used } from '../template/property-table.ts';
import { findFunction } from './function-resource.ts';
import type { ResourceKind } from './resource-kind.ts';

export const eventSourceMappingResource: ResourceKind = {
  properties: {
    EventSourceArn: used,
    FunctionName: used,
    BatchSize: used,
    MaximumBatchingWindowInSeconds: used,
    StartingPosition: used,
    StartingPositionTimestamp: used,
    FunctionResponseTypes: used,
    MaximumRetryAttempts: used,
    MaximumRecordAgeInSeconds: used,
    BisectBatchOnFunctionError: used,
    DestinationConfig: nested({ OnFailure: nested({ Destination: used }) }),
    ParallelizationFactor: used,
    TumblingWindowInSeconds: used,
    Enabled: used,
    KmsKeyArn: inert('it encrypts filters, which are refused'),
    MetricsConfig: inert('counts are kept in any case'),
    Tags: inert('nothing reads them'),
  },
  create({ logicalId, properties }, services) {
    const { place, kinesis, s3, lambdaHost, pace, nowMs, functions, mappings } = services;
    const streamArn = properties.text('EventSourceArn');
    if (!/^arn:[^:]*:kinesis:[^:]*:[^:]*:stream\/[^/]+$/.test(streamArn)) {
      throw properties.refuse('EventSourceArn', 'the ARN of a Kinesis stream');
    }
    const target = findFunction(functions, properties.text('FunctionName'));
    const settings = readMappingSettings(properties);
    const id = uuidOf(`${place.stackName}/${logicalId}`);
    const mapping = createEventSourceMapping({
      logicalId,
      mappingId: id,
      functionArn: target.arn,
      settings,
      pace,
      origin: { streamArn, region: place.region, roleArn: target.roleArn },
      stream: kinesisStreamReader(kinesis, streamArn),
      invoke: (payload, options) => target.invoke(payload, options),
      destination:
        settings.failureBucket === undefined
          ? undefined
          : s3FailureDestination(s3, settings.failureBucket),
      chaos: lambdaHost.chaos,
      random: lambdaHost.random.fork(`mapping ${logicalId}`),
      nowMs,
      log: (line) => lambdaHost.log(`[${logicalId}] ${line}`),
    });
    mappings.push(mapping);
    const arn = `arn:aws:lambda:${place.region}:${place.accountId}:event-source-mapping:${id}`;
    return Promise.resolve({
      physicalId: id,
      attributes: { Id: id, EventSourceMappingArn: arn },
    });
  },
};
