import { deadLetterSink, emissionsPast, type Emission } from '../core/emission.ts';
import { isPast, type Position } from '../core/position.ts';
import type { StoredItem } from '../core/stored-item.ts';
import { timerStepName, type TimeDomain, type Timer } from '../core/timer.ts';
import type { Watermarks } from '../core/watermark.ts';
import { decodeStates, emptyStates, type LiveStates } from '../operator/key-state.ts';
import type { Counters } from '../ports/telemetry.ts';
import type { InputRecord } from './decode-records.ts';
import type { KeyPlace, WarmItem } from './environment-memory.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/** A key in a unit: the item that it starts from, its records, and what running them has made so far. */
export interface KeyRun {
  readonly place: KeyPlace;
  /** The key's records of this unit, in order; none for a key that is ahead or whose timer is due. */
  readonly records: InputRecord[];
  /** The item that is in the store, as far as this attempt knows: loaded, warm, or written by it. */
  stored: StoredItem | undefined;
  live: LiveStates;
  /** Pending timers, in the order in which they fire. */
  timers: Timer[];
  /** The last position applied to `live`. */
  position: Position | undefined;
  arrivalMs: number;
  /** The emissions past the progress that the unit began at: kept ones, then new ones. */
  emissions: Emission[];
  /** A record or a timer has changed this run since `stored`. */
  isDirty: boolean;
  /** The earliest timers that have a hint, as this environment knows from a commit of its own. */
  hinted: Readonly<Record<TimeDomain, number | undefined>>;
}

export function createKeyRun(place: KeyPlace): KeyRun {
  return {
    place,
    records: [],
    stored: undefined,
    live: [],
    timers: [],
    position: undefined,
    arrivalMs: 0,
    emissions: [],
    isDirty: false,
    hinted: noTimes,
  };
}

const noTimes = { event: undefined, arrival: undefined };

/** The time of a key's earliest timer in each domain. */
export function earliestTimers(run: KeyRun): Readonly<Record<TimeDomain, number | undefined>> {
  if (run.timers.length === 0) return noTimes;
  const earliest: Record<TimeDomain, number | undefined> = { event: undefined, arrival: undefined };
  for (const timer of run.timers) earliest[timer.domain] ??= timer.time;
  return earliest;
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
  run.timers = [...(item?.timers ?? [])];
  run.hinted = noTimes;
  run.position = item?.position;
  run.arrivalMs = item?.arrivalMs ?? 0;
  run.emissions = [...emissionsPast(itemEmissions, progress)];
  run.isDirty = false;
}

/** Starts a run from the warm cache: the states are taken over, not copied. */
export function startFromWarm(run: KeyRun, warm: WarmItem): void {
  run.stored = warm.item;
  run.live = warm.live;
  run.timers = [...warm.item.timers];
  run.hinted = warm.hinted;
  run.position = warm.item.position;
  run.arrivalMs = warm.item.arrivalMs;
  run.emissions = [...warm.emissions];
  run.isDirty = false;
}

/**
 * Applies one record to its key unless the key is already past it (P5). What the operator throws comes out, and
 * leaves the run unusable.
 */
export function applyRecord(
  runtime: OperatorRuntime,
  run: KeyRun,
  record: InputRecord,
  watermark: number | undefined,
  counters: Counters,
): void {
  if (!isPast(record.position, run.position)) {
    counters.recordsSkipped += 1;
    return;
  }
  if (record.verdict === undefined) {
    const time = { timers: run.timers, watermark };
    runtime.instance.processEvent(record, run.live, run.emissions, time);
  } else {
    run.emissions.push(deadLetterOf(record, record.verdict));
    counters.deadLetters += 1;
  }
  run.position = record.position;
  run.arrivalMs = record.arrivalMs;
  run.isDirty = true;
}

/** Where a timer of a key fires behind a record. */
export function firingPosition(behind: Position, run: KeyRun, timer: Timer): Position {
  const { key, hash } = run.place;
  const step = { keyHash: hash, key, time: timer.time, name: timerStepName(timer) };
  return { sequence: behind.sequence, sub: behind.sub, step };
}

/**
 * Fires a timer of a key, or carries out the verdict on it. Either way the timer is gone and the key has moved on, even if
 * nothing was emitted (P6).
 */
export function fireTimer(
  runtime: OperatorRuntime,
  run: KeyRun,
  timer: Timer,
  at: { readonly position: Position; readonly watermarks: Watermarks; readonly verdict?: string },
  counters: Counters,
): void {
  const arrivalMs = at.watermarks.arrival ?? 0;
  const { key } = run.place;
  run.timers.splice(run.timers.indexOf(timer), 1);
  if (at.verdict === undefined) {
    runtime.instance.fireTimer(
      { key, position: at.position, arrivalMs },
      timer,
      run.live,
      run.emissions,
      {
        timers: run.timers,
        watermark: at.watermarks.event,
      },
    );
  } else {
    const { name, time, domain } = timer;
    const data = new TextEncoder().encode(JSON.stringify({ timer: { name, time, domain } }));
    const value = {
      reason: 'timer-failed',
      message: at.verdict,
      partitionKey: key,
      data,
      arrivalMs,
    };
    run.emissions.push({ position: at.position, index: 0, sink: deadLetterSink, row: '', value });
    counters.deadLetters += 1;
  }
  run.position = at.position;
  run.arrivalMs = Math.max(run.arrivalMs, arrivalMs);
  run.isDirty = true;
  counters.timersFired += 1;
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
