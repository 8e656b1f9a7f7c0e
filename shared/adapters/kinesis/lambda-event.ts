import { HoldfastError } from '../../core/errors.ts';
import type { StreamRecord } from '../../ports/shard-reader.ts';

/** What an event source mapping hands over: some records of one shard, in order. */
export interface KinesisBatch {
  readonly streamArn: string;
  readonly shardId: string;
  readonly records: readonly StreamRecord[];
}

/** What a function answers to an event source mapping that reports batch item failures. */
export interface KinesisBatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** A record of the event; what is not read is left out. */
export interface EventRecord {
  readonly eventSource: string;
  readonly eventSourceARN: string;
  /** `<shard id>:<sequence number>` */
  readonly eventID: string;
  readonly kinesis: {
    readonly sequenceNumber: string;
    readonly partitionKey: string;
    /** Base64. */
    readonly data: string;
    /** s since the epoch, with a fraction. */
    readonly approximateArrivalTimestamp: number;
  };
}

/**
 * Reads a Lambda event of a Kinesis event source mapping.
 *
 * @param streamArn the only stream whose records are accepted; any where it is undefined
 * @throws HoldfastError `invalid` for an event of anything else, of another stream, or of several shards
 */
export function decodeKinesisEvent(event: unknown, streamArn?: string): KinesisBatch {
  const records = readRecords(event);
  const first = records[0]!;
  const batchArn = streamArn ?? first.eventSourceARN;
  const shardId = shardOf(first);
  const prefix = `${shardId}:`;
  return {
    streamArn: batchArn,
    shardId,
    records: records.map((record) => {
      if (record.eventSourceARN !== batchArn) {
        throw refuse(
          `record ${record.eventID} comes from ${record.eventSourceARN}, expected ${batchArn}; point the event source mapping at that stream, without a consumer`,
        );
      }
      if (!record.eventID.startsWith(prefix)) {
        throw refuse(
          `record ${record.eventID} is of another shard than ${first.eventID}; a batch comes from one shard`,
        );
      }
      return decodeRecord(record);
    }),
  };
}

/**
 * Answers that everything before this sequence number is done and the rest has to be delivered again, or that all is
 * done. Only the lowest failure counts, so there is never more than one.
 */
export function encodeBatchResponse(firstNotDone: string | undefined): KinesisBatchResponse {
  // An empty identifier would fail the whole batch.
  if (firstNotDone === '') {
    throw new HoldfastError(
      'internal',
      'handing back from an empty sequence number would hand back the whole batch; name a record',
    );
  }
  return {
    batchItemFailures: firstNotDone === undefined ? [] : [{ itemIdentifier: firstNotDone }],
  };
}

function readRecords(event: unknown): readonly EventRecord[] {
  const records = (event as { Records?: unknown } | null | undefined)?.Records;
  if (!Array.isArray(records) || records.length === 0) {
    throw refuse(
      `it has no records, got ${describe(event)}; only a Kinesis event source mapping may invoke this function`,
    );
  }
  for (const record of records as unknown[]) assertRecord(record);
  return records as EventRecord[];
}

function assertRecord(record: unknown): asserts record is EventRecord {
  const { eventSource, eventSourceARN, eventID, kinesis } = (record ?? {}) as Partial<EventRecord>;
  if (eventSource !== 'aws:kinesis') {
    throw refuse(
      `a record has event source ${describe(eventSource)}, expected "aws:kinesis"; remove the other event source from this function`,
    );
  }
  const { sequenceNumber, partitionKey, data, approximateArrivalTimestamp } = kinesis ?? {};
  if (
    typeof eventSourceARN !== 'string' ||
    typeof eventID !== 'string' ||
    typeof sequenceNumber !== 'string' ||
    !/^\d+$/.test(sequenceNumber) ||
    typeof partitionKey !== 'string' ||
    typeof data !== 'string' ||
    typeof approximateArrivalTimestamp !== 'number'
  ) {
    throw refuse(
      `record ${describe(eventID)} lacks an ARN, a sequence number, a partition key, data or an arrival time; expected what Lambda sends for Kinesis`,
    );
  }
}

function shardOf({ eventID }: EventRecord): string {
  const end = eventID.indexOf(':');
  if (end > 0) return eventID.slice(0, end);
  throw refuse(`record ${describe(eventID)} names no shard; expected "<shard>:<sequence number>"`);
}

function decodeRecord({ kinesis }: EventRecord): StreamRecord {
  const data = Buffer.from(kinesis.data, 'base64');
  return {
    sequence: kinesis.sequenceNumber,
    partitionKey: kinesis.partitionKey,
    // A plain array over the same memory: slices of a Buffer are not copies, which surprises.
    data: new Uint8Array(data.buffer, data.byteOffset, data.length),
    arrivalMs: Math.round(kinesis.approximateArrivalTimestamp * 1_000),
  };
}

function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function refuse(why: string): HoldfastError {
  return new HoldfastError('invalid', `cannot read the event: ${why}`);
}
