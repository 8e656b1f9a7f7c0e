import { createMemoryControlStore } from '../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryAppendSink } from '../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../shared/adapters/memory/memory-state-store.ts';
import { createMemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../shared/adapters/memory/memory-telemetry.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import { createOperatorInstance } from '../../shared/operator/operator-instance.ts';
import { createEnvironmentMemory } from '../../shared/runtime/environment-memory.ts';
import { defaultSettings, type OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { processBatch } from '../../shared/runtime/process-batch.ts';
import { registerJob } from '../../shared/runtime/register-job.ts';
import { countingOperator, type CountedEvent } from '../embedded/counting-operator.ts';
import { drawKeys } from './draw-keys.ts';

/** A job of many shards in the memory of this process. */
export interface MemoryJob {
  readonly shards: number;
  /** Lets every shard have a batch, all at the same time, each in an environment of its own. */
  runBatches(): Promise<{ readonly events: number; readonly seconds: number }>;
}

const job = { name: 'scale', maxParallelism: 128, operators: [countingOperator.id] };

/** @param batchEvents of each shard, one for each of its keys */
export async function createMemoryJob(shards: number, batchEvents: number): Promise<MemoryJob> {
  const stream = createMemoryStream({ shards });
  const stores = {
    control: createMemoryControlStore(),
    objects: createMemoryObjectStore(),
    state: createMemoryStateStore(),
    hints: createMemoryHintStore(),
    reader: createMemoryShardReader(stream),
    system: createMemorySystem(),
    telemetry: createMemoryTelemetry(),
  };
  await registerJob(stores.control, stores.objects, job);
  const runtimes = stream.shards().map((): OperatorRuntime => ({
    job: job.name,
    operator: countingOperator,
    instance: createOperatorInstance(countingOperator),
    maxParallelism: job.maxParallelism,
    settings: defaultSettings,
    ...stores,
    sinks: new Map([[deadLetterSink, createMemoryAppendSink()]]),
    memory: createEnvironmentMemory(),
  }));
  const records = drawKeys(stream, batchEvents).map((key) => {
    const event: CountedEvent = { key, id: 1, amount: 1, note: 'n'.repeat(80) };
    return { key, data: new TextEncoder().encode(JSON.stringify(event)) };
  });

  return {
    shards,
    async runBatches() {
      for (const { key, data } of records) stream.put(key, data);
      const batches = stream.shards().map((shard) => ({ ...shard, records: [...shard.records] }));
      const startedMs = performance.now();
      await Promise.all(
        batches.map(async ({ shardId, records: batch }, at) => {
          const deadline = { remainingMs: () => 60_000 };
          const outcome = await processBatch(runtimes[at]!, shardId, batch, deadline);
          if (outcome.kind !== 'done') throw new Error(`${shardId}: ${outcome.reason}`);
        }),
      );
      const seconds = (performance.now() - startedMs) / 1_000;
      for (const { shardId } of batches) stream.trim(shardId);
      return { events: records.length, seconds };
    },
  };
}
