import { startDynamoDb } from '../../localstack/embedded/emulators/dynamodb.ts';
import type { EmulatorRequest } from '../../localstack/embedded/emulators/faults.ts';
import { startS3 } from '../../localstack/embedded/emulators/s3.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import { nodeSystem } from '../../shared/adapters/system/node-system.ts';
import type { CheckpointSettings } from '../../shared/core/coordination.ts';
import {
  runCoordinator,
  type CoordinatorPorts,
} from '../../shared/runtime/checkpoint/run-coordinator.ts';
import { describeOperator } from '../../shared/runtime/describe-operator.ts';
import { createEnvironmentMemory } from '../../shared/runtime/environment-memory.ts';
import type { OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { processBatch } from '../../shared/runtime/process-batch.ts';
import { createCountingJob, openCountingJob } from '../embedded/counting-job.ts';
import { countingOperator, type CountedEvent } from '../embedded/counting-operator.ts';
import { useEmulators } from '../embedded/emulators.ts';
import { drawKeys } from './draw-keys.ts';
import type { RequestCounts } from './count-model.ts';

/** A job of many shards over the emulators in this process, whose requests are counted by what they are for. */
export interface CountedJob {
  readonly shards: number;
  /** One unit of each shard, the same keys each time; gives the requests of all. */
  runUnits(): Promise<RequestCounts>;
  /** One tick of the coordinator, a minute after the last one. */
  tick(): Promise<CountedTick>;
  stop(): Promise<void>;
}

export interface CountedTick {
  readonly requests: RequestCounts;
  readonly ms: number;
  /** Of the manifest that it has written. */
  readonly manifestBytes: number;
}

const settings: CheckpointSettings = {
  ...{ intervalMs: 60_000, timeoutMs: 600_000, minPauseMs: 0 },
  ...{ maxConcurrent: 1, tolerableFailures: 0, retained: 100 },
};

/** A minute in which neither channels are visited nor garbage is collected; the ticks after it leave those minutes out, too. */
const firstTickMs = Date.UTC(2025, 0, 1, 0, 1);
const betweenTicksMs = 15 * 60_000;

/** @param keysOfUnit keys of each unit, each with one record */
export async function createCountedJob(shards: number, keysOfUnit: number): Promise<CountedJob> {
  let counts: Record<string, number> = {};
  const onRequest = (request: EmulatorRequest): undefined => {
    const name = nameRequest(request);
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const [dynamodb, s3] = await Promise.all([startDynamoDb({ onRequest }), startS3({ onRequest })]);
  useEmulators({ dynamodb: dynamodb.endpoint, s3: s3.endpoint, usage: '' });

  const jobId = 'scale';
  const stream = createMemoryStream({ shards });
  const reader = createMemoryShardReader(stream);
  const opened = openCountingJob(countingOperator, jobId, reader);
  await createCountingJob(opened, jobId);
  // Lambda has an environment for each shard; all share what they were asked once.
  const runtimes = new Map<string, OperatorRuntime>();
  for (const { shardId } of stream.shards()) {
    runtimes.set(shardId, { ...opened, memory: createEnvironmentMemory() });
  }
  const keys = drawKeys(stream, keysOfUnit);
  let nowMs = firstTickMs;

  const take = (): RequestCounts => {
    const taken = counts;
    counts = {};
    return taken;
  };

  return {
    shards,

    async runUnits() {
      for (const key of keys) {
        const event: CountedEvent = { key, id: 1, amount: 1, note: '' };
        stream.put(key, new TextEncoder().encode(JSON.stringify(event)));
      }
      take();
      for (const { shardId, records } of stream.shards()) {
        const deadline = { remainingMs: () => 60_000 };
        const outcome = await processBatch(runtimes.get(shardId)!, shardId, [...records], deadline);
        if (outcome.kind !== 'done') throw new Error(`${shardId}: ${outcome.reason}`);
        stream.trim(shardId);
      }
      return take();
    },

    async tick() {
      const { job, control, objects, telemetry } = opened;
      let manifestBytes = 0;
      const ports: CoordinatorPorts = {
        ...{ job, control, telemetry, reader },
        objects: {
          ...objects,
          create(name, bytes) {
            // Beside it a tick writes only a note that it is complete.
            manifestBytes = Math.max(manifestBytes, bytes.length);
            return objects.create(name, bytes);
          },
        },
        system: { ...nodeSystem, now: () => nowMs },
        metrics: { publish: () => undefined },
        calls: {
          describe: async () => describeOperator(countingOperator),
          visit: () => Promise.reject(new Error('no channel is to be visited here')),
        },
      };
      take();
      const startedMs = performance.now();
      const report = await runCoordinator(ports, settings, { remainingMs: () => 10_000 });
      const ms = performance.now() - startedMs;
      if (report.completed.length !== 1) throw new Error('a tick was to make one checkpoint');
      nowMs += betweenTicksMs;
      return { requests: take(), ms, manifestBytes };
    },

    async stop() {
      await Promise.all([dynamodb.stop(), s3.stop()]);
    },
  };
}

/** Says what a request is for: the table and, of the control table, the kind of partition. */
function nameRequest({ operation, table = '', body }: EmulatorRequest): string {
  const role = table.split('.')[1] ?? table;
  if (role !== 'control') return `${role} ${operation}`;
  const text = JSON.stringify(body);
  const [, sort] = /"sk":\{"S":"(job|registry|progress)"\}/.exec(text) ?? [];
  const [, partition] = /"S":"(channels|progress|job)#/.exec(text) ?? [];
  return `control ${sort ?? partition ?? 'other'} ${operation}`;
}
