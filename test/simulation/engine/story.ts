import type { MemoryShard, MemoryStream } from '../../../shared/adapters/memory/memory-stream.ts';
import { hashKey } from '../../../shared/core/key-group.ts';
import type { Position } from '../../../shared/core/position.ts';
import { againTime, outOfOrdernessMs, type Message, type Part } from './ledger.ts';

/*
 * What a straight run gives: the rules of the ledger, of watermarks and of timers, written down a second time with none of
 * Holdfast's code for them.
 */

/** What a key looks like after one of its callbacks. */
export interface Chapter {
  readonly shardId: string;
  readonly position: Position;
  readonly history: string | undefined;
  readonly balance: string | undefined;
  /** Rows that this callback appends. */
  readonly journal: readonly string[];
  readonly isDeadLetter: boolean;
}

export type Story = ReadonlyMap<string, readonly Chapter[]>;

interface PlainTimer {
  readonly name: string;
  readonly time: number;
  readonly domain: 'event' | 'arrival';
}

interface PlainKey {
  readonly hash: string;
  history: string | undefined;
  balance: string | undefined;
  timers: PlainTimer[];
  /** What the shards before this one had seen. */
  seen: Clock;
  readonly chapters: Chapter[];
}

interface Clock {
  event: number;
  arrival: number;
}

/** Shards in the order of their numbers: parents come before their children. */
export function tellStory(
  stream: MemoryStream,
  entries: ReadonlyMap<string, readonly Part[]>,
): Story {
  const keys = new Map<string, PlainKey>();
  for (const { key } of [...entries.values()].flat()) {
    if (!keys.has(key)) keys.set(key, newKey(key));
  }
  for (const shard of stream.shards()) tellShard(shard, keys, entries);
  return new Map([...keys].map(([key, { chapters }]) => [key, chapters]));
}

function tellShard(
  shard: MemoryShard,
  keys: Map<string, PlainKey>,
  entries: ReadonlyMap<string, readonly Part[]>,
): void {
  const clock: Clock = { event: -Infinity, arrival: -Infinity };
  for (const { sequence, arrivalMs } of shard.records) {
    const parts = entries.get(sequence)!;
    parts.forEach(({ key, message }, sub) => {
      const plain = keys.get(key)!;
      tellMessage(shard.shardId, { sequence, sub }, plain, message, clockOf(clock, plain));
    });
    // The parts of an aggregated record count as one: time goes on behind the last of them.
    for (const { message } of parts) clock.event = Math.max(clock.event, timeOf(message));
    clock.arrival = Math.max(clock.arrival, arrivalMs);
    const behind = { sequence, sub: parts.length - 1 };
    for (const [name, other] of byHash(keys)) {
      if (isIn(shard, other)) {
        tellTimers(shard.shardId, behind, name, other, clockOf(clock, other));
      }
    }
  }
  for (const key of keys.values()) if (isIn(shard, key)) key.seen = clockOf(clock, key);
}

/** What a message says of event time. */
function timeOf(message: Message): number {
  if (message === 'garbage') return -Infinity;
  return message.kind === 'heartbeat' ? message.at : message.at - outOfOrdernessMs;
}

function isIn({ range }: MemoryShard, { hash }: PlainKey): boolean {
  return range.from <= hash && hash <= range.to;
}

function tellMessage(
  shardId: string,
  position: Position,
  key: PlainKey,
  entry: Message,
  clock: Clock,
): void {
  if (entry !== 'garbage' && entry.kind === 'heartbeat') return;
  if (entry === 'garbage' || entry.kind === 'throw') {
    addChapter(shardId, position, key, [], true);
    return;
  }
  const history = `${key.history ?? ''}/${entry.id}~${spell(clock.event)}`;
  if (entry.timer !== undefined) registerTimer(key, entry.timer);
  if (entry.cancel !== undefined) {
    key.timers = key.timers.filter((t) => t.name !== entry.cancel || t.domain !== 'event');
  }
  const isDeleted = entry.kind === 'delete';
  key.history = isDeleted ? undefined : history;
  key.balance = isDeleted ? undefined : history;
  addChapter(shardId, position, key, isDeleted ? [history, `${history}.closed`] : [history], false);
}

function tellTimers(
  shardId: string,
  behind: Position,
  name: string,
  key: PlainKey,
  clock: Clock,
): void {
  for (;;) {
    const due = key.timers.filter((t) => t.time <= clock[t.domain]).sort(compareTimers);
    const timer = due[0];
    if (timer === undefined) return;
    key.timers = key.timers.filter((other) => other !== timer);
    const stepName = `${timer.domain === 'event' ? 'e' : 'a'}:${timer.name}`;
    const step = { keyHash: key.hash, key: name, time: timer.time, name: stepName };
    const position = { ...behind, step };
    if (timer.name === 'bad') {
      addChapter(shardId, position, key, [], true);
      continue;
    }
    const fired = `!${timer.name}@${timer.time}~${spell(clock.event)}~${clock.arrival % 1000}`;
    const history = `${key.history ?? ''}${fired}`;
    key.history = history;
    key.balance = history;
    const again = timer.name === 'again' ? againTime(timer.time) : undefined;
    // Firing goes forward.
    if (again !== undefined)
      registerTimer(key, { ...timer, time: Math.max(again, timer.time + 1) });
    addChapter(shardId, position, key, [history], false);
  }
}

function registerTimer(key: PlainKey, timer: PlainTimer): void {
  const others = key.timers.filter((t) => t.name !== timer.name || t.domain !== timer.domain);
  key.timers = [...others, timer];
}

function addChapter(
  shardId: string,
  position: Position,
  key: PlainKey,
  journal: readonly string[],
  isDeadLetter: boolean,
): void {
  const { history, balance } = key;
  key.chapters.push({ shardId, position, history, balance, journal, isDeadLetter });
}

function newKey(name: string): PlainKey {
  return {
    hash: hashKey(name),
    history: undefined,
    balance: undefined,
    timers: [],
    seen: { event: -Infinity, arrival: -Infinity },
    chapters: [],
  };
}

function clockOf(channel: Clock, { seen }: PlainKey): Clock {
  return {
    event: Math.max(channel.event, seen.event),
    arrival: Math.max(channel.arrival, seen.arrival),
  };
}

function compareTimers(a: PlainTimer, b: PlainTimer): number {
  if (a.time !== b.time) return a.time - b.time;
  // Arrival timers before event timers, then by name.
  const left = `${a.domain} ${a.name}`;
  const right = `${b.domain} ${b.name}`;
  return left < right ? -1 : 1;
}

function byHash(keys: ReadonlyMap<string, PlainKey>): [string, PlainKey][] {
  return [...keys].sort(([, a], [, b]) => (a.hash < b.hash ? -1 : 1));
}

function spell(watermark: number): string {
  return watermark === -Infinity ? 'none' : String(watermark);
}
