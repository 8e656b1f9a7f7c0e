import { HoldfastError, isHoldfastError } from '../core/errors.ts';
import {
  comparePositions,
  isPast,
  laterPosition,
  recordOf,
  type Position,
} from '../core/position.ts';
import type { TimeDomain } from '../core/timer.ts';
import { dropPassedFloors, earlierTime } from '../core/watermark.ts';
import { crc32c } from '../core/crc32c.ts';
import type { Progress, SegmentReference } from '../core/progress.ts';
import {
  chainReferencesMax,
  encodeSegment,
  type AheadKey,
  type SegmentHeader,
} from '../core/segment.ts';
import type { StoredItem } from '../core/stored-item.ts';
import { buildItem } from './build-item.ts';
import { nextFence, type ChannelSession } from './channel-session.ts';
import type { Deadline } from './deadline.ts';
import type { InputRecord } from './decode-records.ts';
import { rememberItem, trimMemory } from './environment-memory.ts';
import { earliestAfter } from './due-keys.ts';
import { expireTombstones } from './expire-tombstones.ts';
import { flushOutputs } from './flush-outputs.ts';
import { insertHints, removeFiredHints } from './timer-hints.ts';
import { segmentName } from './object-names.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import type { KeyRun } from './run-key.ts';
import { earliestTimers } from './run-key.ts';
import { findFirstTimer, isLeftOverdue, rerunKey, runUnit, type UnitFailure } from './run-unit.ts';
import { stateScope } from './state-scope.ts';
import { gatherUnit, loadUnit, reloadRuns, type Unit, type UnitLimits } from './unit.ts';

/**
 * - `committed`: progress stands at the end of `records`, which may be fewer than were given.
 * - `superseded`: somebody else committed; everything starts over from `progress`.
 * - `failed`: a record cannot be applied; nothing of the unit counts, though keys may be ahead.
 */
export type UnitOutcome =
  | { readonly kind: 'committed'; readonly records: number }
  | { readonly kind: 'superseded'; readonly progress: Progress }
  | { readonly kind: 'failed'; readonly failure: UnitFailure };

export interface UnitOptions {
  readonly deadline: Deadline;
  readonly limits: UnitLimits;
  /** Called with the first timer of a unit without records, before it fires; a text is the verdict on it. */
  readonly beforeFirstTimer?: (position: Position) => Promise<string | undefined>;
  /** Called once the operator has run all records, before anything is written. */
  readonly afterRun?: () => Promise<void>;
}

/** How many times keys of one unit may lose against another writer before the unit is given up. */
const conflictRoundsMax = 20;

/** How many times progress is written again where no reply came and nothing has moved. */
const commitTriesMax = 5;

/**
 * Runs and commits one unit. This is the only place that knows the order of writes (P1), each acknowledged before the
 * next begins:
 *
 *   spilled emissions → states → { outputs of the winning items ∥ segment of the winning items ∥ hints of their timers }
 *   → progress → removal of fired hints
 *
 * Dying between any two of them is harmless: items carry the position that they have reached, so that the next attempt,
 * however it cuts the records, skips what is in and publishes what the winning items say.
 */
export async function commitUnit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  records: readonly InputRecord[],
  options: UnitOptions,
): Promise<UnitOutcome> {
  const unit = await gatherUnit(runtime, session, records, options.limits);
  await loadUnit(runtime, session, unit);
  await judgeFirstTimer(session, unit, options);
  const failure = runUnit(runtime, session, unit, options.deadline);
  if (failure !== undefined) return { kind: 'failed', failure };
  await options.afterRun?.();

  const attempt = runtime.system.randomId();
  const refused = await writeStates(runtime, session, unit, attempt);
  if (refused !== undefined) return { kind: 'failed', failure: refused };

  const { end } = unit;
  const ahead = findAhead(session, unit, end.position!);
  const [head] = await Promise.all([
    writeSegment(runtime, session, unit, { to: end.position!, ahead, attempt }),
    flushOutputs(runtime, session, unit.runs.values(), end.position!),
    insertHints(runtime, session, unit),
  ]);

  const next = nextProgress(runtime, session, unit, { attempt, head, ahead });
  const other = await commitProgress(runtime, session, next);
  if (other !== undefined) return { kind: 'superseded', progress: other };

  rememberUnit(runtime, session, unit, next, ahead);
  await removeFiredHints(runtime, session, unit);
  await expireTombstones(runtime, session, unit.runs.values(), end.position!);
  return { kind: 'committed', records: unit.records.length };
}

