import { createMemoryControlStore } from '../../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../../shared/adapters/memory/memory-shard-reader.ts';
import { createMemoryStateStore } from '../../../shared/adapters/memory/memory-state-store.ts';
import {
  createMemoryStream,
  type MemoryStream,
} from '../../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../../shared/adapters/memory/memory-telemetry.ts';
import { channelId } from '../../../shared/core/channel.ts';
import { endOfFiring, isPast, recordOf, subSequenceMax } from '../../../shared/core/position.ts';
import { createOperatorInstance } from '../../../shared/operator/operator-instance.ts';
import type { Operator } from '../../../shared/operator/operator.ts';
import type { StreamRecord } from '../../../shared/ports/shard-reader.ts';
import type { Sink } from '../../../shared/ports/sink.ts';
import {
  createEnvironmentMemory,
  type EnvironmentMemory,
} from '../../../shared/runtime/environment-memory.ts';
import {
  defaultSettings,
  type OperatorRuntime,
  type RuntimeSettings,
} from '../../../shared/runtime/operator-runtime.ts';
import { processBatch, type BatchOutcome } from '../../../shared/runtime/process-batch.ts';
import { registerJob } from '../../../shared/runtime/register-job.ts';
import type { Gate, StepOwner } from '../engine/gate.ts';
import { gatePorts, type DrawFault, type Ports } from '../engine/gated-ports.ts';
import { jobName, keyGroups } from '../engine/job.ts';

/** One job with its stream and all its stores in memory. Environments come and go; this stays. */
export interface Deployment {
  readonly stream: MemoryStream;
  readonly system: ReturnType<typeof createMemorySystem>;
  readonly telemetry: ReturnType<typeof createMemoryTelemetry>;
  readonly state: ReturnType<typeof createMemoryStateStore>;
  readonly control: ReturnType<typeof createMemoryControlStore>;
  readonly objects: ReturnType<typeof createMemoryObjectStore>;
  readonly ports: Ports;
  /** Problems that were found, in order. */
  readonly findings: string[];
  /** The operator as an environment runs it. */
  operatorFor(environment: Environment): Operator;
}

/** An environment in which invocations run one after the other. */
export interface Environment {
  readonly name: string;
  /** What this environment adds to the histories that it makes: none where the operator is deterministic. */
  readonly flavour: string;
  readonly memory: EnvironmentMemory;
}

export function createEnvironment(name: string, flavour = ''): Environment {
  return { name, flavour, memory: createEnvironmentMemory() };
}

export async function createDeployment(options: {
  readonly seed: string;
  readonly shards: number;
  readonly sinks: ReadonlyMap<string, Sink>;
  operatorFor(environment: Environment): Operator;
}): Promise<Deployment> {
  const system = createMemorySystem({ seed: options.seed });
  const stream = createMemoryStream({ shards: options.shards, now: () => system.now() });
  const state = createMemoryStateStore();
  const control = createMemoryControlStore();
  const objects = createMemoryObjectStore();
  const { operatorFor } = options;
  await registerJob(control, objects, {
    name: jobName,
    maxParallelism: keyGroups,
    operators: [operatorFor(createEnvironment('deploy')).id],
  });
  return {
    ...{ stream, system, state, control, objects, operatorFor },
    telemetry: createMemoryTelemetry(),
    findings: [],
    ports: {
      ...{ state, control, objects, sinks: options.sinks },
      hints: createMemoryHintStore(),
      reader: createMemoryShardReader(stream, { pageRecordsMax: 3 }),
    },
  };
}

/** Runs one invocation in an environment, behind the gate. */
export function invoke(
  deployment: Deployment,
  gate: Gate,
  owner: StepOwner,
  environment: Environment,
  options: {
    readonly shardId: string;
    readonly records: readonly StreamRecord[];
    readonly settings?: Partial<RuntimeSettings>;
    readonly draw?: DrawFault;
    readonly remainingMs?: () => number;
  },
): Promise<BatchOutcome> {
  const ports = watchOutputs(deployment, options.shardId, options.records);
  const operator = deployment.operatorFor(environment);
  const runtime: OperatorRuntime = {
    job: jobName,
    operator,
    instance: createOperatorInstance(operator),
    maxParallelism: keyGroups,
    settings: { ...defaultSettings, drainAfterMs: 0, ...options.settings },
    ...gatePorts(ports, gate, owner, options.draw ?? (() => 'none')),
    system: deployment.system,
    telemetry: deployment.telemetry,
    memory: environment.memory,
  };
  return processBatch(runtime, options.shardId, options.records, {
    remainingMs: options.remainingMs ?? (() => 60_000),
  });
}

/** P3: an invocation publishes nothing that lies past the records that it was given, or past the one whose timers it fires. */
function watchOutputs(
  deployment: Deployment,
  shardId: string,
  records: readonly StreamRecord[],
): Ports {
  const { sequence } = records[records.length - 1]!;
  const last = { sequence, sub: subSequenceMax, step: endOfFiring };
  const sinks = [...deployment.ports.sinks].map(([name, sink]): [string, Sink] => [
    name,
    {
      write: (source, rows) => {
        const committed = deployment.control
          .progressRows()
          .find(({ channel }) => channelId(channel) === source.channel)?.progress.position;
        for (const { key, emission } of rows) {
          const isAhead =
            isPast(emission.position, last) &&
            (committed === undefined || isPast(recordOf(emission.position), committed));
          if (source.channel.endsWith(shardId) && isAhead) {
            deployment.findings.push(`an output of ${key} was published ahead of its unit`);
          }
        }
        return sink.write(source, rows);
      },
    },
  ]);
  return { ...deployment.ports, sinks: new Map(sinks) };
}
