import type { Manifest } from '../../shared/core/manifest.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import { finishCompaction } from '../../shared/runtime/checkpoint/finish-compaction.ts';
import { planCompaction } from '../../shared/runtime/checkpoint/plan-compaction.ts';
import { runCompaction } from '../../shared/runtime/checkpoint/run-compaction.ts';
import {
  completeManifest,
  registerPending,
  writeManifest,
} from '../../shared/runtime/checkpoint/take-manifest.ts';
import { noDeadline } from '../../shared/runtime/deadline.ts';
import { describeOperator } from '../../shared/runtime/describe-operator.ts';
import { compactionPrefix } from '../../shared/runtime/object-names.ts';
import { timeMs } from '../harness/statistics.ts';
import { countUnits, deliver, type Batch, type BenchJob } from './bench-job.ts';
import { countRequests, totalOf, type RequestCounts } from './count-requests.ts';

export interface MeasuredCheckpoint {
  readonly ms: number;
  readonly requests: number;
  /** Bytes of files that the checkpoint before it did not list: all that was uploaded since, and of all that it lists. */
  readonly newBytes: number;
  readonly totalBytes: number;
  readonly manifestBytes: number;
  readonly segments: number;
}

const timeoutMs = 3_600_000;

/** Makes a checkpoint. */
export async function measureCheckpoint(job: BenchJob): Promise<MeasuredCheckpoint> {
  const counts: RequestCounts = new Map();
  let manifestBytes = 0;
  const objects: ObjectStore = {
    ...job.stores.objects,
    create(name, bytes) {
      manifestBytes += bytes.length;
      return job.stores.objects.create(name, bytes);
    },
  };
  const ports = {
    ...portsOf(job),
    control: countRequests('control', job.stores.control, counts),
    objects: countRequests('objects', objects, counts),
  };
  let manifest: Manifest | undefined;
  const ms = await timeMs(async () => {
    const request = { kind: 'checkpoint', generation: 1, label: '', timeoutMs } as const;
    const pending = await registerPending(ports, request);
    manifest = await writeManifest(ports, pending, {
      maxParallelism: job.maxParallelism,
      operators: [describeOperator(job.operator)],
      note: '',
      tags: {},
    });
    await completeManifest(ports, pending, manifest);
  });
  const { newBytes, totalBytes, channels } = manifest!;
  const segments = channels.reduce((sum, cut) => sum + cut.segments.length, 0);
  return { ms, requests: totalOf(counts), newBytes, totalBytes, manifestBytes, segments };
}

/** Merges all that the job has into one run, as it comes to be with time; the next checkpoint lists it. */
export async function mergeAll(job: BenchJob): Promise<{ readonly fileBytes: number }> {
  const ports = portsOf(job);
  const checkpoint = { kind: 'checkpoint', generation: 1, label: '', timeoutMs } as const;
  const cut = await registerPending(ports, checkpoint);
  const manifest = await writeManifest(ports, cut, {
    maxParallelism: job.maxParallelism,
    operators: [describeOperator(job.operator)],
    note: '',
    tags: {},
  });
  await completeManifest(ports, cut, manifest);
  const pending = await registerPending(ports, { ...checkpoint, kind: 'compaction' });
  const into = compactionPrefix(job.name, pending.number);
  await planCompaction(ports, pending, manifest, { into, dropsTombstones: true });
  const { runs = [] } = await runCompaction(ports, pending.number, noDeadline);
  await finishCompaction(ports, pending, runs);
  const files = runs.flatMap((run) => run.files);
  return { fileBytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export interface MeasuredRecovery {
  /** From the death of the process to the commit of its batch by a new one, which begins with nothing. */
  readonly ms: number;
  readonly requests: number;
}

/**
 * Kills a process in the middle of a unit, when its items are written and its segment is not, and lets a new one have the same
 * batch. What Lambda takes to notice, and to start, is not in it.
 *
 * @param keys of all shards; the batch is what one shard gets of them
 */
export async function measureRecovery(job: BenchJob, keys: number): Promise<MeasuredRecovery> {
  const { stores } = job;
  const [batch, ...others] = job.put(keys) as [Batch, ...Batch[]];
  const before = countUnits(stores.control);
  const death = Promise.withResolvers<void>();
  const dying: ObjectStore = {
    ...stores.objects,
    create() {
      death.resolve();
      return new Promise<never>(() => undefined);
    },
  };
  const life = deliver(job.startProcess({ objects: dying }), batch);
  await Promise.race([life, death.promise]);
  if (countUnits(stores.control) !== before) throw new Error('the attempt was to die uncommitted');
  const counts: RequestCounts = new Map();
  const ms = await timeMs(async () => {
    const counted = {
      control: countRequests('control', stores.control, counts),
      objects: countRequests('objects', stores.objects, counts),
      state: countRequests('state', stores.state, counts),
      hints: countRequests('hints', stores.hints, counts),
      reader: countRequests('reader', stores.reader, counts),
    };
    await deliver(job.startProcess(counted), batch);
  });
  if (countUnits(stores.control) === before) throw new Error('the batch was to be committed');
  for (const other of others) await deliver(job.startProcess(), other);
  return { ms, requests: totalOf(counts) };
}

function portsOf({ name, stores }: BenchJob) {
  const { control, objects, system, telemetry } = stores;
  return { job: name, control, objects, system, telemetry };
}