async function judgeFirstTimer(
  session: ChannelSession,
  unit: Unit,
  { beforeFirstTimer }: UnitOptions,
): Promise<void> {
  if (beforeFirstTimer === undefined) return;
  const first = findFirstTimer(session, unit);
  if (first?.step === undefined) return;
  const reason = await beforeFirstTimer(first);
  if (reason !== undefined) unit.limits = { ...unit.limits, verdict: { step: first.step, reason } };
}

function nextProgress(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
  made: {
    readonly attempt: string;
    readonly head: SegmentReference;
    readonly ahead: readonly AheadKey[];
  },
): Progress {
  const { position, watermarks, firing } = unit.end;
  const aheadMax = made.ahead
    .filter((a) => isPast(a.position, position))
    .reduce<Position | undefined>((max, a) => laterPosition(max, a.position), undefined);
  const touched: Record<TimeDomain, number | undefined> = { event: undefined, arrival: undefined };
  for (const run of unit.runs.values()) {
    const earliest = earliestTimers(run);
    touched.event = earlierTime(touched.event, earliest.event);
    touched.arrival = earlierTime(touched.arrival, earliest.arrival);
  }
  const arrivalMs = unit.records.at(-1)?.arrivalMs ?? 0;
  return {
    ...session.progress,
    version: session.progress.version + 1,
    position,
    attempt: made.attempt,
    head: made.head,
    aheadMax,
    watermarks,
    floors: dropPassedFloors(watermarks, session.progress.floors),
    timeRules: runtime.operator.timeRules,
    firing,
    earliest: earliestAfter(session, unit.due, firing !== undefined, touched),
    committedAtMs: runtime.system.now(),
    checkedAtMs: Math.max(session.progress.checkedAtMs, arrivalMs),
    fence: nextFence(session),
  };
}

/**
 * Writes progress by compare-and-swap (P7). Returns undefined for success, else what somebody else wrote. A lost reply is
 * told from a lost race by the attempt's id.
 */
export async function commitProgress(
  runtime: OperatorRuntime,
  session: ChannelSession,
  next: Progress,
): Promise<Progress | undefined> {
  const { channel, progress } = session;
  for (let tries = 0; tries < commitTriesMax; tries += 1) {
    try {
      const outcome = await runtime.control.commitProgress(
        runtime.job,
        channel,
        next,
        progress.position,
      );
      if (outcome === 'committed') return undefined;
    } catch (error) {
      if (!isHoldfastError(error, 'unavailable')) throw error;
    }
    const current = await runtime.control.readProgress(runtime.job, progress.generation, channel);
    if (current === undefined) {
      throw new HoldfastError(
        'fenced',
        `channel ${session.id} has no progress any more in generation ${progress.generation}; its tables were replaced, restore the job`,
      );
    }
    if (current.attempt === next.attempt) return undefined;
    if (current.version !== progress.version) {
      session.counters.progressConflicts += 1;
      return current;
    }
  }
  throw new HoldfastError(
    'unavailable',
    `progress of channel ${session.id} could not be written in ${commitTriesMax} tries; the records are handed back`,
  );
}

/** P5: writes the items of all keys that ran. Keys that lose are reloaded and run again, until all have won. */
async function writeStates(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
  attempt: string,
): Promise<UnitFailure | undefined> {
  const scope = stateScope(runtime, session);
  let pending = [...unit.runs.values()].filter((run) => run.isDirty);
  for (let round = 0; round < conflictRoundsMax; round += 1) {
    if (pending.length === 0) return undefined;
    const items: StoredItem[] = [];
    for (const run of pending) {
      const built = buildItem(runtime, session, run, attempt);
      if (built.kind === 'refused') return refusalOf(session, unit, run, built.reason);
      if (built.spill !== undefined)
        await runtime.objects.create(built.spill.name, built.spill.bytes);
      items.push(built.item);
    }
    const outcomes = await runtime.state.write(
      scope,
      pending.map((run, at) => ({ item: items[at]!, expectedVersion: run.stored?.version })),
    );
    const losers: KeyRun[] = [];
    pending.forEach((run, at) => {
      if (outcomes[at] === 'written') {
        run.stored = items[at]!;
        run.isDirty = false;
        session.counters.keysWritten += 1;
      } else {
        losers.push(run);
      }
    });
    if (losers.length === 0) return undefined;
    await reloadRuns(runtime, session, losers, unit);
    for (const run of losers) {
      const failure = rerunKey(runtime, session, unit, run);
      if (failure !== undefined) return failure;
    }
    pending = losers.filter((run) => run.isDirty);
  }
  throw new HoldfastError(
    'conflict',
    `channel ${session.id}: ${pending.length} keys were changed by somebody else ${conflictRoundsMax} times in a row; the records are handed back`,
  );
}

