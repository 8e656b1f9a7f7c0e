import { describeThrown } from '../core/errors.ts';
import {
  compareSteps,
  compareTexts,
  endOfFiring,
  isPast,
  recordOf,
  type FiringStep,
  type Position,
} from '../core/position.ts';
import { endOfKey, type Timer } from '../core/timer.ts';
import {
  isDue,
  laterTime,
  noWatermarks,
  watermarksOfKey,
  type Watermarks,
} from '../core/watermark.ts';
import type { ChannelSession } from './channel-session.ts';
import { hasTimeFor, noDeadline, type Deadline } from './deadline.ts';
import type { InputRecord } from './decode-records.ts';
import { isHintDue } from './due-keys.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import { applyRecord, firingPosition, fireTimer, type KeyRun } from './run-key.ts';
import type { Unit } from './unit.ts';

/*
 * The record loop. A record is applied to its key; then the channel's watermarks advance; then every timer that is due
 * fires, keys by hash, the timers of a key by time and name; then comes the next record (P11). Nothing here waits.
 */

/** A record or a timer that cannot be applied, and why. */
export interface UnitFailure {
  readonly position: Position;
  /** The record; or, for a timer, the one behind which it fires, where it is part of the unit. */
  readonly record: InputRecord | undefined;
  readonly reason: string;
  /** Nothing of the unit came before it. */
  readonly isFirst: boolean;
}

interface Loop {
  readonly runtime: OperatorRuntime;
  readonly session: ChannelSession;
  readonly unit: Unit;
  readonly deadline: Deadline;
  watermarks: { event: number | undefined; arrival: number | undefined };
  /** No timer of a touched key is due before the channel comes to these; what rests behind `due.hints` counts. */
  nextDue: { event: number; arrival: number };
  steps: number;
  firings: number;
}

/**
 * Runs the records of a unit in order, and sets where the unit ends: behind its last record, or earlier, because time is
 * short or because too many timers are due at once.
 */
export function runUnit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
  deadline: Deadline,
): UnitFailure | undefined {
  const { progress } = session;
  const loop: Loop = {
    runtime,
    session,
    unit,
    deadline,
    watermarks: { ...progress.watermarks },
    nextDue: { event: -Infinity, arrival: -Infinity },
    steps: 0,
    firings: 0,
  };
  findNextDue(loop);
  if (progress.firing !== undefined && progress.position !== undefined) {
    const outcome = fireBehind(loop, recordOf(progress.position), undefined);
    if (outcome.kind === 'failed') return outcome.failure;
    if (outcome.kind === 'stopped') {
      endUnit(loop, 0, outcome.at);
      return undefined;
    }
    endUnit(loop, 0, undefined);
  }
  return runRecords(loop, unit.records);
}

function runRecords(loop: Loop, records: readonly InputRecord[]): UnitFailure | undefined {
  const { unit } = loop;
  let said: number | undefined;
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index]!;
    const run = record.isHeartbeat ? undefined : unit.runs.get(record.key)!;
    if (run !== undefined) {
      const failure = tryRecord(loop, run, record);
      if (failure !== undefined) return failure;
    }
    said = laterTime(said, record.eventWatermark);
    // The parts of an aggregated record count as one: a unit may only end behind the last of them.
    if (!record.isEndOfRecord) continue;
    advance(loop, said, record.arrivalMs);
    said = undefined;
    if (isAnyDue(loop)) {
      const outcome = fireBehind(loop, record.position, record);
      if (outcome.kind === 'failed') return outcome.failure;
      if (outcome.kind === 'stopped') {
        endUnit(loop, index + 1, outcome.at, record.position);
        return undefined;
      }
    }
    endUnit(loop, index + 1, undefined, record.position);
    if (isOutOfTime(loop) && index < records.length - 1) {
      shortenUnit(unit, index + 1);
      return undefined;
    }
  }
  return undefined;
}

type FiringOutcome =
  | { readonly kind: 'fired' }
  | { readonly kind: 'stopped'; readonly at: FiringStep | 'none' }
  | { readonly kind: 'failed'; readonly failure: UnitFailure };

