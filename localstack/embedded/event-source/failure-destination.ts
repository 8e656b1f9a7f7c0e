import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';

import { eventOf } from './batch.ts';
import type { EventRecord } from './event-record.ts';

/** Why a mapping gave records up. */
export type GiveUpCondition = 'RetryAttemptsExhausted' | 'RecordAgeExceeded';

export interface GivenUpBatch {
  readonly condition: GiveUpCondition;
  readonly records: readonly EventRecord[];
  readonly shardId: string;
  readonly streamArn: string;
  readonly functionArn: string;
  readonly requestId: string;
  readonly invokeCount: number;
  readonly nowMs: number;
}

/** What Lambda writes for a batch that it gave up: the range, and in S3 also the whole event as a text. */
export function failureRecordOf(batch: GivenUpBatch): Record<string, unknown> {
  const [first] = batch.records;
  const last = batch.records.at(-1);
  if (first === undefined || last === undefined) {
    throw new Error('a batch without records was given up, expected at least one record');
  }
  return {
    requestContext: {
      requestId: batch.requestId,
      functionArn: batch.functionArn,
      condition: batch.condition,
      approximateInvokeCount: batch.invokeCount,
    },
    responseContext: {
      statusCode: 200,
      executedVersion: '$LATEST',
      functionError: 'Unhandled',
    },
    version: '1.0',
    timestamp: new Date(batch.nowMs).toISOString(),
    KinesisBatchInfo: {
      shardId: batch.shardId,
      startSequenceNumber: first.sequenceNumber,
      endSequenceNumber: last.sequenceNumber,
      approximateArrivalOfFirstRecord: new Date(first.arrivalMs).toISOString(),
      approximateArrivalOfLastRecord: new Date(last.arrivalMs).toISOString(),
      batchSize: batch.records.length,
      streamArn: batch.streamArn,
    },
    payload: eventOf(batch.records),
  };
}

/** `aws/lambda/<mapping>/<shard>/YYYY/MM/DD/YYYY-MM-DDTHH.MM.SS-<id>`. */
export function failureObjectKey(
  mappingId: string,
  shardId: string,
  at: { nowMs: number; objectId: string },
): string {
  const [date = '', time = ''] = new Date(at.nowMs).toISOString().split('T');
  const clock = time.slice(0, 8).replaceAll(':', '.');
  return `aws/lambda/${mappingId}/${shardId}/${date.replaceAll('-', '/')}/${date}T${clock}-${at.objectId}`;
}

/** Takes what a mapping has given up. */
export type FailureDestination = (key: string, record: Record<string, unknown>) => Promise<void>;

export function s3FailureDestination(client: S3Client, bucket: string): FailureDestination {
  return async (key, record) => {
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: key, Body: JSON.stringify(record) }),
    );
  };
}
