import { createMemoryControlStore } from '../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../shared/adapters/memory/memory-shard-reader.ts';
import {
  createMemoryAppendSink,
  createMemoryUpsertSink,
} from '../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../shared/adapters/memory/memory-state-store.ts';
import {
  createMemoryStream,
  type MemoryStream,
} from '../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../shared/adapters/memory/memory-telemetry.ts';
import { channelId } from '../../shared/core/channel.ts';
import { deadLetterSink } from '../../shared/core/emission.ts';
import { createOperatorInstance } from '../../shared/operator/operator-instance.ts';
import { endOfFiring, isPast, recordOf } from '../../shared/core/position.ts';
import type { Sink } from '../../shared/ports/sink.ts';
import type { StreamRecord } from '../../shared/ports/shard-reader.ts';
import {
  createEnvironmentMemory,
  type EnvironmentMemory,
} from '../../shared/runtime/environment-memory.ts';
import {
  defaultSettings,
  type OperatorRuntime,
  type RuntimeSettings,
} from '../../shared/runtime/operator-runtime.ts';
import { processBatch, type BatchOutcome } from '../../shared/runtime/process-batch.ts';
import { registerJob } from '../../shared/runtime/register-job.ts';
import { auditCommit, type Auditable } from './audit.ts';
import { gatePorts, type DrawFault, type Ports } from './gated-ports.ts';
import type { Gate, StepOwner } from './gate.ts';
import { jobName, keyGroups } from './job.ts';
import { ledger, type Entry, type Moods } from './ledger.ts';

/** One job with all its stores in memory, and the stream that it reads. */
export interface World extends Auditable {
  readonly throwsNow: Moods['throwsNow'];
  readonly stream: MemoryStream;
  readonly system: ReturnType<typeof createMemorySystem>;
  readonly telemetry: ReturnType<typeof createMemoryTelemetry>;
  readonly ports: Ports;
  /** Problems that an auditor has found, in order. */
  readonly findings: string[];
  /** Everything that was put, by shard, in order. */
  put(account: string, entry: Entry | 'garbage'): void;
}

/** An environment in which invocations run one after the other. */
export interface Environment {
  readonly name: string;
  /** What this environment adds to the histories that it makes: none where the operator is deterministic. */
  readonly flavour: string;
  readonly memory: EnvironmentMemory;
}

export async function createWorld(options: {
  readonly seed: string;
  readonly shards: number;
  readonly throwsNow?: Moods['throwsNow'];
}): Promise<World> {
  const system = createMemorySystem({ seed: options.seed });
  const stream = createMemoryStream({ shards: options.shards, now: () => system.now() });
  const telemetry = createMemoryTelemetry();
  const throwsNow = options.throwsNow ?? (() => false);
  const operator = ledger({ throwsNow, flavour: '' });
  const state = createMemoryStateStore();
  const control = createMemoryControlStore();
  const objects = createMemoryObjectStore();
  const sinks = {
    journal: createMemoryAppendSink(),
    balance: createMemoryUpsertSink(),
    deadLetters: createMemoryAppendSink(),
  };
  const entries = new Map<string, Entry | 'garbage'>();
  const findings: string[] = [];
  const auditable: Auditable = { operator, state, control, objects, sinks, stream, entries };
  await registerJob(control, objects, {
    name: jobName,
    maxParallelism: keyGroups,
    operators: [operator.id],
  });
  const encoder = new TextEncoder();
  let arrivals = 0;
  return {
    ...auditable,
    throwsNow,
    system,
    telemetry,
    findings,
    ports: {
      state,
      objects,
      hints: createMemoryHintStore(),
      reader: createMemoryShardReader(stream, { pageRecordsMax: 3 }),
      control: {
        ...control,
        commitProgress: async (job, channel, next, from) => {
          const outcome = await control.commitProgress(job, channel, next, from);
          if (outcome === 'committed')
            findings.push(...auditCommit(auditable, channel, next, from));
          return outcome;
        },
      },
      sinks: new Map([
        ['journal', sinks.journal],
        ['balance', sinks.balance],
        [deadLetterSink, sinks.deadLetters],
      ]),
    },
    put(account, entry) {
      const text = entry === 'garbage' ? '{' : JSON.stringify(entry);
      // Each record arrives a little later, so that arrival timers have something to wait for.
      arrivals += 1;
      const arrivalMs = system.now() + arrivals;
      const { sequence } = stream.put(account, encoder.encode(text), { arrivalMs });
      entries.set(sequence, entry);
    },
  };
}

/** Runs one invocation in an environment, behind the gate. */
export function invoke(
  world: World,
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
  const ports = watchOutputs(world, options.shardId, options.records);
  const runtime = createRuntime(world, environment, {
    ports: gatePorts(ports, gate, owner, options.draw ?? (() => 'none')),
    settings: { drainAfterMs: 0, ...options.settings },
  });
  return processBatch(runtime, options.shardId, options.records, {
    remainingMs: options.remainingMs ?? (() => 60_000),
  });
}

/** P3: an invocation publishes nothing that lies past the records that it was given, or past the one whose timers it fires. */
function watchOutputs(world: World, shardId: string, records: readonly StreamRecord[]): Ports {
  const { sequence } = records[records.length - 1]!;
  const last = { sequence, sub: 0, step: endOfFiring };
  const sinks = [...world.ports.sinks].map(([name, sink]): [string, Sink] => [
    name,
    {
      write: (source, rows) => {
        const committed = world.control
          .progressRows()
          .find(({ channel }) => channelId(channel) === source.channel)?.progress.position;
        for (const { key, emission } of rows) {
          const isAhead =
            isPast(emission.position, last) &&
            (committed === undefined || isPast(recordOf(emission.position), committed));
          if (source.channel.endsWith(shardId) && isAhead) {
            world.findings.push(`an output of ${key} was published ahead of its unit`);
          }
        }
        return sink.write(source, rows);
      },
    },
  ]);
  return { ...world.ports, sinks: new Map(sinks) };
}

export function createEnvironment(name: string, flavour = ''): Environment {
  return { name, flavour, memory: createEnvironmentMemory() };
}

function createRuntime(
  world: World,
  environment: Environment,
  options: { readonly ports: Ports; readonly settings: Partial<RuntimeSettings> },
): OperatorRuntime {
  const operator = ledger({ throwsNow: world.throwsNow, flavour: environment.flavour });
  return {
    job: jobName,
    operator,
    instance: createOperatorInstance(operator),
    maxParallelism: keyGroups,
    settings: { ...defaultSettings, ...options.settings },
    ...options.ports,
    system: world.system,
    telemetry: world.telemetry,
    memory: environment.memory,
  };
}
