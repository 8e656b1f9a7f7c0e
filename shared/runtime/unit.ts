import { unpackEmissions, type Emission } from '../core/emission.ts';
import { HoldfastError } from '../core/errors.ts';
import { crc32c } from '../core/crc32c.ts';
import { isPast, type FiringStep, type Position } from '../core/position.ts';
import type { StoredItem } from '../core/stored-item.ts';
import type { Watermarks } from '../core/watermark.ts';
import type { ChannelSession } from './channel-session.ts';
import { placeOfStoredKey, type InputRecord } from './decode-records.ts';
import { findDueKeys, type DueKeys } from './due-keys.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import { createKeyRun, startFromItem, startFromWarm, type KeyRun } from './run-key.ts';
import { stateScope } from './state-scope.ts';

/** A unit under way: the records that will commit together, with the timers that they make due, and the keys touched. */
export interface Unit {
  records: readonly InputRecord[];
  readonly runs: ReadonlyMap<string, KeyRun>;
  /** The progress that the unit began at. */
  readonly from: Position | undefined;
  readonly due: DueKeys;
  limits: UnitLimits;
  /** Where the unit ends: known once it has run. */
  end: UnitEnd;
}

export interface UnitLimits {
  /** Most timers that fire; at least one where the unit begins behind a record whose timers have not all fired. */
  readonly firingsMax: number;
  /** Behind the last record, fire only what comes before this. */
  readonly before?: FiringStep;
  /** A timer that does not fire, and why. */
  readonly verdict?: TimerVerdict;
}

/** It names the timer: another attempt may have come past it in the meantime, and the next one is innocent. */
export interface TimerVerdict {
  readonly step: FiringStep;
  readonly reason: string;
}

export interface UnitEnd {
  readonly position: Position | undefined;
  readonly watermarks: Watermarks;
  readonly firing: FiringStep | 'none' | undefined;
}

/** P3, P4, P12: the keys that a unit touches: those of its records, those that are ahead, and those with timers due. */
export async function gatherUnit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  given: readonly InputRecord[],
  limits: UnitLimits,
): Promise<Unit> {
  const { due, records } = await findDueKeys(runtime, session, given);
  const runs = new Map<string, KeyRun>();
  for (const record of records) {
    if (record.isHeartbeat) continue;
    let run = runs.get(record.key);
    if (run === undefined) {
      run = createKeyRun(record.place);
      runs.set(record.key, run);
    }
    run.records.push(record);
  }
  const decoder = { runtime, shard: session.shard, channel: session.memory };
  for (const { key } of [...session.memory.ahead, ...due.hints]) {
    if (!runs.has(key)) runs.set(key, createKeyRun(placeOfStoredKey(decoder, key)));
  }
  const { position, watermarks, firing } = session.progress;
  const end = { position, watermarks, firing };
  return { records, runs, from: position, due, limits, end };
}

/** Gives every key of the unit its item: from the warm cache, or by consistent reads. */
export async function loadUnit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
): Promise<void> {
  const missing: KeyRun[] = [];
  for (const run of unit.runs.values()) {
    const warm = session.memory.items.get(run.place.key);
    if (warm === undefined) missing.push(run);
    else startFromWarm(run, warm);
  }
  session.counters.cacheHits += unit.runs.size - missing.length;
  if (missing.length > 0) await reloadRuns(runtime, session, missing, unit);
}

/** Reads the items of some keys again and starts their runs from them. */
export async function reloadRuns(
  runtime: OperatorRuntime,
  session: ChannelSession,
  runs: readonly KeyRun[],
  unit: Pick<Unit, 'from' | 'records'>,
): Promise<void> {
  const published = publishedUpTo(unit);
  const items = await runtime.state.load(
    stateScope(runtime, session),
    runs.map((run) => run.place),
  );
  session.counters.keysLoaded += runs.length;
  for (const run of runs) {
    const item = items.get(run.place.key);
    const emissions = item === undefined ? [] : await readEmissions(runtime, item, published);
    startFromItem(runtime, run, item, emissions, published);
  }
}

/**
 * Up to where the outputs of items are published (P2). A channel's first unit takes over items of its parents, which are finished:
 * theirs are published, lie before its first record, and are none of this channel's.
 */
function publishedUpTo({ from, records }: Pick<Unit, 'from' | 'records'>): Position | undefined {
  const first = records[0]?.position;
  return from ?? (first && { sequence: first.sequence, sub: beforeFirstSub });
}

const beforeFirstSub = -1;

async function readEmissions(
  runtime: OperatorRuntime,
  item: StoredItem,
  published: Position | undefined,
): Promise<readonly Emission[]> {
  const inline = item.emissions === undefined ? [] : unpackEmissions(item.emissions);
  if (item.spills.length === 0) return inline;
  const all: Emission[] = [];
  for (const spill of item.spills) {
    if (!isPast(spill.last, published)) continue;
    const bytes = await runtime.objects.read(spill.name);
    if (bytes === undefined || crc32c(bytes) !== spill.crc) {
      throw new HoldfastError(
        'corrupt',
        `key ${JSON.stringify(item.key)} names the emissions object ${spill.name}, which is ${bytes === undefined ? 'not in the bucket' : 'damaged'}; restore from a checkpoint`,
      );
    }
    all.push(...unpackEmissions(bytes));
  }
  return [...all, ...inline];
}
