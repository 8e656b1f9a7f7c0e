import { createMemoryControlStore } from '../../shared/adapters/memory/memory-control-store.ts';
import { decodeKinesisEvent } from '../../shared/adapters/kinesis/lambda-event.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import type { ShardReader } from '../../shared/ports/shard-reader.ts';
import type { OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { processBatch } from '../../shared/runtime/process-batch.ts';
import { createCountingJob, openCountingJob, readCountedTotals } from '../embedded/counting-job.ts';
import { countingOperator, publishingOperator } from '../embedded/counting-operator.ts';
import type { Peer } from './peer.ts';

/** `state`: with changelog and progress in memory; `changelog`: everything but sinks; `rows`: with a row for each key, too. */
export type HoldfastParts = 'state' | 'changelog' | 'rows';

/** The runtime of an operator as its function makes it. */
export function createHoldfastPeer(runId: string, reader: ShardReader, parts: HoldfastParts): Peer {
  const operator = parts === 'rows' ? publishingOperator : countingOperator;
  const opened = openCountingJob(operator, runId, reader);
  const runtime: OperatorRuntime =
    parts === 'state'
      ? { ...opened, control: createMemoryControlStore(), objects: createMemoryObjectStore() }
      : opened;
  return {
    prepare: () => createCountingJob(runtime, runId),
    async deliver(event) {
      const { shardId, records } = decodeKinesisEvent(JSON.parse(event));
      const deadline = { remainingMs: () => 60_000 };
      const outcome = await processBatch(runtime, shardId, records, deadline);
      if (outcome.kind !== 'done') throw new Error(`records were handed back: ${outcome.reason}`);
    },
    readTotals: () => readCountedTotals(runtime),
    close: async () => undefined,
  };
}
