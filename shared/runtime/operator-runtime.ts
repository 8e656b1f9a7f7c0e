import type { Operator } from '../operator/operator.ts';
import type { OperatorInstance } from '../operator/operator-instance.ts';
import type { ControlStore } from '../ports/control-store.ts';
import type { HintStore } from '../ports/hint-store.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { ShardReader } from '../ports/shard-reader.ts';
import type { Sink } from '../ports/sink.ts';
import type { StateStore } from '../ports/state-store.ts';
import type { System } from '../ports/system.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { EnvironmentMemory } from './environment-memory.ts';

/** Bounds of the runtime, each with its unit. */
export interface RuntimeSettings {
  /** Most records in a unit: as many as Lambda delivers at once, so that a delivery can be one unit. */
  readonly unitRecordsMax: number;
  /** Most keys that the records of a unit have: what is written for each of them has to fit into memory and time. */
  readonly unitKeysMax: number;
  /** Most bytes of record data in a unit. */
  readonly unitBytesMax: number;
  /** Larger records go to the dead letters, bytes after de-aggregation. */
  readonly recordBytesMax: number;
  /** Most keys whose timers fire in a unit without a record of theirs. */
  readonly unitFiringKeysMax: number;
  /** How many times a record may throw, or take its invocation with it, before it goes to the dead letters. */
  readonly attemptsMax: number;
  /** Most bytes of packed state kept warm in one environment. */
  readonly cacheBytesMax: number;
  /** A unit is not begun, and its record loop is cut, with less time than this left, ms. */
  readonly deadlineReserveMs: number;
  /** How many records or timers run between two looks at the time that is left. */
  readonly clockCheckSteps: number;
  /** How long a child shard leaves the trigger to finish the parent before it reads the parent itself, ms. */
  readonly drainAfterMs: number;
  /** A warm channel that has been silent for longer looks for records that the trigger skipped, ms. */
  readonly silenceMs: number;
}

export const defaultSettings: RuntimeSettings = {
  unitRecordsMax: 10_000,
  unitKeysMax: 1_000,
  unitBytesMax: 4 * 1024 * 1024,
  recordBytesMax: 1024 * 1024,
  unitFiringKeysMax: 2000,
  attemptsMax: 3,
  cacheBytesMax: 64 * 1024 * 1024,
  deadlineReserveMs: 2000,
  clockCheckSteps: 32,
  drainAfterMs: 10_000,
  silenceMs: 60_000,
};

/** Everything that an operator's use cases need: one for each environment. */
export interface OperatorRuntime {
  readonly job: string;
  readonly operator: Operator;
  readonly instance: OperatorInstance;
  readonly maxParallelism: number;
  readonly settings: RuntimeSettings;
  readonly state: StateStore;
  readonly control: ControlStore;
  readonly hints: HintStore;
  readonly objects: ObjectStore;
  readonly reader: ShardReader;
  /** One for each sink of the operator, and one for the dead letters. */
  readonly sinks: ReadonlyMap<string, Sink>;
  readonly system: System;
  readonly telemetry: Telemetry;
  readonly memory: EnvironmentMemory;
  /**
   * Set for a replay (R6): the id of the hold that it works under. Its commits keep the fence, and channels that it begins are
   * born with it. Undefined for everything that the trigger delivers.
   */
  readonly hold?: string;
  /** Set where somebody has said that records which have left the stream unread may be missing (R7). @default false */
  readonly acceptsGaps?: boolean;
}
