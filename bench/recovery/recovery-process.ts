import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import type { ShardReader, StreamRecord } from '../../shared/ports/shard-reader.ts';
import type { OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { processBatch } from '../../shared/runtime/process-batch.ts';
import { createCountingJob, openCountingJob, readCountedTotals } from '../embedded/counting-job.ts';
import { countingOperator, type CountedEvent } from '../embedded/counting-operator.ts';
import { useEmulators, type EmulatorPlaces } from '../embedded/emulators.ts';
import { createRecordedReader, loadStream, storeStream } from './recorded-stream.ts';

/*
 * A process of an operator, as an environment of Lambda is one:
 *
 *   node recovery-process.ts <order as JSON>
 *
 * `fill` makes a job with so many keys and leaves the batches that are still to come in a file; `die` begins with one of them and
 * says so when its items are written and its segment is not, to be killed there; `recover` processes the same batch to its end;
 * `check` compares what is kept of every key. Each prints one line of JSON.
 */

export interface RecoveryOrder {
  readonly task: 'fill' | 'die' | 'recover' | 'check';
  readonly jobId: string;
  readonly emulators: EmulatorPlaces;
  /** The end of the stream. */
  readonly file: string;
  readonly keys: number;
  /** Keys of each batch, which lie evenly among all. */
  readonly touched: number;
  readonly batches: number;
  /** Of `die` and `recover`: which batch. */
  readonly batch: number;
}

export interface Recovered {
  /** From the start of the process until it could take a batch. */
  readonly startMs: number;
  /** From the batch to its commit. */
  readonly commitMs: number;
}

const startMs = performance.now();
const order = JSON.parse(process.argv[2]!) as RecoveryOrder;
useEmulators(order.emulators);
print(await tasks()[order.task](order));
process.exit();

function tasks(): Record<RecoveryOrder['task'], (order: RecoveryOrder) => Promise<unknown>> {
  return { fill, die, recover, check };
}

async function fill(wanted: RecoveryOrder): Promise<object> {
  const { jobId, keys, touched, batches, file } = wanted;
  const stream = createMemoryStream();
  const { shardId, range, parentIds } = stream.shards()[0]!;
  const runtime = open(jobId, createMemoryShardReader(stream));
  await createCountingJob(runtime, jobId);
  const unitRecords = 1_000;
  for (let from = 0; from < keys; from += unitRecords) {
    for (let at = from; at < Math.min(from + unitRecords, keys); at += 1) put(at);
    await deliver(runtime, shardId, take());
  }
  const step = Math.floor(keys / touched);
  const cut = Array.from({ length: batches }, () => {
    for (let at = 0; at < touched; at += 1) put(at * step);
    return take();
  });
  const { incarnation, retentionHours } = stream;
  storeStream(file, {
    incarnation,
    retentionHours,
    shard: { shardId, range, parentIds },
    batches: cut,
  });
  return { keys };

  function put(at: number): void {
    const event: CountedEvent = { key: `key-${at}`, id: at, amount: 1, note: 'n'.repeat(80) };
    stream.put(event.key, new TextEncoder().encode(JSON.stringify(event)));
  }

  function take(): readonly StreamRecord[] {
    const records = [...stream.shard(shardId).records];
    stream.trim(shardId);
    return records;
  }
}

async function die({ jobId, file, batch }: RecoveryOrder): Promise<never> {
  const stream = loadStream(file);
  const runtime = open(jobId, createRecordedReader(stream));
  const objects = {
    ...runtime.objects,
    create() {
      print({ isDying: true });
      return new Promise<never>(() => undefined);
    },
  };
  // Nothing else keeps it alive.
  setInterval(() => undefined, 60_000);
  await deliver({ ...runtime, objects }, stream.shard.shardId, stream.batches[batch]!);
  throw new Error('the attempt was to die before its commit');
}

async function recover({ jobId, file, batch }: RecoveryOrder): Promise<Recovered> {
  const stream = loadStream(file);
  const runtime = open(jobId, createRecordedReader(stream));
  const readyMs = performance.now();
  await deliver(runtime, stream.shard.shardId, stream.batches[batch]!);
  return { startMs: readyMs - startMs, commitMs: performance.now() - readyMs };
}

/** @throws Error where a batch was not committed, or a key counted otherwise than once for each record */
async function check(wanted: RecoveryOrder): Promise<object> {
  const { jobId, file, keys, touched, batches } = wanted;
  const stream = loadStream(file);
  const runtime = open(jobId, createRecordedReader(stream));
  const last = stream.batches.at(-1)!.at(-1)!.sequence;
  const { operator, control, job } = runtime;
  const { shardId } = stream.shard;
  const channel = { operator: operator.id, stream: stream.incarnation, shardId };
  const progress = await control.readProgress(job, 1, channel);
  if (progress?.position?.sequence !== last) {
    throw new Error(`progress is ${progress?.position?.sequence ?? 'nowhere'}, expected ${last}`);
  }
  const totals = await readCountedTotals(runtime);
  const step = Math.floor(keys / touched);
  for (let at = 0; at < keys; at += 1) {
    const isTouched = at % step === 0 && at / step < touched;
    const [count, expected] = [totals.get(`key-${at}`)?.count, isTouched ? 1 + batches : 1];
    if (count === expected) continue;
    throw new Error(`key-${at} was counted ${count ?? 'not'} instead of ${expected} times`);
  }
  return { keys: totals.size };
}

function open(jobId: string, reader: ShardReader): OperatorRuntime {
  return openCountingJob(countingOperator, jobId, reader);
}

async function deliver(
  runtime: OperatorRuntime,
  shardId: string,
  records: readonly StreamRecord[],
): Promise<void> {
  const outcome = await processBatch(runtime, shardId, records, { remainingMs: () => 600_000 });
  if (outcome.kind !== 'done') throw new Error(`records were handed back: ${outcome.reason}`);
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
