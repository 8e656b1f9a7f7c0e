import { createMemoryControlStore } from '../../../shared/adapters/memory/memory-control-store.ts';
import { createMemoryHintStore } from '../../../shared/adapters/memory/memory-hint-store.ts';
import { createMemoryObjectStore } from '../../../shared/adapters/memory/memory-object-store.ts';
import { createMemoryShardReader } from '../../../shared/adapters/memory/memory-shard-reader.ts';
import {
  createMemoryAppendSink,
  createMemoryUpsertSink,
} from '../../../shared/adapters/memory/memory-sink.ts';
import { createMemoryStateStore } from '../../../shared/adapters/memory/memory-state-store.ts';
import {
  createMemoryStream,
  type MemoryPutOptions,
} from '../../../shared/adapters/memory/memory-stream.ts';
import { createMemorySystem } from '../../../shared/adapters/memory/memory-system.ts';
import { createMemoryTelemetry } from '../../../shared/adapters/memory/memory-telemetry.ts';
import { deadLetterSink } from '../../../shared/core/emission.ts';
import type { Progress } from '../../../shared/core/progress.ts';
import { decodeStates } from '../../../shared/operator/key-state.ts';
import { createOperatorInstance } from '../../../shared/operator/operator-instance.ts';
import type { Operator } from '../../../shared/operator/operator.ts';
import type { StreamRecord } from '../../../shared/ports/shard-reader.ts';
import type { Sink, SinkSource } from '../../../shared/ports/sink.ts';
import { createEnvironmentMemory } from '../../../shared/runtime/environment-memory.ts';
import {
  defaultSettings,
  type OperatorRuntime,
  type RuntimeSettings,
} from '../../../shared/runtime/operator-runtime.ts';
import { processBatch, type BatchOutcome } from '../../../shared/runtime/process-batch.ts';
import { registerJob } from '../../../shared/runtime/register-job.ts';
import { tally, type TallyInput } from './tally.ts';

export const jobName = 'demo';
export const firstShard = 'shardId-000000000000';
export const keyGroups = 128;

export interface JobOptions {
  /** @default the tally */
  readonly operator?: Operator;
  readonly settings?: Partial<RuntimeSettings>;
  readonly shards?: number;
  readonly pageRecordsMax?: number;
  /** @default true */
  readonly isRegistered?: boolean;
  /** Another job on the same stream, which this one is to begin as a clone of. */
  readonly cloneOf?: {
    readonly name: string;
    readonly system: ReturnType<typeof createMemorySystem>;
    readonly stream: ReturnType<typeof createMemoryStream>;
  };
  /** @default the name that all others have */
  readonly name?: string;
}

export interface DeliveryOptions {
  readonly shardId?: string;
  /** @default a minute, for ever */
  readonly remainingMs?: () => number;
}

