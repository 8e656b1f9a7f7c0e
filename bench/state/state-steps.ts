import { createMemoryControlStore } from '../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryTelemetry } from '../../shared/adapters/memory/memory-telemetry.ts';
import { nodeSystem } from '../../shared/adapters/system/node-system.ts';
import { HoldfastError } from '../../shared/core/errors.ts';
import type { Base } from '../../shared/core/manifest.ts';
import { emptyRegistry } from '../../shared/core/registry.ts';
import type { Reservation } from '../../shared/core/reservation.ts';
import type { HintStore } from '../../shared/ports/hint-store.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { StateStore } from '../../shared/ports/state-store.ts';
import { finishCompaction } from '../../shared/runtime/checkpoint/finish-compaction.ts';
import { planCompaction } from '../../shared/runtime/checkpoint/plan-compaction.ts';
import { runCompaction } from '../../shared/runtime/checkpoint/run-compaction.ts';
import { verifyFiles } from '../../shared/runtime/checkpoint/savepoint-steps.ts';
import { readManifest, registerPending } from '../../shared/runtime/checkpoint/take-manifest.ts';
import { noDeadline } from '../../shared/runtime/deadline.ts';
import type { JobPorts } from '../../shared/runtime/job-ports.ts';
import { baseName, compactionPrefix } from '../../shared/runtime/object-names.ts';
import { loadFile } from '../../shared/runtime/restore/load.ts';
import { readBaseObject } from '../../shared/runtime/restore/restore-steps.ts';
import { benchJob, benchOperator, keyGroups, largeManifestName } from './large-state.ts';

/* What a job does with a large state's files, step by step, in one process and as fast as it can. */

/** What a step has gone through. */
export interface StepResult {
  readonly files: number;
  /** Of the files that it has written or read. */
  readonly fileBytes: number;
  readonly keys: number;
}

/** The number of the compaction that the steps share. */
const compactionNumber = 101;

const resultName = baseName(benchJob, compactionNumber);

/** Merges everything into one run, as for a savepoint or a restore. */
export async function compact(objects: ObjectStore): Promise<StepResult> {
  const ports = await openPorts(objects);
  const manifest = await readManifest(ports, largeManifestName);
  const request = { kind: 'compaction', generation: 1, label: '', timeoutMs: 3_600_000 } as const;
  const pending = await registerPending(ports, request);
  const into = compactionPrefix(benchJob, pending.number);
  await planCompaction(ports, pending, manifest, { into, dropsTombstones: true });
  const { runs } = await runCompaction(ports, pending.number, noDeadline);
  const finished = await finishCompaction(ports, pending, runs ?? []);
  if (finished?.base !== resultName) {
    throw new HoldfastError('internal', `compaction ${pending.number} has come to no base`);
  }
  return describeBase(await readBaseObject(ports, resultName));
}

/** Reads the merged files back and checks every byte. */
export async function verify(objects: ObjectStore): Promise<StepResult> {
  const ports = await openPorts(objects);
  const { runs } = await readBaseObject(ports, resultName);
  const { files, bytes, keys } = await verifyFiles(ports, runs, 0, noDeadline);
  return { files, fileBytes: bytes, keys };
}

/** Loads the merged files, each of them a range of keys, into a new generation. */
export async function load(objects: ObjectStore): Promise<StepResult> {
  const state = createCountingStateStore();
  const ports = { ...(await openPorts(objects)), state, hints: noHints };
  const manifest = await readManifest(ports, largeManifestName);
  const base = await readBaseObject(ports, resultName);
  for (const file of base.runs.flatMap((run) => run.files)) {
    await loadFile(ports, reservation, manifest, file);
  }
  return { ...describeBase(base), keys: state.items() };
}

/** Takes away what the steps have made, so that they can be run anew. */
export async function forget(objects: ObjectStore): Promise<void> {
  const names = [resultName];
  for await (const name of objects.list(compactionPrefix(benchJob, compactionNumber))) {
    names.push(name);
  }
  await objects.remove(names);
}

export const stateSteps = { compact, verify, load } as const;

export type StateStep = keyof typeof stateSteps;

async function openPorts(objects: ObjectStore): Promise<JobPorts> {
  const control = createMemoryControlStore();
  await control.createJob({
    name: benchJob,
    version: 1,
    generation: 1,
    status: 'running',
    maxParallelism: keyGroups,
    operators: [benchOperator],
    hold: undefined,
    timeline: [],
  });
  await control.writeRegistry(benchJob, {
    ...emptyRegistry,
    version: 1,
    nextNumber: compactionNumber,
  });
  return {
    job: benchJob,
    control,
    objects,
    system: nodeSystem,
    telemetry: createMemoryTelemetry(),
  };
}

function describeBase({ runs }: Base): StepResult {
  const files = runs.flatMap((run) => run.files);
  return {
    files: files.length,
    fileBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    keys: files.reduce((sum, { keys }) => sum + keys, 0),
  };
}

const reservation: Reservation = {
  job: benchJob,
  generation: 2,
  parent: 1,
  manifest: largeManifestName,
  restore: 'bench',
  hold: 'bench',
  base: resultName,
  forks: [],
  dropped: [],
  left: [1],
};

/** Takes every item and keeps none: what loading costs is what is measured. */
function createCountingStateStore(): StateStore & { items(): number } {
  let items = 0;
  return {
    load: async () => new Map(),
    async write(_, writes) {
      items += writes.length;
      return writes.map(() => 'written' as const);
    },
    async *scan() {
      // Keeps none.
    },
    remove: async () => undefined,
    expireTombstones: async () => undefined,
    items: () => items,
  };
}

const noHints: HintStore = {
  insert: async () => undefined,
  findDue: async () => ({ due: [], nextTime: undefined }),
  remove: async () => undefined,
};
