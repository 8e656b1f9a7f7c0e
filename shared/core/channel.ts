import { hashKey, type HashRange } from './key-group.ts';

/**
 * A stream as it exists between its creation and its deletion. Another stream under the same name is another
 * incarnation: its positions mean nothing here.
 */
export interface StreamIncarnation {
  readonly name: string;
  readonly createdAtMs: number;
}

/** One shard of a stream, as `ListShards` tells of it. */
export interface Shard {
  readonly shardId: string;
  readonly range: HashRange;
  /** The shard or the two shards that this one was split or merged from, also where they have left the stream. */
  readonly parentIds: readonly string[];
}

/** One shard of one stream incarnation as one operator reads it. */
export interface Channel {
  readonly operator: string;
  readonly stream: StreamIncarnation;
  readonly shardId: string;
}

/** Names the incarnation: the origin in the ids of outputs. */
export function originOf(stream: StreamIncarnation): string {
  return `${stream.name}@${stream.createdAtMs}`;
}

/** The channel's name in tables and object names. */
export function channelId(channel: Channel): string {
  return `${channel.operator}/${originOf(channel.stream)}/${channel.shardId}`;
}

export interface KeyIdentity {
  readonly key: string;
  readonly hash: string;
}

/**
 * The key that takes the verdicts on records whose partition key's hash is outside the shard's range (they came with an
 * explicit hash key). Their own key's item belongs to another channel, whose positions do not compare with ours (P10).
 * It is longer than any Kinesis partition key, so that it can be nobody's, and lies at the start of the channel's range.
 */
export function foreignKeyOf(shardId: string, range: HashRange): KeyIdentity {
  return {
    key: `foreign-records/${shardId}/`.padEnd(partitionKeyCharactersMax + 1, '-'),
    hash: range.from,
  };
}

/** True for a key that {@link foreignKeyOf} made. */
export function isForeignKey(key: string): boolean {
  return countCharacters(key) > partitionKeyCharactersMax;
}

/** Kinesis counts Unicode characters, not UTF-16 units; it takes 1 to 256 of them. */
export function isPartitionKey(key: string): boolean {
  return key !== '' && countCharacters(key) <= partitionKeyCharactersMax;
}

function countCharacters(text: string): number {
  // Every character has at least one unit: only long texts are looked through.
  return text.length <= partitionKeyCharactersMax ? text.length : Array.from(text).length;
}

export function identifyKey(key: string): KeyIdentity {
  return { key, hash: hashKey(key) };
}

/** Longest Kinesis partition key, in Unicode characters. */
export const partitionKeyCharactersMax = 256;