/** P16: one object for each attempt, written once every key of the unit has won. */
async function writeSegment(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
  { to, ahead, attempt }: Pick<SegmentHeader, 'to' | 'ahead' | 'attempt'>,
): Promise<SegmentReference> {
  const { generation, head } = session.progress;
  const number = (head?.number ?? 0) + 1;
  const items = [...unit.runs.values()].flatMap(itemWithPendingEmissions);
  const bytes = encodeSegment({
    header: {
      channel: session.id,
      generation,
      number,
      attempt,
      from: unit.from,
      to,
      chain: session.memory.chain,
      ahead,
      watermarks: unit.end.watermarks,
      entries: items.length,
    },
    items,
  });
  const name = segmentName(runtime.job, generation, session.id, { number, attempt });
  // The name holds a fresh random id: where it exists already, it is this very write with its reply lost.
  await runtime.objects.create(name, bytes);
  session.counters.segmentBytes += bytes.length;
  return { number, attempt, bytes: bytes.length, crc: crc32c(bytes) };
}

/** P3: a touched key's item goes into the segment with its emissions past progress, and without older ones. */
function itemWithPendingEmissions(run: KeyRun): StoredItem[] {
  const { stored } = run;
  if (stored === undefined) return [];
  if (run.emissions.length > 0) return [stored];
  if (stored.emissions === undefined && stored.spills.length === 0) return [stored];
  return [{ ...stored, emissions: undefined, spills: [] }];
}

/**
 * P4: the keys that the next unit touches whatever it holds: those whose position lies past the unit's end, and, where it
 * ends inside a firing, those that only the record itself has made due.
 */
function findAhead(session: ChannelSession, unit: Unit, end: Position): AheadKey[] {
  const ahead: AheadKey[] = [];
  for (const run of unit.runs.values()) {
    const { place, stored } = run;
    if (stored === undefined) continue;
    if (isPast(stored.position, end) || isLeftOverdue(session, unit, run)) {
      ahead.push({ key: place.key, position: stored.position });
    }
  }
  return ahead;
}

/** P8: only what progress has committed enters the warm cache. */
function rememberUnit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
  next: Progress,
  ahead: readonly AheadKey[],
): void {
  const { memory } = session;
  session.progress = next;
  session.isWarm = true;
  session.counters.units += 1;
  session.counters.records += unit.records.length;
  memory.lastCommit = next;
  memory.lastSeenMs = runtime.system.now();
  memory.ahead = ahead;
  memory.chain = [next.head!, ...memory.chain].slice(0, chainReferencesMax);
  for (const run of unit.runs.values()) {
    if (run.stored === undefined) continue;
    const emissions =
      run.emissions.length === 0
        ? run.emissions
        : run.emissions.filter((e) => isPast(e.position, next.position));
    const { stored, live } = run;
    rememberItem(memory, { item: stored, live, emissions, hinted: earliestTimers(run) });
  }
  trimMemory(runtime.memory, memory, runtime.settings.cacheBytesMax);
}

/** A key whose item cannot be written: what it applied last is what made it so. */
function refusalOf(session: ChannelSession, unit: Unit, run: KeyRun, reason: string): UnitFailure {
  const position = run.position!;
  const behind = recordOf(position);
  const record = unit.records.find((r) => comparePositions(r.position, behind) === 0);
  const isFirst =
    position.step === undefined
      ? unit.records.length === 1 && session.progress.firing === undefined
      : unit.limits.firingsMax === 1 && session.progress.firing !== undefined;
  return { position, record, reason, isFirst };
}
