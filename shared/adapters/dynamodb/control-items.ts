import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Channel } from '../../core/channel.ts';
import { pack, unpack } from '../../core/pack.ts';
import {
  formatPosition,
  parsePosition,
  type FiringStep,
  type Position,
} from '../../core/position.ts';
import type { Progress, SegmentReference } from '../../core/progress.ts';
import type { Job, Suspicion } from '../../ports/control-store.ts';
import { packFloors, unpackFloors } from './floor-bytes.ts';
import type { Item, TableKey } from './table-keys.ts';

/*
 * The items of the control table, by attribute. Positions are texts, as their numbers are too long for DynamoDB; what
 * is undefined is absent.
 */

interface JobRecord extends Omit<Job, 'timeline'> {
  /** Absent from items of before there were restores. */
  readonly timeline: Job['timeline'] | undefined;
}

interface ProgressRecord {
  readonly generation: number;
  readonly version: number;
  readonly position: string | undefined;
  readonly attempt: string;
  readonly head: SegmentReference | undefined;
  readonly aheadMax: string | undefined;
  readonly finished: boolean;
  readonly rangeFrom: string;
  readonly rangeTo: string;
  readonly parentIds: readonly string[];
  readonly committedAtMs: number;
  readonly checkedAtMs: number;
  readonly timeRules: string | undefined;
  readonly fence: string | undefined;
  /** Watermarks (`w`) and earliest times (`e`) of event time (`e`) and arrival time (`a`), ms since the epoch. */
  readonly we: number | undefined;
  readonly wa: number | undefined;
  readonly ee: number | undefined;
  readonly ea: number | undefined;
  /** See floor-bytes; absent for none. */
  readonly floors: Uint8Array | undefined;
  /** The packed step that has fired, `none`, or absent. */
  readonly firing: Uint8Array | 'none' | undefined;
}

type PackedStep = [keyHash: string, key: string, time: number, name: string];

interface SuspicionRecord extends Omit<Suspicion, 'position'> {
  readonly position: string | undefined;
}

interface ChannelRecord {
  readonly operator: string;
  readonly streamName: string;
  readonly streamCreatedAtMs: number;
  readonly shardId: string;
}

export function encodeJob(key: TableKey, job: Job): Item {
  return encode(key, { ...job } satisfies JobRecord);
}

export function decodeJob(item: Item): Job {
  const { name, version, generation, status, maxParallelism, operators, sinks, hold, timeline } =
    decode<JobRecord>(item);
  return {
    name,
    version,
    generation,
    status,
    maxParallelism,
    operators,
    // Items of before they were compared have none.
    ...(sinks === undefined ? {} : { sinks }),
    hold: hold && { ...hold, undo: hold.undo },
    timeline: timeline ?? [],
  };
}

export function encodeProgress(key: TableKey, progress: Progress): Item {
  const { position, aheadMax, isFinished, range, watermarks, earliest, floors, firing, ...rest } =
    progress;
  return encode(key, {
    ...rest,
    position: formatOptional(position),
    aheadMax: formatOptional(aheadMax),
    finished: isFinished,
    rangeFrom: range.from,
    rangeTo: range.to,
    we: watermarks.event,
    wa: watermarks.arrival,
    ee: earliest.event,
    ea: earliest.arrival,
    floors: floors.length === 0 ? undefined : packFloors(floors),
    firing: typeof firing === 'object' ? packStep(firing) : firing,
  } satisfies ProgressRecord);
}

export function decodeProgress(item: Item): Progress {
  const record = decode<ProgressRecord>(item);
  return {
    generation: record.generation,
    version: record.version,
    position: parseOptional(record.position),
    attempt: record.attempt,
    head: record.head,
    aheadMax: parseOptional(record.aheadMax),
    isFinished: record.finished,
    range: { from: record.rangeFrom, to: record.rangeTo },
    parentIds: record.parentIds,
    committedAtMs: record.committedAtMs,
    checkedAtMs: record.checkedAtMs,
    // Items from before there was event time have none of these.
    watermarks: { event: record.we, arrival: record.wa },
    floors: record.floors === undefined ? [] : unpackFloors(record.floors),
    firing: typeof record.firing === 'object' ? unpackStep(record.firing) : record.firing,
    earliest: { event: record.ee, arrival: record.ea },
    timeRules: record.timeRules,
    fence: record.fence,
  };
}

export function encodeSuspicion(key: TableKey, suspicion: Suspicion): Item {
  const position = formatOptional(suspicion.position);
  return encode(key, { ...suspicion, position } satisfies SuspicionRecord);
}

export function decodeSuspicion(item: Item): Suspicion {
  const { version, position, span, outstanding, throws, reason } = decode<SuspicionRecord>(item);
  return { version, position: parseOptional(position), span, outstanding, throws, reason };
}

export function encodeChannel(key: TableKey, channel: Channel): Item {
  return encode(key, {
    operator: channel.operator,
    streamName: channel.stream.name,
    streamCreatedAtMs: channel.stream.createdAtMs,
    shardId: channel.shardId,
  } satisfies ChannelRecord);
}

export function decodeChannel(item: Item): Channel {
  const { operator, streamName, streamCreatedAtMs, shardId } = decode<ChannelRecord>(item);
  return { operator, stream: { name: streamName, createdAtMs: streamCreatedAtMs }, shardId };
}

function encode(key: TableKey, record: object): Item {
  return { ...key, ...marshall(record, { removeUndefinedValues: true }) };
}

// Only this file writes these items, so their shape is what it says.
function decode<Shape>(item: Item): Shape {
  return unmarshall(item) as Shape;
}

function packStep({ keyHash, key, time, name }: FiringStep): Uint8Array {
  return pack([keyHash, key, time, name] satisfies PackedStep);
}

function unpackStep(bytes: Uint8Array): FiringStep {
  const [keyHash, key, time, name] = unpack(bytes) as PackedStep;
  return { keyHash, key, time, name };
}

function formatOptional(position: Position | undefined): string | undefined {
  return position === undefined ? undefined : formatPosition(position);
}

function parseOptional(text: string | undefined): Position | undefined {
  return text === undefined ? undefined : parsePosition(text);
}
