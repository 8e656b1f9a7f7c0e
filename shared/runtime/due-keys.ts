import { compareTexts } from '../core/position.ts';
import { hasFiredKey, type TimeDomain } from '../core/timer.ts';
import { earlierTime, laterTime, watermarksOfKey, type Watermarks } from '../core/watermark.ts';
import { hintPartitionsOf, type Hint } from '../ports/hint-store.ts';
import type { ChannelSession } from './channel-session.ts';
import type { InputRecord } from './decode-records.ts';
import type { OperatorRuntime } from './operator-runtime.ts';
import { stateScope } from './state-scope.ts';

/*
 * Finding the keys whose timers become due in a unit, without looking at all keys: by the hints (P12). A unit in which no
 * watermark reaches `progress.earliest` asks for nothing.
 */

export interface DueKeys {
  /** Hints whose keys the unit loads, in the order of hashes. */
  readonly hints: readonly Hint[];
  /** Hints that are due behind the unit's last record as well, but not loaded: too many at once. */
  readonly rest: readonly Hint[];
  /** The first hint that is not due in this unit, for each domain that was asked for. */
  readonly next: Readonly<Record<TimeDomain, number | undefined>>;
  readonly wasAsked: Readonly<Record<TimeDomain, boolean>>;
}

/** Whose timers become due in a unit, and how many of its records it can hold because of them. */
export interface DueUnit {
  readonly due: DueKeys;
  readonly records: readonly InputRecord[];
}

const domains: readonly TimeDomain[] = ['event', 'arrival'];

/**
 * The hints that become due while these records are run, or, without records, that are due behind the last committed one.
 * Where they are more keys than a unit can load, the unit ends behind the first record that makes any of them due.
 */
export async function findDueKeys(
  runtime: OperatorRuntime,
  session: ChannelSession,
  records: readonly InputRecord[],
): Promise<DueUnit> {
  const { progress } = session;
  const found = await askForHints(
    runtime,
    session,
    reachedWatermarks(progress.watermarks, records),
  );
  const { unitFiringKeysMax } = runtime.settings;
  const { firing } = progress;
  // Behind a record whose timers have fired in part, those of the keys before the cursor have.
  const open =
    typeof firing === 'object'
      ? found.hints.filter((hint) => !hasFiredKey(hint, firing))
      : found.hints;
  const end = endOfKeys(open, unitFiringKeysMax);
  if (end === open.length || records.length === 0) {
    const due = { ...found, hints: open.slice(0, end), rest: open.slice(end) };
    return { due, records };
  }
  const first = firstMakingDue(progress.watermarks, records, open);
  const watermarks = reachedWatermarks(progress.watermarks, first);
  const isDueThere = (hint: Hint): boolean => isHintDue(session, watermarks, hint);
  const there = open.filter(isDueThere);
  const next = { ...found.next };
  for (const hint of open) {
    if (!isDueThere(hint)) next[hint.domain] = earlierTime(next[hint.domain], hint.time);
  }
  const endThere = endOfKeys(there, unitFiringKeysMax);
  const due = { ...found, next, hints: there.slice(0, endThere), rest: there.slice(endThere) };
  return { due, records: first };
}

async function askForHints(
  runtime: OperatorRuntime,
  session: ChannelSession,
  reached: Watermarks,
): Promise<Pick<DueKeys, 'hints' | 'next' | 'wasAsked'>> {
  const { progress, shard } = session;
  const wasAsked = { event: false, arrival: false };
  const next: Record<TimeDomain, number | undefined> = { event: undefined, arrival: undefined };
  const hints: Hint[] = [];
  for (const domain of domains) {
    // What is due only by what its key has seen in another shard was due when it was registered, and needs no hint.
    const upTo = reached[domain];
    const earliest = progress.earliest[domain];
    if (upTo === undefined || earliest === undefined || earliest > upTo) continue;
    wasAsked[domain] = true;
    const scope = stateScope(runtime, session);
    const answers = await Promise.all(
      hintPartitionsOf(shard.range).map((partition) =>
        runtime.hints.findDue(scope, partition, domain, upTo, shard.range),
      ),
    );
    for (const { due, nextTime } of answers) {
      next[domain] = earlierTime(next[domain], nextTime);
      hints.push(...due);
    }
  }
  return { hints: hints.sort(compareHints), next, wasAsked };
}

/** The records up to the first one that makes a hint due. */
function firstMakingDue(
  before: Watermarks,
  records: readonly InputRecord[],
  hints: readonly Hint[],
): readonly InputRecord[] {
  const earliest: Record<TimeDomain, number> = { event: Infinity, arrival: Infinity };
  for (const { domain, time } of hints) earliest[domain] = Math.min(earliest[domain], time);
  let { event, arrival } = before;
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index]!;
    event = laterTime(event, record.eventWatermark);
    arrival = laterTime(arrival, record.arrivalMs);
    const isDue =
      (event ?? -Infinity) >= earliest.event || (arrival ?? -Infinity) >= earliest.arrival;
    if (isDue && record.isEndOfRecord) return records.slice(0, index + 1);
  }
  return records;
}

/**
 * What a channel may say of its timers once a unit has ended. Who was looked for is touched, whether or not the unit came to
 * its time; those who were too many are not, and a unit without much time ends before the record behind which they are due.
 */
export function earliestAfter(
  session: ChannelSession,
  due: DueKeys,
  isFiring: boolean,
  touched: Readonly<Record<TimeDomain, number | undefined>>,
): Record<TimeDomain, number | undefined> {
  const earliest: Record<TimeDomain, number | undefined> = { event: undefined, arrival: undefined };
  for (const domain of domains) {
    const isSettled = due.wasAsked[domain] && !isFiring;
    const known = isSettled ? due.next[domain] : session.progress.earliest[domain];
    earliest[domain] = earlierTime(known, touched[domain]);
  }
  for (const { domain, time } of due.rest) earliest[domain] = earlierTime(earliest[domain], time);
  return earliest;
}

/** True where the key of a hint has come to its time. */
export function isHintDue(session: ChannelSession, watermarks: Watermarks, hint: Hint): boolean {
  const { floors } = session.progress;
  return hint.time <= (watermarksOfKey(watermarks, floors, hint.keyHash)[hint.domain] ?? -Infinity);
}

function reachedWatermarks(before: Watermarks, records: readonly InputRecord[]): Watermarks {
  let { event, arrival } = before;
  for (const record of records) {
    event = laterTime(event, record.eventWatermark);
    arrival = laterTime(arrival, record.arrivalMs);
  }
  return { event, arrival };
}

function compareHints(a: Hint, b: Hint): number {
  return compareTexts(a.keyHash, b.keyHash) || compareTexts(a.key, b.key) || a.time - b.time;
}

/** How many hints the first `keysMax` keys have. */
function endOfKeys(hints: readonly Hint[], keysMax: number): number {
  let keys = 0;
  for (let at = 0; at < hints.length; at += 1) {
    if (at === 0 || hints[at]!.key !== hints[at - 1]!.key) keys += 1;
    if (keys > keysMax) return at;
  }
  return hints.length;
}
