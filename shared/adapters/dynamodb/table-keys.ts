import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { channelId, type Channel } from '../../core/channel.ts';
import { HoldfastError } from '../../core/errors.ts';
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

/** All but the key group of the partition keys of a scope's items. */
export function statePartitionPrefix({ job, generation, operator }: StateScope): string {
  return `${named(job)}#${generation}#${named(operator)}#`;
}

/** Reads the key group from the partition key of a state item. */
export function keyGroupOfPartition(partitionKey: string): number {
  return Number(partitionKey.slice(partitionKey.lastIndexOf('#') + 1));
}

export function jobKey(job: string): TableKey {
  return tableKey(`job#${named(job)}`, 'job');
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

function named(name: string): string {
  if (/^[a-z0-9-]+$/.test(name)) return name;
  throw new HoldfastError(
    'invalid',
    `name ${JSON.stringify(name)}: expected a to z, 0 to 9 and "-", as it becomes a part of table keys; rename it`,
  );
}
