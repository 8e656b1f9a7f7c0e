import {
  createMemoryControlStore,
  type MemoryControlStore,
} from '../../shared/adapters/memory/memory-control-store.ts';
import {
  createMemoryHintStore,
  type MemoryHintStore,
} from '../../shared/adapters/memory/memory-hint-store.ts';
import {
  createMemoryObjectStore,
  type MemoryObjectStore,
} from '../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryAppendSink } from '../../shared/adapters/memory/memory-sink.ts';
import {
  createMemoryStateStore,
  type MemoryStateStore,
} from '../../shared/adapters/memory/memory-state-store.ts';
import type { MemoryStream } from '../../shared/adapters/memory/memory-stream.ts';
import { createMemoryTelemetry } from '../../shared/adapters/memory/memory-telemetry.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import type { Progress } from '../../shared/core/progress.ts';
import { decodeStates } from '../../shared/operator/key-state.ts';
import { createOperatorInstance } from '../../shared/operator/operator-instance.ts';
import type { HeldWindow } from '../../shared/operator/windows/held-window.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import type { System } from '../../shared/ports/system.ts';
import { createEnvironmentMemory } from '../../shared/runtime/environment-memory.ts';
import { defaultSettings, type OperatorRuntime } from '../../shared/runtime/operator-runtime.ts';
import { registerJob } from '../../shared/runtime/register-job.ts';
import { labKey, labOperator, resultsSink } from './lab-operator.ts';

const job = { name: 'crash-lab', maxParallelism: 8, operators: [labOperator.id] };

/** All that a job keeps, its sinks excepted: positions, suspicions, states, timers' hints, segments. */
export interface LabStores {
  readonly control: MemoryControlStore;
  readonly state: MemoryStateStore;
  readonly hints: MemoryHintStore;
  readonly objects: MemoryObjectStore;
}

/** The stores of a job that has just been deployed. */
export async function createLabStores(): Promise<LabStores> {
  const control = createMemoryControlStore();
  const objects = createMemoryObjectStore();
  await registerJob(control, objects, job);
  return { control, objects, state: createMemoryStateStore(), hints: createMemoryHintStore() };
}

export function copyStores({ control, state, hints, objects }: LabStores): LabStores {
  return {
    control: control.copy(),
    state: state.copy(),
    hints: hints.copy(),
    objects: objects.copy(),
  };
}

/** A process as it starts: over stores that may be old, and with nothing remembered. */
export function startProcess(
  stores: LabStores,
  { stream, sink, system }: { stream: MemoryStream; sink: Sink; system: System },
): OperatorRuntime {
  return {
    job: job.name,
    operator: labOperator,
    instance: createOperatorInstance(labOperator),
    maxParallelism: job.maxParallelism,
    settings: defaultSettings,
    ...stores,
    reader: createMemoryShardReader(stream),
    sinks: new Map([
      [resultsSink, sink],
      [deadLetterSink, createMemoryAppendSink()],
    ]),
    system,
    telemetry: createMemoryTelemetry(),
    memory: createEnvironmentMemory(),
  };
}

/** The progress of the only channel; undefined before its first record. */
export function readProgress({ control }: LabStores): Progress | undefined {
  return control.progressRows()[0]?.progress;
}

/** The encoded state of the only key; empty where there is none. */
export function readState({ state }: LabStores): Uint8Array {
  return state.rows()[0]?.item.states ?? new Uint8Array();
}

/** The sums of the windows that are held, by the end of the window. */
export function readWindows(stores: LabStores): Readonly<Record<string, number>> {
  const bytes = readState(stores);
  if (bytes.length === 0) return {};
  const [windows] = decodeStates(labOperator, bytes, labKey) as [Map<string, HeldWindow>];
  return Object.fromEntries(
    [...windows.values()].map(({ end, accumulator }) => [end, accumulator as number]),
  );
}
