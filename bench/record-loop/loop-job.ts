import {
  decodeKinesisEvent,
  type EventRecord,
} from '../../shared/adapters/kinesis/lambda-event.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import { createDeterminismGuard, guardOperator } from '../../shared/operator/determinism-guard.ts';
import { guardPlatform } from '../../shared/operator/guard-platform.ts';
import { createOperatorInstance } from '../../shared/operator/operator-instance.ts';
import type { Operator } from '../../shared/operator/operator.ts';
import type { StreamRecord } from '../../shared/ports/shard-reader.ts';
import type { Counters } from '../../shared/ports/telemetry.ts';
import { noDeadline } from '../../shared/runtime/deadline.ts';
import { createEnvironmentMemory } from '../../shared/runtime/environment-memory.ts';
import { defaultSettings, type OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { processBatch } from '../../shared/runtime/process-batch.ts';
import { registerJob } from '../../shared/runtime/register-job.ts';
import type { BenchEvent } from '../floor/events.ts';
import { createCountingSink, createLeanPorts } from './lean-ports.ts';

/** A Lambda event as the event source mapping makes it. */
export interface LambdaEvent {
  readonly Records: readonly EventRecord[];
}

/** The path of a deployed function from the event to the answer. */
export interface LoopJob {
  /** Puts events into the stream and gives them as they are delivered, so many to a batch. */
  put(events: readonly BenchEvent[], batchRecords: number): LambdaEvent[];
  /** Processes a batch; throws unless all of it is committed. */
  handle(event: LambdaEvent): Promise<void>;
  /** Goes on as a new environment does, which remembers nothing. */
  startAnew(): void;
  /** What has been done so far. */
  total(): Counters;
}

/** What may be real. */
export type LoopAdapters = Partial<
  Pick<OperatorRuntime, 'control' | 'hints' | 'state' | 'objects' | 'system' | 'sinks'>
>;

const streamArn = 'arn:aws:kinesis:us-east-1:000000000000:stream/events';
const job = 'bench';

/** @param adapters instead of ports that cost next to nothing */
export async function createLoopJob(
  operator: Operator,
  adapters: LoopAdapters = {},
): Promise<LoopJob> {
  const stream = createMemoryStream();
  const { telemetry, ...lean } = createLeanPorts();
  const ports = { ...lean, ...adapters };
  await registerJob(ports.control, ports.objects, {
    name: job,
    maxParallelism: 128,
    operators: [operator.id],
  });
  // As the deployed function does: `count` is its default.
  guardPlatform();
  const guard = createDeterminismGuard(operator.id, { mode: 'count' });
  const guarded = guardOperator(operator, guard);
  const createRuntime = (): OperatorRuntime => ({
    job,
    operator: guarded,
    instance: createOperatorInstance(guarded, guard),
    maxParallelism: 128,
    settings: defaultSettings,
    reader: createMemoryShardReader(stream),
    sinks: new Map(
      [...operator.sinks.keys(), deadLetterSink].map((n) => [n, createCountingSink()]),
    ),
    telemetry,
    ...ports,
    memory: createEnvironmentMemory(),
  });
  let runtime = createRuntime();
  return {
    put(events, batchRecords) {
      const { shardId } = stream.shards()[0]!;
      // What was processed is of no use any more.
      stream.trim(shardId);
      for (const event of events) {
        const data = new TextEncoder().encode(JSON.stringify(event));
        stream.put(event.key, data, { arrivalMs: event.at });
      }
      const { records } = stream.shard(shardId);
      const batches: LambdaEvent[] = [];
      for (let at = 0; at < records.length; at += batchRecords) {
        batches.push(encodeEvent(shardId, records.slice(at, at + batchRecords)));
      }
      return batches;
    },

    async handle(event) {
      const batch = decodeKinesisEvent(event, streamArn);
      const outcome = await processBatch(runtime, batch.shardId, batch.records, noDeadline);
      if (outcome.kind !== 'done') throw new Error(`a batch was handed back: ${outcome.reason}`);
    },

    startAnew() {
      runtime = createRuntime();
    },

    total: () => telemetry.total(),
  };
}

function encodeEvent(shardId: string, records: readonly StreamRecord[]): LambdaEvent {
  return {
    Records: records.map(({ sequence, partitionKey, data, arrivalMs }) => ({
      eventSource: 'aws:kinesis',
      eventSourceARN: streamArn,
      eventID: `${shardId}:${sequence}`,
      kinesis: {
        sequenceNumber: sequence,
        partitionKey,
        data: Buffer.from(data).toString('base64'),
        approximateArrivalTimestamp: arrivalMs / 1_000,
      },
    })),
  };
}
