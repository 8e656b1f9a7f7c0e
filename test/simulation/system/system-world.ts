import { createMemoryControlStore } from '../../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../../shared/adapters/memory/memory-shard-reader.ts';
import {
  createMemoryAppendSink,
  createMemoryUpsertSink,
  type MemorySink,
} from '../../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../../shared/adapters/memory/memory-state-store.ts';
import { createMemoryStream } from '../../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../../shared/adapters/memory/memory-telemetry.ts';
import { deadLetterSink } from '../../../shared/core/emission.ts';
import type { StreamRecord } from '../../../shared/ports/shard-reader.ts';
import type { VisitOrder, VisitReport } from '../../../shared/ports/operator-calls.ts';
import type { ControlStore, Job } from '../../../shared/ports/control-store.ts';
import { createOperatorInstance } from '../../../shared/operator/operator-instance.ts';
import { createEnvironmentMemory } from '../../../shared/runtime/environment-memory.ts';
import { defaultSettings, type OperatorRuntime } from '../../../shared/runtime/operator-runtime.ts';
import { processBatch, type BatchOutcome } from '../../../shared/runtime/process-batch.ts';
import { registerJob } from '../../../shared/runtime/register-job.ts';
import { visitChannel } from '../../../shared/runtime/visit-channel.ts';
import { gatePorts, type DrawFault, type Ports } from '../engine/gated-ports.ts';
import type { Gate, StepOwner } from '../engine/gate.ts';
import { jobName, keyGroups } from '../engine/job.ts';
import { ledger, type Message, type Part } from '../engine/ledger.ts';
import type { Environment } from '../data-path/deployment.ts';
import { auditJob, auditProgress, type Stores } from './audit-restore.ts';

/** A job that is restored: its stores, its stream, and what the auditors say of every write of the job and of progress. */
export interface RestoreWorld extends Stores {
  readonly system: ReturnType<typeof createMemorySystem>;
  readonly telemetry: ReturnType<typeof createMemoryTelemetry>;
  readonly ports: Ports;
  readonly findings: string[];
  /** The job's item at this moment. */
  present(): Job;
  /** What the operator's code of a flavour keeps to itself. */
  readonly keepsQuiet: (flavour: string, id: number) => boolean;
  put(account: string, message: Message): void;
}

/** No flavour is none of them: the code that a job begins with tells everything. */
const quietFlavours = ['A', 'C', 'E', 'G', 'I'];

export async function createRestoreWorld(options: {
  readonly seed: string;
  readonly shards: number;
  /** Code of every other flavour keeps every other entry to itself: a restore with other logic. */
  readonly hasOtherLogic: boolean;
}): Promise<RestoreWorld> {
  const system = createMemorySystem({ seed: options.seed });
  const stream = createMemoryStream({ shards: options.shards, now: () => system.now() });
  const control = createMemoryControlStore();
  const objects = createMemoryObjectStore();
  const state = createMemoryStateStore();
  const sinks = {
    journal: createMemoryAppendSink(),
    balance: createMemoryUpsertSink(),
    deadLetters: createMemoryAppendSink(),
  };
  const findings: string[] = [];
  const operator = ledger({ throwsNow: () => false, flavour: '' });
  const isQuiet = (own: string, id: number): boolean =>
    options.hasOtherLogic && quietFlavours.includes(own) && id % 2 === 0;
  const stores: Stores & { entries: ReadonlyMap<string, readonly Part[]> } = {
    ...{ operator, stream, control, objects, state, sinks },
    entries: new Map(),
    ...(options.hasOtherLogic ? { isQuiet } : {}),
  };
  let present = await registerJob(control, objects, {
    name: jobName,
    maxParallelism: keyGroups,
    operators: [operator.id],
  });
  let arrivals = 0;
  return Object.assign(stores, {
    system,
    telemetry: createMemoryTelemetry(),
    findings,
    present: () => present,
    keepsQuiet: isQuiet,
    ports: {
      state,
      objects,
      hints: createMemoryHintStore(),
      reader: createMemoryShardReader(stream, { pageRecordsMax: 3 }),
      control: watchControl(stores, findings, (job) => (present = job)),
      sinks: new Map<string, MemorySink>([
        ['journal', sinks.journal],
        ['balance', sinks.balance],
        [deadLetterSink, sinks.deadLetters],
      ]),
    },
    put(account: string, message: Message): void {
      const text = message === 'garbage' ? '{' : JSON.stringify(message);
      // Each record arrives a little later, so that arrival timers have something to wait for.
      arrivals += 1;
      const arrivalMs = system.now() + arrivals;
      const data = new TextEncoder().encode(text);
      const { sequence } = stream.put(account, data, { arrivalMs });
      // Another map each time: a story is told once for each.
      const part: Part = { key: account, message };
      stores.entries = new Map([...stores.entries, [sequence, [part]]]);
    },
  });
}