/** Fires what is due behind a record. `record` is undefined where the unit goes on behind one that is committed. */
function fireBehind(loop: Loop, behind: Position, record: InputRecord | undefined): FiringOutcome {
  const { runtime, session, unit } = loop;
  const { before, firingsMax } = unit.limits;
  const { firing } = session.progress;
  let last: FiringStep | 'none' = record === undefined ? (firing ?? 'none') : 'none';
  const isLastRecord =
    record === undefined ? unit.records.length === 0 : record === unit.records.at(-1);
  const border = borderOf(loop);
  const candidates = [...unit.runs.values()]
    .filter((run) => firstDue(loop, run, behind) !== undefined)
    .sort(compareRuns);
  for (const run of candidates) {
    if (border !== undefined && isBeyond(run, border)) break;
    for (;;) {
      const timer = firstDue(loop, run, behind);
      if (timer === undefined) break;
      const position = firingPosition(behind, run, timer);
      const isLimited =
        before !== undefined && isLastRecord && compareSteps(position.step, before) >= 0;
      if (isLimited || loop.firings >= firingsMax || isOutOfTime(loop)) {
        findNextDue(loop);
        return { kind: 'stopped', at: last };
      }
      const verdict = verdictOn(unit, position);
      const watermarks = keyWatermarks(loop, run);
      try {
        const at = { position, watermarks, ...(verdict === undefined ? {} : { verdict }) };
        fireTimer(runtime, run, timer, at, session.counters);
      } catch (thrown) {
        const isFirst = loop.firings === 0 && record === undefined;
        return {
          kind: 'failed',
          failure: { position, record, reason: describeThrown(thrown), isFirst },
        };
      }
      loop.firings += 1;
      last = position.step!;
    }
  }
  findNextDue(loop);
  if (border === undefined) return { kind: 'fired' };
  // Past everything of the last key that was loaded, whether it had something due or only a stale hint.
  return { kind: 'stopped', at: endOfKey(border) };
}

function verdictOn({ limits }: Unit, { step }: Position): string | undefined {
  const { verdict } = limits;
  return verdict !== undefined && compareSteps(verdict.step, step) === 0
    ? verdict.reason
    : undefined;
}

/** The first timer that a unit without records fires, behind the last committed one. */
export function findFirstTimer(session: ChannelSession, unit: Unit): Position | undefined {
  const { position, watermarks } = session.progress;
  if (position === undefined) return undefined;
  const loop = { session, watermarks };
  const behind = recordOf(position);
  const run = [...unit.runs.values()]
    .filter((candidate) => firstDue(loop, candidate, behind) !== undefined)
    .sort(compareRuns)[0];
  if (run === undefined) return undefined;
  return firingPosition(behind, run, firstDue(loop, run, behind)!);
}

/**
 * P12: true for a key with a timer left to fire where a unit ends inside a firing, and one that no hint need lead to: its
 * record registered it for a time that the watermark had passed, and who committed that watermark may yet remove a hint
 * at that time.
 */
export function isLeftOverdue(session: ChannelSession, unit: Unit, run: KeyRun): boolean {
  const { position, watermarks, firing } = unit.end;
  if (firing === undefined || position === undefined) return false;
  const isOfRecord = run.records.at(-1)?.position.sequence === position.sequence;
  const wasLeft = session.memory.ahead.some(({ key }) => key === run.place.key);
  if (!isOfRecord && !wasLeft) return false;
  return firstDue({ session, watermarks }, run, recordOf(position)) !== undefined;
}

/** The last key that may fire now: behind it are keys with timers due that were not loaded. */
function borderOf({
  session,
  unit,
  watermarks,
}: Loop): { keyHash: string; key: string } | undefined {
  const isHeldBack = unit.due.rest.some((hint) => isHintDue(session, watermarks, hint));
  const border = unit.due.hints.at(-1);
  if (!isHeldBack || border === undefined) return undefined;
  return { keyHash: border.keyHash, key: border.key };
}

function isBeyond({ place }: KeyRun, border: { keyHash: string; key: string }): boolean {
  return (compareTexts(place.hash, border.keyHash) || compareTexts(place.key, border.key)) > 0;
}

/** Where the unit stands behind some of its records. */
function endUnit(
  loop: Loop,
  records: number,
  firing: FiringStep | 'none' | undefined,
  behind: Position = recordOf(loop.session.progress.position!),
): void {
  const { unit, runtime } = loop;
  // Where nothing is left to fire the cut lies behind all that might have fired, whether or not something did.
  const step = firing ?? (runtime.operator.onTimer === undefined ? 'none' : endOfFiring);
  unit.end = {
    position: step === 'none' ? behind : { sequence: behind.sequence, sub: behind.sub, step },
    watermarks: { ...loop.watermarks },
    firing,
  };
  if (firing !== undefined) shortenUnit(unit, records);
}

/**
 * Runs a key's records and timers of the unit again, after its item was reloaded: up to where the unit ends, and behind
 * each record with the watermarks that it had there.
 */
