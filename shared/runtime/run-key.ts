import { deadLetterSink, emissionsPast, type Emission } from '../core/emission.ts';
import { isPast, type Position } from '../core/position.ts';
import type { StoredItem } from '../core/stored-item.ts';
import { decodeStates, emptyStates, type LiveStates } from '../operator/key-state.ts';
import type { Counters } from '../ports/telemetry.ts';
import type { InputRecord } from './decode-records.ts';
import type { KeyPlace, WarmItem } from './environment-memory.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/** A key in a unit: the item that it starts from, its records, and what running them has made so far. */
export interface KeyRun {
  readonly place: KeyPlace;
  /** The key's records of this unit, in order; none for a key that is touched only because it is ahead. */
  readonly records: InputRecord[];
  /** The item that is in the store, as far as this attempt knows: loaded, warm, or written by it. */
  stored: StoredItem | undefined;
  live: LiveStates;
  /** The last position applied to `live`. */
  position: Position | undefined;
  arrivalMs: number;
  /** The emissions past the progress that the unit began at: kept ones, then new ones. */
  emissions: Emission[];
  /** A record has changed this run since `stored`. */
  isDirty: boolean;
}

export function createKeyRun(place: KeyPlace): KeyRun {
  return {
    place,
    records: [],
    stored: undefined,
    live: [],
    position: undefined,
    arrivalMs: 0,
    emissions: [],
    isDirty: false,
  };
}

/** Starts a run from what the store holds. Emissions at or before progress are flushed and dropped (P2). */
export function startFromItem(
  runtime: OperatorRuntime,
  run: KeyRun,
  item: StoredItem | undefined,
  itemEmissions: readonly Emission[],
  progress: Position | undefined,
): void {
  run.stored = item;
  run.live =
    item?.states === undefined
      ? emptyStates(runtime.operator)
      : decodeStates(runtime.operator, item.states, item.key);
  run.position = item?.position;
  run.arrivalMs = item?.arrivalMs ?? 0;
  run.emissions = [...emissionsPast(itemEmissions, progress)];
  run.isDirty = false;
}

/** Starts a run from the warm cache: the states are taken over, not copied. */
export function startFromWarm(run: KeyRun, warm: WarmItem): void {
  run.stored = warm.item;
  run.live = warm.live;
  run.position = warm.item.position;
  run.arrivalMs = warm.item.arrivalMs;
  run.emissions = [...warm.emissions];
  run.isDirty = false;
}

/**
 * Applies one record to its key unless the key is already past it (law 4). What the operator throws comes out, and
 * leaves the run unusable.
 */
export function applyRecord(
  runtime: OperatorRuntime,
  run: KeyRun,
  record: InputRecord,
  counters: Counters,
): void {
  if (!isPast(record.position, run.position)) {
    counters.recordsSkipped += 1;
    return;
  }
  if (record.verdict === undefined) {
    runtime.instance.processEvent(record, run.live, run.emissions);
  } else {
    run.emissions.push(deadLetterOf(record, record.verdict));
    counters.deadLetters += 1;
  }
  run.position = record.position;
  run.arrivalMs = record.arrivalMs;
  run.isDirty = true;
}

function deadLetterOf(record: InputRecord, verdict: { reason: string; message: string }): Emission {
  return {
    position: record.position,
    index: 0,
    sink: deadLetterSink,
    row: '',
    value: {
      reason: verdict.reason,
      message: verdict.message,
      partitionKey: record.partitionKey,
      data: record.data,
      arrivalMs: record.arrivalMs,
    },
  };
}
