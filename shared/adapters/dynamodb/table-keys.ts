import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { channelId, type Channel } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
import { formatSortableTime, parseSortableTime, type FiringStep } from '../../core/position.ts';
import type { TimeDomain } from '../../core/timer.ts';
import { hintPartitionOf, type Hint } from '../../ports/hint-store.ts';
import type { StateScope } from '../../ports/state-store.ts';

/*
 * The only file that spells the keys of the tables. Every table has the text keys `pk` and `sk`.
 *
 * `#` parts the components of a partition key; none of them can hold one: names of jobs and operators are made of
 * a-z, 0-9 and `-`, those of streams of letters, digits, `_`, `.` and `-`. Users' keys stand alone, as sort keys of the
 * state and as partition keys of sinks.
 */

export type Item = Record<string, AttributeValue>;

/** The key of one item, as DynamoDB takes it. */
export interface TableKey extends Item {
  pk: AttributeValue.SMember;
  sk: AttributeValue.SMember;
}

/** Two sort keys; a query takes what lies between them, both included. */
export type SortRange = readonly [from: string, to: string];

/** A sort key has 1,024 bytes: 51 for a hint's time and hash, and up to four for a character of its key. */
const hintedCharactersMax = 243;

/** All but the key group of the partition keys of a scope's items. */
export function statePartitionPrefix({ job, generation, operator }: StateScope): string {
  return `${named(job)}#${generation}#${named(operator)}#`;
}

/** Reads the key group from the partition key of a state item. */
export function keyGroupOfPartition(partitionKey: string): number {
  return Number(partitionKey.slice(partitionKey.lastIndexOf('#') + 1));
}

/** Hints lie in the state table. One component more keeps their partitions apart from those of the state. */
export function hintPartition(scope: StateScope, partition: number): string {
  return `hints#${statePartitionPrefix(scope)}${partition}`;
}

/**
 * The key of a hint: `<e|a><time>#<hash>#<start of its key>`. The hash alone would not tell keys apart: who wants to can
 * find two with one MD5.
 */
export function hintKey(scope: StateScope, { domain, time, key, keyHash }: Hint): TableKey {
  const sort = `${hintDomain(domain)}${formatSortableTime(time)}#${keyHash}#${startOfHintedKey(key)}`;
  return tableKey(hintPartition(scope, hintPartitionOf(keyHash)), sort);
}

/** The part of a key that a hint's sort key has room for. */
export function startOfHintedKey(key: string): string {
  if (key.length <= hintedCharactersMax) return key;
  return Array.from(key).slice(0, hintedCharactersMax).join('');
}

/** Reads what {@link hintKey} wrote as a sort key; `key` is the start of the hint's. Undefined for any other text. */
export function parseHintSort(sort: string): Hint | undefined {
  const [, domain, time, keyHash, key] = /^([ea])(\d{16})#([0-9a-f]{32})#(.*)$/s.exec(sort) ?? [];
  if (time === undefined || keyHash === undefined || key === undefined) return undefined;
  return {
    domain: domain === 'e' ? 'event' : 'arrival',
    time: parseSortableTime(time),
    key,
    keyHash,
  };
}

/** The sort keys of a domain's hints, which are in order of time. */
export function hintSorts(domain: TimeDomain): SortRange {
  return [hintDomain(domain), `${hintDomain(domain)}~`];
}

export function jobKey(job: string): TableKey {
  return tableKey(`job#${named(job)}`, 'job');
}

/** Beside the job's own item. */
export function registryKey(job: string): TableKey {
  return tableKey(`job#${named(job)}`, 'registry');
}

/** Each channel has a partition of its own: a thousand shards that commit every second must not meet in one. */
export function progressKey(job: string, generation: number, channel: Channel): TableKey {
  return tableKey(channelPartition(job, generation, channel), 'progress');
}

export function suspicionKey(job: string, generation: number, channel: Channel): TableKey {
  return tableKey(channelPartition(job, generation, channel), 'suspicion');
}

/** The partition that lists the channels of a generation. */
export function channelListPartition(job: string, generation: number): string {
  return `channels#${named(job)}#${generation}`;
}

export function channelListKey(job: string, generation: number, channel: Channel): TableKey {
  return tableKey(channelListPartition(job, generation), channelId(channel));
}

/** The sort key of an append row, under its operator key. */
export function appendRowSort(origin: string, order: string): string {
  return `${origin}#${order}`;
}

/** The partition of a channel's dead letters. */
export function deadLetterPartition(operator: string, channel: string): string {
  return `${named(operator)}#${channel}`;
}

/** The sort key of a dead letter. Behind one record the timers of many keys fire, of one name and time. */
export function deadLetterSort(order: string, step: FiringStep | undefined): string {
  return step === undefined ? order : `${order}#${step.keyHash}`;
}

/** Items with which an endpoint is asked what it can do; no name begins with `!`. */
export function probeKey(sort: string): TableKey {
  return tableKey('!probe', sort);
}

export function tableKey(pk: string, sk: string): TableKey {
  return { pk: { S: pk }, sk: { S: sk } };
}

function channelPartition(job: string, generation: number, channel: Channel): string {
  return `progress#${named(job)}#${generation}#${channelId(channel)}`;
}

function hintDomain(domain: TimeDomain): string {
  return domain === 'event' ? 'e' : 'a';
}

function named(name: string): string {
  if (/^[a-z0-9-]+$/.test(name)) return name;
  throw new HoldfastError(
    'invalid',
    `name ${JSON.stringify(name)}: expected a to z, 0 to 9 and "-", as it becomes a part of table keys; rename it`,
  );
}