export function rerunKey(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
  run: KeyRun,
): UnitFailure | undefined {
  session.counters.keysReran += 1;
  const { progress } = session;
  const loop: Loop = {
    runtime,
    session,
    unit,
    deadline: noDeadline,
    watermarks: { ...progress.watermarks },
    nextDue: { event: 0, arrival: 0 },
    steps: 0,
    firings: 0,
  };
  const fireAll = (behind: Position, record: InputRecord | undefined): UnitFailure | undefined => {
    for (;;) {
      const timer = firstDue(loop, run, behind);
      if (timer === undefined) return undefined;
      const position = firingPosition(behind, run, timer);
      if (isPast(position, unit.end.position)) return undefined;
      const isFirst = record === undefined && unit.limits.firingsMax === 1;
      const verdict = verdictOn(unit, position);
      try {
        const watermarks = keyWatermarks(loop, run);
        const at = { position, watermarks, ...(verdict === undefined ? {} : { verdict }) };
        fireTimer(runtime, run, timer, at, session.counters);
      } catch (thrown) {
        return { position, record, reason: describeThrown(thrown), isFirst };
      }
    }
  };
  if (progress.firing !== undefined && progress.position !== undefined) {
    const failure = fireAll(recordOf(progress.position), undefined);
    if (failure !== undefined) return failure;
  }
  let said: number | undefined;
  for (const record of unit.records) {
    if (record.key === run.place.key && !record.isHeartbeat) {
      const failure = tryRecord(loop, run, record);
      if (failure !== undefined) return failure;
    }
    said = laterTime(said, record.eventWatermark);
    if (!record.isEndOfRecord) continue;
    advance(loop, said, record.arrivalMs);
    said = undefined;
    const failure = fireAll(record.position, record);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function tryRecord(loop: Loop, run: KeyRun, record: InputRecord): UnitFailure | undefined {
  const { runtime, session, unit } = loop;
  try {
    applyRecord(runtime, run, record, keyWatermarks(loop, run).event, session.counters);
    lowerNextDue(loop, run);
    return undefined;
  } catch (thrown) {
    const isFirst = record === unit.records[0] && session.progress.firing === undefined;
    return { position: record.position, record, reason: describeThrown(thrown), isFirst };
  }
}

function advance(loop: Loop, event: number | undefined, arrivalMs: number): void {
  const { watermarks } = loop;
  watermarks.event = laterTime(watermarks.event, event);
  watermarks.arrival = laterTime(watermarks.arrival, arrivalMs);
}

type Moment = { readonly session: ChannelSession; readonly watermarks: Watermarks };

function keyWatermarks({ session, watermarks }: Moment, run: KeyRun): Watermarks {
  const { floors } = session.progress;
  return floors.length === 0 ? watermarks : watermarksOfKey(watermarks, floors, run.place.hash);
}

/** The next timer of a key that fires behind a record: due, and not behind what the key has reached already. */
function firstDue(loop: Moment, run: KeyRun, behind: Position): Timer | undefined {
  if (run.timers.length === 0) return undefined;
  const watermarks = keyWatermarks(loop, run);
  return run.timers.find(
    (timer) => isDue(timer, watermarks) && isPast(firingPosition(behind, run, timer), run.position),
  );
}

function isAnyDue({ watermarks, nextDue }: Loop): boolean {
  return (
    (watermarks.event ?? -Infinity) >= nextDue.event ||
    (watermarks.arrival ?? -Infinity) >= nextDue.arrival
  );
}

function findNextDue(loop: Loop): void {
  loop.nextDue = { event: Infinity, arrival: Infinity };
  for (const run of loop.unit.runs.values()) lowerNextDue(loop, run);
  for (const { domain, time } of loop.unit.due.rest) {
    loop.nextDue[domain] = Math.min(loop.nextDue[domain], time);
  }
}

function lowerNextDue({ session, nextDue }: Loop, run: KeyRun): void {
  const seen = keyWatermarks({ session, watermarks: noWatermarks }, run);
  for (const timer of run.timers) {
    // What the key has seen in the shards before makes a timer due wherever the channel stands.
    const time = isDue(timer, seen) ? -Infinity : timer.time;
    if (time < nextDue[timer.domain]) nextDue[timer.domain] = time;
  }
}

function isOutOfTime(loop: Loop): boolean {
  const { clockCheckSteps, deadlineReserveMs } = loop.runtime.settings;
  loop.steps += 1;
  return loop.steps % clockCheckSteps === 0 && !hasTimeFor(loop.deadline, deadlineReserveMs);
}

/** Ends the unit behind some of its records. */
function shortenUnit(unit: Unit, records: number): void {
  const dropped = unit.records.slice(records);
  unit.records = unit.records.slice(0, records);
  for (const record of dropped) if (!record.isHeartbeat) unit.runs.get(record.key)!.records.pop();
}

function compareRuns(a: KeyRun, b: KeyRun): number {
  return compareTexts(a.place.hash, b.place.hash) || compareTexts(a.place.key, b.place.key);
}
