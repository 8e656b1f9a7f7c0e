/** A record as Kinesis gives it. */
export interface StreamRecord {
  readonly sequenceNumber: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly arrivalMs: number;
}

/** A record on its way to a function: its piece of the event is made once and measured. */
export interface EventRecord {
  readonly sequenceNumber: string;
  readonly arrivalMs: number;
  /** One element of the event's `Records`. */
  readonly json: string;
  readonly bytes: number;
}

export interface EventOrigin {
  readonly shardId: string;
  readonly streamArn: string;
  readonly region: string;
  /** Role of the function that is invoked. */
  readonly roleArn: string;
}

/** The shape is that of the Lambda guide: base64 data, arrival in seconds with a fraction, `eventID` with the shard. */
export function toEventRecord(record: StreamRecord, origin: EventOrigin): EventRecord {
  const json = JSON.stringify({
    kinesis: {
      kinesisSchemaVersion: '1.0',
      partitionKey: record.partitionKey,
      sequenceNumber: record.sequenceNumber,
      data: Buffer.from(record.data).toString('base64'),
      approximateArrivalTimestamp: record.arrivalMs / 1_000,
    },
    eventSource: 'aws:kinesis',
    eventVersion: '1.0',
    eventID: `${origin.shardId}:${record.sequenceNumber}`,
    eventName: 'aws:kinesis:record',
    invokeIdentityArn: origin.roleArn,
    awsRegion: origin.region,
    eventSourceARN: origin.streamArn,
  });
  return {
    sequenceNumber: record.sequenceNumber,
    arrivalMs: record.arrivalMs,
    json,
    bytes: Buffer.byteLength(json),
  };
}

/** Negative, zero or positive. Sequence numbers are numbers: their texts may differ in length. */
export function compareSequenceNumbers(left: string, right: string): number {
  const [a, b] = [BigInt(left), BigInt(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}
