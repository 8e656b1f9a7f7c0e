import type { Emission } from '../core/emission.ts';
import { unpackEmissions } from '../core/emission.ts';
import { HoldfastError, describeThrown } from '../core/errors.ts';
import { crc32c } from '../core/platform.ts';
import { isPast, type Position } from '../core/position.ts';
import type { StoredItem } from '../core/stored-item.ts';
import type { StateScope } from '../ports/state-store.ts';
import type { ChannelSession } from './channel-session.ts';
import { hasTimeFor, type Deadline } from './deadline.ts';
import { placeOfStoredKey, type InputRecord } from './decode-records.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import { applyRecord, createKeyRun, startFromItem, startFromWarm, type KeyRun } from './run-key.ts';

/** A unit under way: the records that will commit together and the keys that they touch. */
export interface Unit {
  records: readonly InputRecord[];
  readonly runs: ReadonlyMap<string, KeyRun>;
  /** The progress that the unit began at. */
  readonly from: Position | undefined;
}

/** A record that cannot be applied, and why. */
export interface RecordFailure {
  readonly record: InputRecord;
  readonly reason: string;
}

/** How many records run between two looks at the clock. */
const clockCheckRecords = 32;

/** P3, P4: the keys that a unit touches: those of its records, and every key that is ahead. */
export function gatherUnit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  records: readonly InputRecord[],
): Unit {
  const runs = new Map<string, KeyRun>();
  for (const record of records) {
    let run = runs.get(record.key);
    if (run === undefined) {
      run = createKeyRun(record.place);
      runs.set(record.key, run);
    }
    run.records.push(record);
  }
  const decoder = { runtime, shard: session.shard, channel: session.memory };
  for (const { key } of session.memory.ahead) {
    if (!runs.has(key)) runs.set(key, createKeyRun(placeOfStoredKey(decoder, key)));
  }
  return { records, runs, from: session.progress.position };
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
  if (missing.length > 0) await reloadRuns(runtime, session, missing, unit.from);
}

/** Reads the items of some keys again and starts their runs from them. */
export async function reloadRuns(
  runtime: OperatorRuntime,
  session: ChannelSession,
  runs: readonly KeyRun[],
  from: Position | undefined,
): Promise<void> {
  const items = await runtime.state.load(
    stateScope(runtime, session),
    runs.map((run) => run.place),
  );
  session.counters.keysLoaded += runs.length;
  for (const run of runs) {
    const item = items.get(run.place.key);
    const emissions = item === undefined ? [] : await readEmissions(runtime, item, from);
    startFromItem(runtime, run, item, emissions, from);
  }
}

/**
 * Runs the records of a unit in order. With too little time left it ends the unit early, at the end of a Kinesis record.
 */
export function runUnit(
  runtime: OperatorRuntime,
  session: ChannelSession,
  unit: Unit,
  deadline: Deadline,
): RecordFailure | undefined {
  const { records, runs } = unit;
  const reserveMs = runtime.settings.deadlineReserveMs;
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index]!;
    const failure = tryRecord(runtime, session, runs.get(record.key)!, record);
    if (failure !== undefined) return failure;
    const mayStop = index % clockCheckRecords === clockCheckRecords - 1;
    if (mayStop && !hasTimeFor(deadline, reserveMs) && shortenUnit(unit, index)) return undefined;
  }
  return undefined;
}

/** Runs a key's records again, after its item was reloaded. */
export function rerunKey(
  runtime: OperatorRuntime,
  session: ChannelSession,
  run: KeyRun,
): RecordFailure | undefined {
  session.counters.keysReran += 1;
  for (const record of run.records) {
    const failure = tryRecord(runtime, session, run, record);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

export function stateScope(runtime: OperatorRuntime, session: ChannelSession): StateScope {
  return {
    job: runtime.job,
    generation: session.progress.generation,
    operator: runtime.operator.id,
  };
}

function tryRecord(
  runtime: OperatorRuntime,
  session: ChannelSession,
  run: KeyRun,
  record: InputRecord,
): RecordFailure | undefined {
  try {
    applyRecord(runtime, run, record, session.counters);
    return undefined;
  } catch (thrown) {
    return { record, reason: describeThrown(thrown) };
  }
}

/** Ends the unit after the last whole Kinesis record up to `index`; false where there is none. */
function shortenUnit(unit: Unit, index: number): boolean {
  if (!unit.records[index]!.isEndOfRecord || index === unit.records.length - 1) return false;
  const dropped = unit.records.slice(index + 1);
  unit.records = unit.records.slice(0, index + 1);
  for (const record of dropped) unit.runs.get(record.key)!.records.pop();
  return true;
}

async function readEmissions(
  runtime: OperatorRuntime,
  item: StoredItem,
  from: Position | undefined,
): Promise<readonly Emission[]> {
  const inline = item.emissions === undefined ? [] : unpackEmissions(item.emissions);
  if (item.spills.length === 0) return inline;
  const all: Emission[] = [];
  for (const spill of item.spills) {
    if (!isPast(spill.last, from)) continue;
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