/** Lets the auditors look at every write of the job's item and of progress that has taken effect. */
function watchControl(stores: Stores, findings: string[], onJob: (job: Job) => void): ControlStore {
  const { control } = stores;
  return {
    ...control,
    replaceJob: async (job, expected) => {
      const before = await control.readJob(job.name);
      const outcome = await control.replaceJob(job, expected);
      if (outcome !== 'committed') return outcome;
      onJob(job);
      findings.push(...(await auditJob(stores, before!, job)));
      return outcome;
    },
    commitProgress: async (job, channel, next, from) => {
      const outcome = await control.commitProgress(job, channel, next, from);
      if (outcome === 'committed') {
        findings.push(...auditProgress(stores, (await control.readJob(job))!, channel, next, from));
      }
      return outcome;
    },
  };
}

export interface RunOptions {
  readonly unitRecordsMax: number;
  readonly draw: DrawFault;
  /** @default a minute, for ever */
  readonly remainingMs?: () => number;
}

/** More than there are deaths and sleeps in a run: an innocent record is not condemned for them (P15). */
const attemptsMax = 30;
const minute = (): number => 60_000;

/** One delivery of the trigger, behind the gate. */
export function deliver(
  world: RestoreWorld,
  gate: Gate,
  owner: StepOwner,
  environment: Environment,
  options: RunOptions & { readonly shardId: string; readonly records: readonly StreamRecord[] },
): Promise<BatchOutcome> {
  const { shardId, records, remainingMs = minute } = options;
  const runtime = createRuntime(world, gate, owner, environment, options);
  return processBatch(runtime, shardId, records, { remainingMs });
}

/** One visit, in an environment of its own: as the workflow's tasks have it. */
export function visit(
  world: RestoreWorld,
  gate: Gate,
  owner: StepOwner,
  flavour: string,
  options: RunOptions & { readonly order: VisitOrder },
): Promise<VisitReport> {
  const { order, remainingMs = minute } = options;
  const memory = createEnvironmentMemory();
  const runtime = {
    ...createRuntime(world, gate, owner, { name: owner.name, flavour, memory }, options),
    ...(order.hold === undefined ? {} : { hold: order.hold }),
    acceptsGaps: order.acceptsGaps === true,
  };
  return visitChannel(runtime, order.shardId, order.goal, { remainingMs });
}

function createRuntime(
  world: RestoreWorld,
  gate: Gate,
  owner: StepOwner,
  { flavour, memory }: Environment,
  { unitRecordsMax, draw }: RunOptions,
): OperatorRuntime {
  const operator = ledger({
    throwsNow: () => false,
    flavour,
    isQuiet: ({ id }) => world.keepsQuiet(flavour, id),
  });
  return {
    job: jobName,
    operator,
    instance: createOperatorInstance(operator),
    maxParallelism: keyGroups,
    settings: { ...defaultSettings, drainAfterMs: 0, attemptsMax, unitRecordsMax },
    ...gatePorts(world.ports, gate, owner, draw),
    system: world.system,
    telemetry: world.telemetry,
    memory,
  };
}