/** One job with its stream and all stores in memory. Environments come and go; the stores stay. */
export async function createJob(options: JobOptions = {}) {
  const operator = options.operator ?? tally();
  const name = options.name ?? jobName;
  const { cloneOf } = options;
  const system = cloneOf?.system ?? createMemorySystem();
  const stream =
    cloneOf?.stream ?? createMemoryStream({ shards: options.shards ?? 1, now: () => system.now() });
  const telemetry = createMemoryTelemetry();
  const tables: { lose(): void }[] = [];
  const table = <Store extends object>(make: () => Store): Store => {
    let store = make();
    tables.push({ lose: () => (store = make()) });
    return new Proxy(store, { get: (_, name) => Reflect.get(store, name) as unknown });
  };
  const state = table(createMemoryStateStore);
  const control = table(createMemoryControlStore);
  const objects = createMemoryObjectStore();
  const hints = table(createMemoryHintStore);
  const reader = createMemoryShardReader(stream, {
    pageRecordsMax: options.pageRecordsMax ?? 10_000,
  });
  const entries = table(createMemoryAppendSink);
  const totals = table(createMemoryUpsertSink);
  const deadLetters = table(createMemoryAppendSink);
  const sinks = new Map<string, Sink>([
    ['entries', entries],
    ['totals', totals],
    [deadLetterSink, deadLetters],
  ]);
  if (options.isRegistered ?? true) {
    await registerJob(control, objects, {
      ...{ name, maxParallelism: keyGroups, operators: [operator.id] },
      ...(cloneOf === undefined ? {} : { birth: { cloneOf: cloneOf.name, atMs: system.now() } }),
    });
  }

  /** A fresh environment; `overrides` replaces parts of its runtime. */
  const createEnvironment = (overrides: Partial<OperatorRuntime> = {}) => {
    const runtime: OperatorRuntime = {
      job: name,
      operator,
      instance: createOperatorInstance(overrides.operator ?? operator),
      maxParallelism: keyGroups,
      settings: { ...defaultSettings, ...options.settings },
      state,
      control,
      hints,
      objects,
      reader,
      sinks,
      system,
      telemetry,
      memory: createEnvironmentMemory(),
      ...overrides,
    };
    const deliver = (
      records: readonly StreamRecord[] = stream.shard(firstShard).records,
      { shardId = firstShard, remainingMs = () => 60_000 }: DeliveryOptions = {},
    ): Promise<BatchOutcome> => processBatch(runtime, shardId, records, { remainingMs });
    return { runtime, deliver };
  };

  return {
    ...{ name, operator, system, stream, telemetry, state, control, objects, hints, reader, sinks },
    tables: { entries, totals, deadLetters },
    /** Empties every table; what is in S3 and in the stream stays. */
    loseTables: (): void => {
      for (const one of tables) one.lose();
    },
    createEnvironment,

    /** Puts a user's event under the user's key. */
    put(user: string, event: TallyInput): void {
      stream.put(user, encodeJson({ user, ...event }));
    },
    /** Puts bytes as they are. */
    putRaw(partitionKey: string, data: Uint8Array | string, putOptions?: MemoryPutOptions): void {
      const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
      stream.put(partitionKey, bytes, putOptions);
    },
    records: (shardId = firstShard): readonly StreamRecord[] => [...stream.shard(shardId).records],
    progress: (shardId = firstShard): Progress | undefined =>
      control.progressRows().find((row) => row.channel.shardId === shardId)?.progress,
    /** The decoded states of a key; undefined where there is no item, or a tombstone. */
    statesOf(key: string): Readonly<Record<string, unknown>> | undefined {
      const states = state.rows().find((row) => row.item.key === key)?.item.states;
      if (states === undefined) return undefined;
      const live = decodeStates(operator, states, key);
      return Object.fromEntries(operator.stateNames.map((name, slot) => [name, live[slot]]));
    },
    /** The running totals that were appended for a user, in order. */
    entriesOf: (user: string): number[] =>
      entries
        .rows()
        .filter(({ key }) => key === user)
        .map(({ value }) => (value as { total: number }).total),
    /** Where the appended rows say that they come from. */
    sourcesOfEntries: (): SinkSource[] => entries.rows().map(({ source }) => source),
    /** The view: user → total. */
    totals: (): Record<string, number> =>
      Object.fromEntries(
        totals.rows().map(({ key, value }) => [key, (value as { total: number }).total]),
      ),
    deadLetters: (): DeadLetter[] =>
      deadLetters
        .rows()
        .map(({ key, position, value }) => ({ key, position, ...(value as DeadLetterValue) })),
  };
}

export type Job = Awaited<ReturnType<typeof createJob>>;
export type Environment = ReturnType<Job['createEnvironment']>;

interface DeadLetterValue {
  readonly reason: string;
  readonly message: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly arrivalMs: number;
}

export interface DeadLetter extends DeadLetterValue {
  readonly key: string;
  readonly position: { readonly sequence: string; readonly sub: number };
}

/** Delivers what is not done yet until nothing is, as the event source mapping does; returns the reasons of hand-backs. */
export async function deliverUntilDone(
  environment: Environment,
  records: readonly StreamRecord[],
  options: DeliveryOptions = {},
): Promise<string[]> {
  const reasons: string[] = [];
  let rest = records;
  while (reasons.length < deliveriesMax) {
    const outcome = await environment.deliver(rest, options);
    if (outcome.kind === 'done') return reasons;
    reasons.push(outcome.reason);
    rest = rest.slice(rest.findIndex(({ sequence }) => sequence === outcome.fromSequence));
  }
  throw new Error(`not done after ${deliveriesMax} deliveries: ${reasons.at(-1)}`);
}

const deliveriesMax = 25;

export function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
