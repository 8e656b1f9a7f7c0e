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
import { encodeHeartbeat } from '../../../shared/core/heartbeat.ts';
import { emptyRegistry, type Registry } from '../../../shared/core/registry.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import type { StreamRecord } from '../../../shared/ports/shard-reader.ts';
import type { System } from '../../../shared/ports/system.ts';
import type { VisitOrder, VisitReport } from '../../../shared/ports/operator-calls.ts';
import type { ControlStore, Job } from '../../../shared/ports/control-store.ts';
import type { Operator } from '../../../shared/operator/operator.ts';
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
import { auditManifests, auditRemoval } from './audit-manifests.ts';
import { retentionHours } from './draw-plan.ts';
import { auditJob, auditProgress, type Stores } from './audit-restore.ts';

/** A job: its stores, its stream, and what the auditors say of every write that matters. */
export interface SystemWorld extends Stores {
  readonly system: ReturnType<typeof createMemorySystem>;
  readonly telemetry: ReturnType<typeof createMemoryTelemetry>;
  readonly ports: Ports;
  readonly findings: string[];
  /** The job's item at this moment. */
  present(): Job;
  /** Its registry at this moment. */
  registry(): Registry;
  /** What the operator's code of a flavour keeps to itself. */
  readonly keepsQuiet: (flavour: string, id: number) => boolean;
  put(account: string, message: Message): void;
  /** Puts a heartbeat into an open shard. */
  putHeartbeat(shardId: string, at: number): void;
}

/** Code of an operator as it is deployed, or was. */
export interface Code {
  /** What it adds to histories, which tells the auditors who has made them; what it keeps to itself depends on it. */
  readonly flavour: string;
  /** Schema version of its state. */
  readonly version: number;
}

/** That of the code with which the auditors read. */
const newestVersion = 100;

/** No flavour is none of them: the code that a job begins with tells everything. */
const quietFlavours = ['A', 'C', 'E', 'G', 'I'];

export async function createSystemWorld(options: {
  readonly seed: string;
  readonly shards: number;
  /** Code of every other flavour keeps every other entry to itself: a restore with other logic. */
  readonly hasOtherLogic: boolean;
}): Promise<SystemWorld> {
  const system = createMemorySystem({ seed: options.seed });
  const stream = createMemoryStream({
    ...{ shards: options.shards, retentionHours },
    now: () => system.now(),
  });
  const control = createMemoryControlStore();
  const objects = createMemoryObjectStore();
  const state = createMemoryStateStore();
  const sinks = {
    journal: createMemoryAppendSink(),
    balance: createMemoryUpsertSink(),
    deadLetters: createMemoryAppendSink(),
  };
  const findings: string[] = [];
  const operator = ledger({ throwsNow: () => false, flavour: '', version: newestVersion });
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
  // Records arrive by a clock of their own, a little later each, so that arrival timers have something to wait for.
  let registry = emptyRegistry;
  let arrivalMs = system.now();
  const putRecord = (key: string, message: Message, explicitHashKey?: string): void => {
    arrivalMs += 1;
    const { sequence } = stream.put(key, encodeMessage(message), {
      arrivalMs,
      ...(explicitHashKey === undefined ? {} : { explicitHashKey }),
    });
    // Another map each time: a story is told once for each.
    const part: Part = { key, message };
    stores.entries = new Map([...stores.entries, [sequence, [part]]]);
  };
  return Object.assign(stores, {
    system,
    telemetry: createMemoryTelemetry(),
    findings,
    present: () => present,
    registry: () => registry,
    keepsQuiet: isQuiet,
    ports: {
      state,
      objects: watchObjects(stores, findings),
      hints: createMemoryHintStore(),
      reader: createMemoryShardReader(stream, { pageRecordsMax: 3 }),
      control: watchControl(stores, findings, {
        job: (job) => (present = job),
        registry: (next) => (registry = next),
      }),
      sinks: new Map<string, MemorySink>([
        ['journal', sinks.journal],
        ['balance', sinks.balance],
        [deadLetterSink, sinks.deadLetters],
      ]),
    },
    put(account: string, message: Message): void {
      putRecord(account, message);
    },
    putHeartbeat(shardId: string, at: number): void {
      const { from } = stream.shard(shardId).range;
      putRecord('heartbeat', { kind: 'heartbeat', at }, BigInt(`0x${from}`).toString());
    },
  });
}

