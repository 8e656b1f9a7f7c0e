import type { GetRecordsCommandOutput, _Record as KinesisRecord } from '@aws-sdk/client-kinesis';
import { HoldfastError } from '../../core/errors.ts';
import type { ShardPage, StreamRecord } from '../../ports/shard-reader.ts';
import { describeStream } from './describe-stream.ts';
import type { KinesisReaderOptions } from './reader-options.ts';
import { createShardRequests } from './shard-requests.ts';

/** How many empty pages may come before the record at which we begin until we ask ourselves why. */
const silentPagesPatience = 8;

/** How many may come until this is not worth the wait. */
const silentPagesMax = 60;

/** How far from the end of retention counts as beyond it. */
const retentionMarginMs = 5 * 60 * 1_000;

/**
 * Reads a shard page by page.
 *
 * Kinesis itself does not say that records are missing: an iterator at a sequence number that has left the stream may
 * begin with whatever is oldest, or give empty pages that stay a whole retention behind
 * (https://github.com/harlow/kinesis-consumer/issues/125). So we begin *at* the record, insist that it comes, and leave
 * it out.
 */
export async function* readShard(
  options: KinesisReaderOptions,
  shardId: string,
  afterSequence: string | undefined,
): AsyncGenerator<ShardPage> {
  const requests = createShardRequests(options, shardId);
  let last = afterSequence;
  let iterator = await requests.openIterator(last);
  // The record that the iterator begins with, until it has come.
  let awaited = last;
  let silentPages = 0;
  for (;;) {
    const reply = await requests.getRecords(iterator);
    if (reply === 'expired-iterator') {
      iterator = await requests.openIterator(last);
      awaited = last;
      continue;
    }
    const isEndOfShard = reply.NextShardIterator === undefined;
    const isAtTip = isEndOfShard || reply.MillisBehindLatest === 0;
    let records = (reply.Records ?? []).map(toRecord);
    if (awaited !== undefined && records.length === 0 && !isAtTip) {
      silentPages += 1;
      if (silentPages >= silentPagesPatience) await assertPatient(silentPages, reply, awaited);
    } else if (awaited !== undefined) {
      if (records[0]?.sequence !== awaited) throw requests.unreadable(awaited);
      records = records.slice(1);
      awaited = undefined;
    }
    last = records.at(-1)?.sequence ?? last;
    yield { records, isEndOfShard, isAtTip };
    if (reply.NextShardIterator === undefined) return;
    iterator = reply.NextShardIterator;
  }

  async function assertPatient(
    pages: number,
    { MillisBehindLatest: behindMs = 0 }: GetRecordsCommandOutput,
    sequence: string,
  ): Promise<void> {
    const { retentionHours } = await describeStream(options);
    if (behindMs >= retentionHours * 3_600_000 - retentionMarginMs) {
      throw requests.unreadable(sequence);
    }
    if (pages < silentPagesMax) return;
    throw new HoldfastError(
      'unavailable',
      `cannot read ${options.stream}/${shardId} after ${sequence}: ${pages} pages in a row were empty, ${behindMs} ms behind the tip; it is tried again`,
    );
  }
}

function toRecord(record: KinesisRecord): StreamRecord {
  return {
    sequence: record.SequenceNumber ?? '',
    partitionKey: record.PartitionKey ?? '',
    data: record.Data ?? new Uint8Array(),
    arrivalMs: record.ApproximateArrivalTimestamp?.getTime() ?? 0,
  };
}
