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
import { decodeHeartbeat } from '../core/heartbeat.ts';
import { timerTimeMax } from '../core/timer.ts';
import { isOwnedBy, keyGroupOf } from '../core/key-group.ts';
import type { Position } from '../core/position.ts';
import { watermarkBehind } from '../core/watermark.ts';
import type { Operator } from '../operator/operator.ts';
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
  | 'bad-event-time'
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
  /** What the record says of event time: its own less the allowed out-of-orderness; undefined where it has no say (P11). */
  readonly eventWatermark: number | undefined;
  /** A record that only says how late it is: no key's, and no event. */
  readonly isHeartbeat: boolean;
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
  const { sequence, arrivalMs } = record;
  const heartbeat = decodeHeartbeat(data);
  let place: KeyPlace;
  let parsed: ParsedEvent;
  if (heartbeat !== undefined) {
    place = foreignPlace(decoder);
    parsed = { event: undefined, verdict: undefined, eventWatermark: heartbeat };
  } else {
    const own = isPartitionKey(partitionKey) ? placeOf(decoder, partitionKey) : undefined;
    place = own?.isOwned === true ? own : foreignPlace(decoder);
    parsed =
      place === own
        ? parseEvent(decoder.runtime, partitionKey, data, arrivalMs)
        : refuseKey(decoder, partitionKey, own !== undefined);
  }
  // Written out: one object of one shape for each record, and no copies of parts on the way.
  return {
    position: { sequence, sub },
    key: place.key,
    place,
    partitionKey,
    arrivalMs,
    data,
    event: parsed.event,
    verdict: parsed.verdict,
    eventWatermark: parsed.eventWatermark,
    isHeartbeat: heartbeat !== undefined,
    isEndOfRecord,
  };
}

function refuseKey({ shard }: Decoder, partitionKey: string, isKey: boolean): ParsedEvent {
  return isKey
    ? refuse(
        'foreign-hash-key',
        `partition key ${JSON.stringify(partitionKey)} does not belong to shard ${shard.shardId}; put records without ExplicitHashKey`,
      )
    : refuse(
        'bad-partition-key',
        `the partition key has ${partitionKey.length} characters, expected 1 to ${partitionKeyCharactersMax}; correct the producer that aggregates it`,
      );
}

interface ParsedEvent {
  readonly event: unknown;
  readonly verdict: Verdict | undefined;
  readonly eventWatermark: number | undefined;
}

function parseEvent(
  { operator, settings }: OperatorRuntime,
  partitionKey: string,
  data: Uint8Array,
  arrivalMs: number,
): ParsedEvent {
  if (data.length > settings.recordBytesMax) {
    return refuse(
      'too-large',
      `the record has ${data.length} bytes, at most ${settings.recordBytesMax} are processed; raise recordBytesMax or send less`,
    );
  }
  try {
    const event = operator.parse(data);
    const key = operator.key(event);
    if (key !== partitionKey) {
      return refuse(
        'foreign-partition-key',
        `the event's key is ${JSON.stringify(key)}, its partition key is ${JSON.stringify(partitionKey)}; operator ${operator.id} needs them equal, put the record under its key`,
      );
    }
    return readEventTime(operator, event, arrivalMs);
  } catch (thrown) {
    return refuse(
      'undecodable',
      `operator ${operator.id} cannot read the record: ${describeThrown(thrown)}; correct its producer and put it again as the schema takes it`,
    );
  }
}

function readEventTime(operator: Operator, event: unknown, arrivalMs: number): ParsedEvent {
  const { eventTime } = operator;
  if (eventTime === undefined) return { event, verdict: undefined, eventWatermark: undefined };
  const time = eventTime.time(event);
  // Also keeps what follows from it within what tables can hold as a number.
  if (!Number.isFinite(time) || Math.abs(time) > timerTimeMax) {
    return refuse(
      'bad-event-time',
      `the event's time is ${String(time)}, expected milliseconds since the epoch within ±${timerTimeMax}`,
    );
  }
  if (time - arrivalMs > eventTime.maxFutureSkewMs) {
    return refuse(
      'bad-event-time',
      `the event's time ${time} lies ${time - arrivalMs} ms after its arrival, at most ${eventTime.maxFutureSkewMs} are believed; mend the producer's clock or raise maxFutureSkewMs`,
    );
  }
  return { event, verdict: undefined, eventWatermark: watermarkBehind(time, eventTime) };
}

function refuse(reason: PoisonReason, message: string): ParsedEvent {
  return { event: undefined, verdict: { reason, message }, eventWatermark: undefined };
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