function encodeMessage(message: Message): Uint8Array {
  if (message !== 'garbage' && message.kind === 'heartbeat') return encodeHeartbeat(message.at);
  return new TextEncoder().encode(message === 'garbage' ? '{' : JSON.stringify(message));
}

/** Lets the auditors look at every object that goes. */
function watchObjects(stores: Stores, findings: string[]): ObjectStore {
  const { objects } = stores;
  return {
    ...objects,
    remove: async (names) => {
      await objects.remove(names);
      findings.push(...(await auditRemoval(stores, names)));
    },
  };
}

/** Lets the auditors look at every write of the job's item, of its registry and of progress that has taken effect. */
function watchControl(
  stores: Stores,
  findings: string[],
  on: { job(job: Job): void; registry(registry: Registry): void },
): ControlStore {
  const { control } = stores;
  return {
    ...control,
    replaceJob: async (job, expected) => {
      const before = await control.readJob(job.name);
      const outcome = await control.replaceJob(job, expected);
      if (outcome !== 'committed') return outcome;
      on.job(job);
      findings.push(...(await auditJob(stores, before!, job)));
      return outcome;
    },
    writeRegistry: async (job, next) => {
      const before = await control.readRegistry(job);
      const outcome = await control.writeRegistry(job, next);
      if (outcome !== 'committed') return outcome;
      on.registry(next);
      findings.push(...(await auditManifests(stores, before, next)));
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
  /** @default the world's */
  readonly system?: System;
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
  world: SystemWorld,
  gate: Gate,
  owner: StepOwner,
  environment: Environment & Code,
  options: RunOptions & { readonly shardId: string; readonly records: readonly StreamRecord[] },
): Promise<BatchOutcome> {
  const { shardId, records, remainingMs = minute } = options;
  const runtime = createRuntime(world, gate, owner, environment, options);
  return processBatch(runtime, shardId, records, { remainingMs });
}

/** The operator as this code runs it. */
export function operatorOf(world: SystemWorld, { flavour, version }: Code): Operator {
  return ledger({
    throwsNow: () => false,
    ...{ flavour, version },
    isQuiet: ({ id }) => world.keepsQuiet(flavour, id),
  });
}

/** One visit, in an environment of its own: as the workflow's tasks have it. */
export function visit(
  world: SystemWorld,
  gate: Gate,
  owner: StepOwner,
  code: Code,
  options: RunOptions & { readonly order: VisitOrder },
): Promise<VisitReport> {
  const { order, remainingMs = minute } = options;
  const memory = createEnvironmentMemory();
  const runtime = {
    ...createRuntime(world, gate, owner, { name: owner.name, ...code, memory }, options),
    ...(order.hold === undefined ? {} : { hold: order.hold }),
    acceptsGaps: order.acceptsGaps === true,
  };
  return visitChannel(runtime, order.shardId, order.goal, { remainingMs });
}

function createRuntime(
  world: SystemWorld,
  gate: Gate,
  owner: StepOwner,
  { flavour, version, memory }: Environment & Code,
  { unitRecordsMax, draw, system = world.system }: RunOptions,
): OperatorRuntime {
  const operator = operatorOf(world, { flavour, version });
  return {
    job: jobName,
    operator,
    instance: createOperatorInstance(operator),
    maxParallelism: keyGroups,
    settings: { ...defaultSettings, drainAfterMs: 0, attemptsMax, unitRecordsMax },
    ...gatePorts(world.ports, gate, owner, draw),
    system,
    telemetry: world.telemetry,
    memory,
  };
}
