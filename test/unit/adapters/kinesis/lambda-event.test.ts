import { describe, expect, it } from 'vitest';

import {
  decodeKinesisEvent,
  encodeBatchResponse,
} from '../../../../shared/adapters/kinesis/lambda-event.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';

const streamArn = 'arn:aws:kinesis:us-east-2:123456789012:stream/lambda-stream';
const sequence = '49590338271490256608559692538361571095921575989136588898';

function makeRecord(
  overrides: Record<string, unknown> = {},
  kinesis: Record<string, unknown> = {},
) {
  return {
    kinesis: {
      kinesisSchemaVersion: '1.0',
      partitionKey: '1',
      sequenceNumber: sequence,
      data: 'SGVsbG8sIHRoaXMgaXMgYSB0ZXN0Lg==',
      approximateArrivalTimestamp: 1545084650.987,
      ...kinesis,
    },
    eventSource: 'aws:kinesis',
    eventVersion: '1.0',
    eventID: `shardId-000000000006:${sequence}`,
    eventName: 'aws:kinesis:record',
    invokeIdentityArn: 'arn:aws:iam::123456789012:role/lambda-role',
    awsRegion: 'us-east-2',
    eventSourceARN: streamArn,
    ...overrides,
  };
}

function thrownBy(event: unknown, arn?: string): unknown {
  try {
    decodeKinesisEvent(event, arn);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('Lambda event', () => {
  it('gives the records of its shard', () => {
    const batch = decodeKinesisEvent({ Records: [makeRecord()] }, streamArn);
    expect(batch).toEqual({
      streamArn,
      shardId: 'shardId-000000000006',
      records: [
        {
          sequence,
          partitionKey: '1',
          data: new TextEncoder().encode('Hello, this is a test.'),
          arrivalMs: 1_545_084_650_987,
        },
      ],
    });
    expect(batch.records[0]!.data).not.toBeInstanceOf(Buffer);
  });

  it('keeps the order of the records', () => {
    const numbers = ['9', '10', '11'];
    const Records = numbers.map((sequenceNumber) =>
      makeRecord({ eventID: `shardId-0:${sequenceNumber}` }, { sequenceNumber }),
    );
    const { records } = decodeKinesisEvent({ Records });
    expect(records.map((record) => record.sequence)).toEqual(numbers);
  });

  it('reads empty data and data of any bytes', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    const Records = [
      makeRecord({}, { data: '' }),
      makeRecord({}, { data: Buffer.from(bytes).toString('base64') }),
    ];
    const { records } = decodeKinesisEvent({ Records });
    expect(records.map(({ data }) => data)).toEqual([new Uint8Array(), bytes]);
  });

  it.each([
    ['nothing', undefined],
    ['no list', { Records: 'x' }],
    ['no records', { Records: [] }],
    ['a schedule', { source: 'aws.events', detail: {} }],
    ['a null record', { Records: [null] }],
    ['a queue', { Records: [{ eventSource: 'aws:sqs', body: '' }] }],
    ['a table', { Records: [makeRecord({ eventSource: 'aws:dynamodb' })] }],
    ['no kinesis part', { Records: [makeRecord({ kinesis: undefined })] }],
    ['no sequence number', { Records: [makeRecord({}, { sequenceNumber: undefined })] }],
    ['a bad sequence number', { Records: [makeRecord({}, { sequenceNumber: '12a' })] }],
    ['no data', { Records: [makeRecord({}, { data: undefined })] }],
    ['no arrival', { Records: [makeRecord({}, { approximateArrivalTimestamp: 'x' })] }],
    ['no shard', { Records: [makeRecord({ eventID: sequence })] }],
    ['an empty shard', { Records: [makeRecord({ eventID: `:${sequence}` })] }],
    [
      'two shards',
      { Records: [makeRecord(), makeRecord({ eventID: `shardId-000000000007:${sequence}` })] },
    ],
    ['two streams', { Records: [makeRecord(), makeRecord({ eventSourceARN: `${streamArn}2` })] }],
  ])('is refused with %s', (_title, event) => {
    expect(isHoldfastError(thrownBy(event), 'invalid')).toBe(true);
  });

  it('is refused from another stream than the expected one, and from a consumer of it', () => {
    for (const eventSourceARN of [`${streamArn}-2`, `${streamArn}/consumer/fast:1`]) {
      const thrown = thrownBy({ Records: [makeRecord({ eventSourceARN })] }, streamArn);
      expect(isHoldfastError(thrown, 'invalid')).toBe(true);
      expect(String(thrown)).toContain(`comes from ${eventSourceARN}, expected ${streamArn}`);
    }
  });

  it('is shown in part where it is refused', () => {
    const thrown = thrownBy({ detail: 'x'.repeat(100_000) });
    expect(String(thrown)).toContain('xxx');
    expect(String(thrown).length).toBeLessThan(500);
  });
});

describe('batch response', () => {
  it('reports success as an empty list', () => {
    expect(encodeBatchResponse(undefined)).toEqual({ batchItemFailures: [] });
  });

  it('hands back from one record on', () => {
    expect(encodeBatchResponse(sequence)).toEqual({
      batchItemFailures: [{ itemIdentifier: sequence }],
    });
  });

  it('never names an empty record, which would fail the whole batch', () => {
    expect(() => encodeBatchResponse('')).toThrow(/empty sequence number/);
  });
});
