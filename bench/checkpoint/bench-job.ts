import * as z from 'zod';
import {
  createMemoryControlStore,
  type MemoryControlStore,
} from '../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryAppendSink } from '../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../shared/adapters/memory/memory-state-store.ts';
import {
  createMemoryStream,
  type MemoryStream,
} from '../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../shared/adapters/memory/memory-telemetry.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import { createOperatorInstance } from '../../shared/operator/operator-instance.ts';
import { defineOperator } from '../../shared/operator/operator.ts';
import { valueState } from '../../shared/operator/state.ts';
import type { StreamRecord } from '../../shared/ports/shard-reader.ts';
import { createEnvironmentMemory } from '../../shared/runtime/environment-memory.ts';
import { defaultSettings, type OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { processBatch } from '../../shared/runtime/process-batch.ts';
import { registerJob } from '../../shared/runtime/register-job.ts';

const counts = defineOperator({
  id: 'counts',
  schema: z.object({ key: z.string() }),
  key: (event) => event.key,
  state: { count: valueState<number>(), note: valueState<string>() },
  sinks: {},
  process(_event, ctx) {
    const { count, note } = ctx.state;
    count.set((count.get() ?? 0) + 1);
    // A hundred characters that compress as little as most that people store.
    note.set(Array.from({ length: 8 }, () => ctx.random().toString(36).slice(2, 14)).join(' '));
  },
});

const job = { name: 'bench', maxParallelism: 128, operators: [counts.id] };

const shards = 4;

/** Records of one delivery; a unit has at most as many. */
const batchRecords = 1_000;

/** A delivery of one shard. */
export interface Batch {
  readonly shardId: string;
  readonly records: readonly StreamRecord[];
}

/** A job over memory ports that holds so many keys. */
export interface BenchJob {
  readonly name: string;
  readonly operator: typeof counts;
  readonly maxParallelism: number;
  readonly keys: number;
  readonly stores: Stores;
  /** A process as it starts: with nothing remembered. */
  startProcess(stores?: Partial<OperatorRuntime>): OperatorRuntime;
  /** Puts a record for each of some keys, which lie evenly among all, and takes them out again as batches. */
  put(keys: number): readonly Batch[];
  /** Processes a record for each of some keys. */
  touch(keys: number): Promise<void>;
}

export type Stores = ReturnType<typeof createStores>;

function createStores(stream: MemoryStream) {
  return {
    control: createMemoryControlStore(),
    objects: createMemoryObjectStore(),
    state: createMemoryStateStore(),
    hints: createMemoryHintStore(),
    reader: createMemoryShardReader(stream, { pageRecordsMax: 10_000 }),
    system: createMemorySystem(),
    telemetry: createMemoryTelemetry(),
  };
}

/** @param breathe is awaited now and then while the job is filled */
export async function createBenchJob(
  keys: number,
  breathe: () => Promise<void>,
): Promise<BenchJob> {
  const stream = createMemoryStream({ shards });
  const stores = createStores(stream);
  await registerJob(stores.control, stores.objects, job);

  const startProcess = (overrides: Partial<OperatorRuntime> = {}): OperatorRuntime => ({
    job: job.name,
    operator: counts,
    instance: createOperatorInstance(counts),
    maxParallelism: job.maxParallelism,
    settings: defaultSettings,
    ...stores,
    sinks: new Map([[deadLetterSink, createMemoryAppendSink()]]),
    memory: createEnvironmentMemory(),
    ...overrides,
  });

  const putKeys = (some: Iterable<number>): Batch[] => {
    // What was processed is of no use any more, and retention would take it in the end.
    for (const { shardId } of stream.shards()) stream.trim(shardId);
    for (const at of some) {
      const key = `key-${at}`;
      stream.put(key, new TextEncoder().encode(JSON.stringify({ key })));
    }
    return stream.shards().flatMap(({ shardId, records }) => cutBatches(shardId, records));
  };

  const warm = startProcess();
  const processAll = async (batches: readonly Batch[]): Promise<void> => {
    for (const batch of batches) {
      await deliver(warm, batch);
      await breathe();
    }
  };

  const chunkKeys = 20_000;
  for (let from = 0; from < keys; from += chunkKeys) {
    await processAll(putKeys(rangeOf(from, Math.min(from + chunkKeys, keys), 1)));
  }
  const putSome = (some: number): Batch[] => putKeys(rangeOf(0, keys, Math.floor(keys / some)));
  return {
    name: job.name,
    operator: counts,
    maxParallelism: job.maxParallelism,
    keys,
    stores,
    startProcess,
    put: putSome,
    touch: (some) => processAll(putSome(some)),
  };
}

/** Delivers a batch as the event source mapping does. */
export async function deliver(
  runtime: OperatorRuntime,
  { shardId, records }: Batch,
): Promise<void> {
  const outcome = await processBatch(runtime, shardId, records, { remainingMs: () => 60_000 });
  if (outcome.kind !== 'done') throw new Error(`shard ${shardId}: ${outcome.reason}`);
}

/** How many units have been committed, over all channels. */
export function countUnits(control: MemoryControlStore): number {
  return control
    .progressRows()
    .reduce((sum, { progress }) => sum + (progress.head?.number ?? 0), 0);
}

function cutBatches(shardId: string, records: readonly StreamRecord[]): Batch[] {
  const batches: Batch[] = [];
  for (let at = 0; at < records.length; at += batchRecords) {
    batches.push({ shardId, records: records.slice(at, at + batchRecords) });
  }
  return batches;
}

function* rangeOf(from: number, to: number, step: number): Generator<number> {
  for (let at = from; at < to; at += step) yield at;
}
