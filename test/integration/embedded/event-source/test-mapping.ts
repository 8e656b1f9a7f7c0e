import { randomUUID } from 'node:crypto';

import { onTestFinished } from 'vitest';

import {
  createChaos,
  type Chaos,
  type ChaosSettings,
} from '../../../../localstack/embedded/chaos.ts';
import {
  createEventSourceMapping,
  type EventSourceMapping,
} from '../../../../localstack/embedded/event-source/event-source-mapping.ts';
import type { FailureDestination } from '../../../../localstack/embedded/event-source/failure-destination.ts';
import type { MappingSettings } from '../../../../localstack/embedded/event-source/mapping-settings.ts';
import type { MappingPace } from '../../../../localstack/embedded/event-source/shard-poller.ts';
import type { InvocationResult } from '../../../../localstack/embedded/lambda/invocation-result.ts';
import type { InvokeOptions } from '../../../../localstack/embedded/lambda/lambda-function.ts';
import { seededRandom } from '../../../../localstack/embedded/seeded-random.ts';
import type { MemoryStream } from './memory-stream.ts';

/** One batch as the function got it. */
export interface Delivery {
  readonly shardId: string;
  readonly ids: readonly string[];
  readonly sequenceNumbers: readonly string[];
  readonly event: unknown;
  readonly options: InvokeOptions;
}

/** What the function does with a batch: a response, or another end. `number` counts deliveries from 1. */
export type Handle = (
  delivery: Delivery,
  number: number,
) => InvocationResult | Promise<InvocationResult>;

export interface TestMapping {
  readonly mapping: EventSourceMapping;
  readonly deliveries: readonly Delivery[];
  readonly chaos: Chaos;
  /** The ids of each batch. */
  batches(): string[];
}

export interface TestMappingOptions {
  readonly stream: MemoryStream;
  readonly settings?: Partial<MappingSettings>;
  readonly handle?: Handle;
  readonly chaos?: ChaosSettings;
  readonly seed?: number;
  readonly nowMs?: () => number;
  readonly pace?: Partial<MappingPace>;
  readonly destination?: FailureDestination;
}

export function startTestMapping(options: TestMappingOptions): TestMapping {
  const deliveries: Delivery[] = [];
  const chaos = createChaos(options.chaos);
  const handle = options.handle ?? (() => success());
  const mapping = createEventSourceMapping({
    logicalId: 'Mapping',
    mappingId: 'mapping-id',
    functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:tested',
    origin: {
      streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/tested',
      region: 'us-east-1',
      roleArn: 'arn:aws:iam::000000000000:role/tested',
    },
    settings: {
      batchSize: 100,
      windowMs: 0,
      startingPosition: { kind: 'trim-horizon' },
      reportsItemFailures: true,
      retriesMax: Number.POSITIVE_INFINITY,
      recordAgeMsMax: Number.POSITIVE_INFINITY,
      bisectsOnError: false,
      failureBucket: undefined,
      isEnabled: true,
      ...options.settings,
    },
    pace: {
      pollIntervalMsMin: 2,
      pollIntervalMsMax: 2,
      retryDelayMsMin: 1,
      retryDelayMsMax: 5,
      discoveryIntervalMs: 5,
      ...options.pace,
    },
    stream: options.stream,
    destination: options.destination,
    chaos,
    random: seededRandom(options.seed ?? 1),
    nowMs: options.nowMs ?? Date.now,
    log: () => undefined,
    async invoke(payload, invokeOptions) {
      const delivery = readDelivery(payload, invokeOptions);
      deliveries.push(delivery);
      return handle(delivery, deliveries.length);
    },
  });
  onTestFinished(() => mapping.stop());
  return {
    mapping,
    deliveries,
    chaos,
    batches: () => deliveries.map((delivery) => delivery.ids.join(' ')),
  };
}

function readDelivery(payload: string, options: InvokeOptions): Delivery {
  const event = JSON.parse(payload) as {
    Records: { eventID: string; kinesis: { sequenceNumber: string; data: string } }[];
  };
  return {
    event,
    options,
    shardId: event.Records[0]?.eventID.split(':')[0] ?? '',
    sequenceNumbers: event.Records.map(({ kinesis }) => kinesis.sequenceNumber),
    ids: event.Records.map(
      ({ kinesis }) =>
        (JSON.parse(Buffer.from(kinesis.data, 'base64').toString()) as { id: string }).id,
    ),
  };
}

export function success(response: unknown = null): InvocationResult {
  return { kind: 'success', requestId: randomUUID(), payload: JSON.stringify(response) };
}

export function failure(reason: 'crash' | 'timeout' = 'crash'): InvocationResult {
  return {
    kind: 'failed',
    reason,
    requestId: randomUUID(),
    errorType: 'Runtime.ExitError',
    errorMessage: 'it ended',
    logTail: [],
  };
}

/** The response that names these records of a batch as failed. */
export function reportFailed(delivery: Delivery, ...ids: string[]): InvocationResult {
  return success({
    batchItemFailures: ids.map((id) => ({
      itemIdentifier: delivery.sequenceNumbers[delivery.ids.indexOf(id)],
    })),
  });
}
