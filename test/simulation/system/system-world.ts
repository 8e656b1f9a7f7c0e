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
import { createMemorySystem } from '../../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../../shared/adapters/memory/memory-telemetry.ts';
import { deadLetterSink } from '../../../shared/core/emission.ts';
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
import { parseObjectName } from '../../../shared/runtime/object-names.ts';
import { registerJob } from '../../../shared/runtime/register-job.ts';
import { copiedGeneration, unbornGeneration } from '../../../shared/runtime/restore/unborn-job.ts';
import { visitChannel } from '../../../shared/runtime/visit-channel.ts';
import { gatePorts, type DrawFault, type Ports } from '../engine/gated-ports.ts';
import type { Gate, StepOwner } from '../engine/gate.ts';
import { jobName, keyGroups } from '../engine/job.ts';
import { ledger } from '../engine/ledger.ts';
import { createLossyStore } from '../engine/lossy-store.ts';
import type { Environment } from '../data-path/deployment.ts';
import { auditManifests, auditRemoval } from './audit-manifests.ts';
import { auditJob, auditProgress } from './audit-restore.ts';
import type { Loss, Stores } from './stores.ts';
import { createFeed, type Feed } from './feed.ts';

/** A job: its stores, its stream, and what the auditors say of every write that matters. */
export interface SystemWorld extends Stores, Pick<Feed, 'put' | 'putHeartbeat'> {
  readonly system: ReturnType<typeof createMemorySystem>;
  readonly telemetry: ReturnType<typeof createMemoryTelemetry>;
  readonly feed: Feed;
  readonly ports: Ports;
  readonly findings: string[];
  /** The job's item at this moment; once it is lost, and until there is one again, a closed one. */
  present(): Job;
  /** Its registry at this moment. */
  registry(): Registry;
  /** What the operator's code of a flavour keeps to itself. */
  readonly keepsQuiet: (flavour: string, id: number) => boolean;
  /** Empties every table of the job; what is in its bucket and in the stream stays. */
  loseTables(): void;
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

export interface WorldOptions {
  readonly seed: string;
  readonly shards: number;
  /** Code of every other flavour keeps every other entry to itself: a restore with other logic. */
  readonly hasOtherLogic: boolean;
  /** The job's name. @default that of the model */
  readonly job?: string;
  /** A job that is there already, whose stream and clock this one shares, and as a clone of which it is deployed (R12). */
  readonly cloneOf?: SystemWorld;
}

export async function createSystemWorld(options: WorldOptions): Promise<SystemWorld> {
  const { job = jobName, cloneOf } = options;
  const system = cloneOf?.system ?? createMemorySystem({ seed: options.seed });
  const feed = cloneOf?.feed ?? createFeed(() => system.now(), options.shards);
  const { stream } = feed;
  const tables: { lose(): void }[] = [];
  const table = <Store extends object>(make: () => Store): Store => {
    const made = createLossyStore(make);
    tables.push(made);
    return made.store;
  };
  const control = table(createMemoryControlStore);
  const objects = createMemoryObjectStore();
  const state = table(createMemoryStateStore);
  const hints = table(createMemoryHintStore);
  const sinks = {
    journal: table(createMemoryAppendSink),
    balance: table(createMemoryUpsertSink),
    deadLetters: table(createMemoryAppendSink),
  };
  const findings: string[] = [];
  const operator = ledger({ throwsNow: () => false, flavour: '', version: newestVersion });
  const isQuiet = (own: string, id: number): boolean =>
    options.hasOtherLogic && quietFlavours.includes(own) && id % 2 === 0;
  const stores: Omit<Stores, 'loss'> & { loss?: Loss } = {
    ...{ job, operator, stream, control, objects, state, sinks },
    get entries() {
      return feed.entries();
    },
    // R12: of the time before its cut a clone has states and views, and no segment.
    ...(cloneOf === undefined
      ? {}
      : { loss: { generation: copiedGeneration, objects: new Map() } }),
    ...(options.hasOtherLogic ? { isQuiet } : {}),
  };
  let present = await registerJob(control, objects, {
    ...{ name: job, maxParallelism: keyGroups, operators: [operator.id] },
    ...(cloneOf === undefined ? {} : { birth: { cloneOf: cloneOf.job, atMs: system.now() } }),
  });
  let registry = emptyRegistry;
  return Object.assign(stores, {
    ...{ system, feed },
    telemetry: createMemoryTelemetry(),
    findings,
    present: () => present,
    registry: () => registry,
    keepsQuiet: isQuiet,
    ports: {
      ...{ state, hints, objects: watchObjects(stores, findings) },
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
    put: feed.put,
    putHeartbeat: feed.putHeartbeat,
    loseTables(): void {
      for (const one of tables) one.lose();
      stores.loss = { generation: lastReserved(stores), objects: objects.objects() };
      registry = emptyRegistry;
      const sinceMs = system.now();
      const hold = { id: '', kind: 'unborn', owner: 'nobody', sinceMs } as const;
      present = {
        ...present,
        generation: unbornGeneration,
        hold: { ...hold, isFlipped: false, undo: undefined },
      };
    },
  });
}

/** The highest number of a generation that was given. */
function lastReserved({ job, objects }: Stores): number {
  const identities = [...objects.objects().keys()].map((name) => parseObjectName(job, name));
  return identities.reduce(
    (last, one) => (one.kind === 'reservation' ? Math.max(last, one.generation) : last),
    1,
  );
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
    createJob: async (job) => {
      const made = await control.createJob(job);
      on.job(made);
      return made;
    },
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
    job: world.job,
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
