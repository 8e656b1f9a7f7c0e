import { deaggregate, type SubRecord } from '../core/aggregated-record.ts';
import {
  foreignKeyOf,
  identifyKey,
  isForeignKey,
  isPartitionKey,
  partitionKeyCharactersMax,
  type Shard,
} from '../core/channel.ts';
import { describeThrown } from '../core/errors.ts';
import { isOwnedBy, keyGroupOf } from '../core/key-group.ts';
import type { Position } from '../core/position.ts';
import type { StreamRecord } from '../ports/shard-reader.ts';
import { rememberPlace, type ChannelMemory, type KeyPlace } from './environment-memory.ts';
import type { OperatorRuntime } from './operator-runtime.ts';

/** Why a record cannot be processed, ever. */
export type PoisonReason =
  | 'undecodable'
  | 'bad-partition-key'
  | 'foreign-partition-key'
  | 'foreign-hash-key'
  | 'too-large'
  | 'operator-failed';

export interface Verdict {
  readonly reason: PoisonReason;
  readonly message: string;
}

/** One event, or the verdict on what should have been one. */
export interface InputRecord {
  readonly position: Position;
  /** The key whose item takes the event or the verdict, and where that is. */
  readonly key: string;
  readonly place: KeyPlace;
  readonly partitionKey: string;
  readonly arrivalMs: number;
  readonly data: Uint8Array;
  readonly event: unknown;
  readonly verdict: Verdict | undefined;
  /** Ends a Kinesis record: the only places where a unit may end. */
  readonly isEndOfRecord: boolean;
}

/** Decodes Kinesis records in order: de-aggregation, JSON, schema, ownership. Never throws for what a record holds. */
export function decodeRecords(
  runtime: OperatorRuntime,
  shard: Shard,
  channel: ChannelMemory,
  records: readonly StreamRecord[],
): InputRecord[] {
  const decoder = { runtime, shard, channel };
  const inputs: InputRecord[] = [];
  for (const record of records) {
    const subs = deaggregate(record.data);
    if (subs === undefined) {
      inputs.push(decodeOne(decoder, record, record, { sub: 0, isEndOfRecord: true }));
      continue;
    }
    subs.forEach((part, sub) => {
      const isEndOfRecord = sub === subs.length - 1;
      inputs.push(decodeOne(decoder, record, part, { sub, isEndOfRecord }));
    });
  }
  return inputs;
}

/** The same record with a verdict on it. */
export function condemnRecord(record: InputRecord, verdict: Verdict): InputRecord {
  return { ...record, event: undefined, verdict };
}

interface Decoder {
  readonly runtime: OperatorRuntime;
  readonly shard: Shard;
  readonly channel: ChannelMemory;
}

/** @param part the record itself, or one of those aggregated in it */
function decodeOne(
  decoder: Decoder,
  record: StreamRecord,
  { partitionKey, data }: SubRecord,
  { sub, isEndOfRecord }: { readonly sub: number; readonly isEndOfRecord: boolean },
): InputRecord {
  const position = { sequence: record.sequence, sub };
  const isKey = isPartitionKey(partitionKey);
  let place = isKey ? placeOf(decoder, partitionKey) : foreignPlace(decoder);
  let event: unknown;
  let verdict: Verdict | undefined;
  if (!isKey) {
    verdict = {
      reason: 'bad-partition-key',
      message: `the partition key has ${partitionKey.length} characters, expected 1 to ${partitionKeyCharactersMax}; correct the producer that aggregates it`,
    };
  } else if (!place.isOwned) {
    verdict = {
      reason: 'foreign-hash-key',
      message: `partition key ${JSON.stringify(partitionKey)} does not belong to shard ${decoder.shard.shardId}; put records without ExplicitHashKey`,
    };
    place = foreignPlace(decoder);
  } else if (data.length > decoder.runtime.settings.recordBytesMax) {
    verdict = {
      reason: 'too-large',
      message: `the record has ${data.length} bytes, at most ${decoder.runtime.settings.recordBytesMax} are processed; raise recordBytesMax or send less`,
    };
  } else {
    const parsed = parseEvent(decoder.runtime, partitionKey, data);
    event = parsed.event;
    verdict = parsed.verdict;
  }
  const { arrivalMs } = record;
  return {
    position,
    key: place.key,
    place,
    partitionKey,
    arrivalMs,
    data,
    event,
    verdict,
    isEndOfRecord,
  };
}

function parseEvent(
  { operator }: OperatorRuntime,
  partitionKey: string,
  data: Uint8Array,
): { event: unknown; verdict: Verdict | undefined } {
  try {
    const event = operator.parse(data);
    const key = operator.key(event);
    if (key === partitionKey) return { event, verdict: undefined };
    const message = `the event's key is ${JSON.stringify(key)}, its partition key is ${JSON.stringify(partitionKey)}; operator ${operator.id} needs them equal, put the record under its key`;
    return { event: undefined, verdict: { reason: 'foreign-partition-key', message } };
  } catch (thrown) {
    return {
      event: undefined,
      verdict: {
        reason: 'undecodable',
        message: `operator ${operator.id} cannot read the record: ${describeThrown(thrown)}; correct its producer and put it again as the schema takes it`,
      },
    };
  }
}

/** Where the item of a key is stored, and whether this channel owns the key. */
export function placeOf({ runtime, shard, channel }: Decoder, key: string): KeyPlace {
  const known = channel.places.get(key);
  if (known !== undefined) return known;
  const { hash } = identifyKey(key);
  const place = {
    key,
    hash,
    keyGroup: keyGroupOf(hash, runtime.maxParallelism),
    isOwned: isOwnedBy(shard.range, hash),
  };
  rememberPlace(channel, place);
  return place;
}

/** The place of a key that a segment names: of a partition key, or of the one that takes foreign records. */
export function placeOfStoredKey(decoder: Decoder, key: string): KeyPlace {
  return isForeignKey(key) ? foreignPlace(decoder) : placeOf(decoder, key);
}

function foreignPlace({ runtime, shard }: Decoder): KeyPlace {
  const { key, hash } = foreignKeyOf(shard.shardId, shard.range);
  return { key, hash, keyGroup: keyGroupOf(hash, runtime.maxParallelism), isOwned: true };
}
