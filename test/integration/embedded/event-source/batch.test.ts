import { describe, expect, it } from 'vitest';

import {
  cutBatch,
  decideBatch,
  eventOf,
} from '../../../../localstack/embedded/event-source/batch.ts';
import {
  compareSequenceNumbers,
  toEventRecord,
  type EventRecord,
} from '../../../../localstack/embedded/event-source/event-record.ts';

const origin = {
  shardId: 'shardId-000000000006',
  streamArn: 'arn:aws:kinesis:us-east-2:123456789012:stream/lambda-stream',
  region: 'us-east-2',
  roleArn: 'arn:aws:iam::123456789012:role/lambda-role',
};

function recordOf(dataBytes: number): EventRecord {
  return toEventRecord(
    {
      sequenceNumber: '49590338271490256608559692538361571095921575989136588898',
      partitionKey: 'ü',
      data: new Uint8Array(dataBytes),
      arrivalMs: 1_545_084_650_987,
    },
    origin,
  );
}

describe('an event record', () => {
  it('has the shape that the Lambda guide shows', () => {
    expect(JSON.parse(recordOf(3).json)).toEqual({
      kinesis: {
        kinesisSchemaVersion: '1.0',
        partitionKey: 'ü',
        sequenceNumber: '49590338271490256608559692538361571095921575989136588898',
        data: 'AAAA',
        approximateArrivalTimestamp: 1_545_084_650.987,
      },
      eventSource: 'aws:kinesis',
      eventVersion: '1.0',
      eventID: 'shardId-000000000006:49590338271490256608559692538361571095921575989136588898',
      eventName: 'aws:kinesis:record',
      invokeIdentityArn: 'arn:aws:iam::123456789012:role/lambda-role',
      awsRegion: 'us-east-2',
      eventSourceARN: 'arn:aws:kinesis:us-east-2:123456789012:stream/lambda-stream',
    });
  });

  it('is ordered by its sequence number as a number', () => {
    expect(compareSequenceNumbers('9', '10')).toBe(-1);
    expect(compareSequenceNumbers('10', '9')).toBe(1);
    expect(compareSequenceNumbers('10', '10')).toBe(0);
  });
});

describe('cutting a batch', () => {
  const records = Array.from({ length: 5 }, () => recordOf(100));

  it('takes all that there is when nothing limits it', () => {
    expect(cutBatch(records, { recordsMax: 6, bytesMax: 10_000 })).toEqual({
      count: 5,
      isFull: false,
    });
  });

  it('ends at the batch size', () => {
    expect(cutBatch(records, { recordsMax: 3, bytesMax: 10_000 })).toEqual({
      count: 3,
      isFull: true,
    });
    expect(cutBatch(records, { recordsMax: 5, bytesMax: 10_000 })).toEqual({
      count: 5,
      isFull: true,
    });
  });

  it('counts the bytes of the whole event', () => {
    const bytesMax = Buffer.byteLength(eventOf(records.slice(0, 4)));
    expect(cutBatch(records, { recordsMax: 100, bytesMax })).toEqual({ count: 4, isFull: true });
    expect(cutBatch(records, { recordsMax: 100, bytesMax: bytesMax - 1 }).count).toBe(3);
  });

  it('keeps megabyte records below 6 MB of event, not of data', () => {
    const large = Array.from({ length: 6 }, () => recordOf(1_000_000));
    const { count } = cutBatch(large, { recordsMax: 100, bytesMax: 6_291_456 });
    expect(count).toBe(4);
    expect(Buffer.byteLength(eventOf(large.slice(0, count)))).toBeLessThanOrEqual(6_291_456);
  });

  it('gives a record that is too large a batch of its own', () => {
    expect(cutBatch(records, { recordsMax: 100, bytesMax: 10 })).toEqual({
      count: 1,
      isFull: true,
    });
  });

  it('makes an event that is JSON', () => {
    expect(JSON.parse(eventOf(records))).toMatchObject({ Records: { length: 5 } });
  });
});

describe('the batching window', () => {
  const windowMs = 1_000;
  const facts = { nowMs: 500, windowEndsAtMs: 1_000, isShardAtEnd: false };
  const none = { count: 0, isFull: false };
  const some = { count: 3, isFull: false };

  it('waits while it is open', () => {
    expect(decideBatch({ ...facts, cut: some }, windowMs)).toEqual({
      kind: 'wait',
      windowEndsAtMs: 1_000,
    });
  });

  it('delivers what there is when it is over', () => {
    expect(decideBatch({ ...facts, cut: some, nowMs: 1_000 }, windowMs).kind).toBe('deliver');
  });

  it('delivers a full batch at once', () => {
    const cut = { count: 3, isFull: true };
    expect(decideBatch({ ...facts, cut }, windowMs).kind).toBe('deliver');
  });

  it('starts again when it ends empty', () => {
    expect(decideBatch({ ...facts, cut: none, nowMs: 1_200 }, windowMs)).toEqual({
      kind: 'wait',
      windowEndsAtMs: 2_200,
    });
  });

  it('does not hold back the last records of a closed shard', () => {
    expect(decideBatch({ ...facts, cut: some, isShardAtEnd: true }, windowMs).kind).toBe('deliver');
  });

  it('finishes a closed shard that has nothing left', () => {
    expect(decideBatch({ ...facts, cut: none, isShardAtEnd: true }, windowMs).kind).toBe(
      'finished',
    );
  });

  it('delivers at once when it is zero', () => {
    const zero = { ...facts, windowEndsAtMs: 500 };
    expect(decideBatch({ ...zero, cut: some }, 0).kind).toBe('deliver');
  });
});
