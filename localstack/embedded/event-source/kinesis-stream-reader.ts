import {
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListShardsCommand,
  type GetShardIteratorCommandInput,
  type KinesisClient,
  type Shard,
} from '@aws-sdk/client-kinesis';

import type { ShardPosition, StreamReader } from './stream-reader.ts';

/** Listing pages; a thousand shards each. */
const LIST_PAGES_MAX = 100;

export function kinesisStreamReader(client: KinesisClient, streamArn: string): StreamReader {
  return {
    async listShards() {
      const shards: Shard[] = [];
      let nextToken: string | undefined;
      for (let page = 0; page < LIST_PAGES_MAX; page += 1) {
        const reply = await client.send(
          new ListShardsCommand(
            nextToken === undefined ? { StreamARN: streamArn } : { NextToken: nextToken },
          ),
        );
        shards.push(...(reply.Shards ?? []));
        nextToken = reply.NextToken;
        if (nextToken === undefined) break;
      }
      return shards.map((shard) => ({
        shardId: shard.ShardId ?? '',
        parentShardIds: [shard.ParentShardId, shard.AdjacentParentShardId].filter(
          (parent) => parent !== undefined,
        ),
      }));
    },
    async openIterator(shardId, position) {
      const reply = await client.send(
        new GetShardIteratorCommand({
          StreamARN: streamArn,
          ShardId: shardId,
          ...iteratorInput(position),
        }),
      );
      return reply.ShardIterator ?? '';
    },
    async read(iterator, recordsMax) {
      try {
        const reply = await client.send(
          new GetRecordsCommand({
            StreamARN: streamArn,
            ShardIterator: iterator,
            Limit: recordsMax,
          }),
        );
        return {
          records: (reply.Records ?? []).map((record) => ({
            sequenceNumber: record.SequenceNumber ?? '',
            partitionKey: record.PartitionKey ?? '',
            data: record.Data ?? new Uint8Array(),
            arrivalMs: record.ApproximateArrivalTimestamp?.getTime() ?? 0,
          })),
          nextIterator: reply.NextShardIterator,
          behindLatestMs: reply.MillisBehindLatest ?? 0,
        };
      } catch (error) {
        if (error instanceof ExpiredIteratorException) return null;
        throw error;
      }
    },
  };
}

function iteratorInput(
  position: ShardPosition,
): Pick<
  GetShardIteratorCommandInput,
  'ShardIteratorType' | 'StartingSequenceNumber' | 'Timestamp'
> {
  switch (position.kind) {
    case 'trim-horizon':
      return { ShardIteratorType: 'TRIM_HORIZON' };
    case 'latest':
      return { ShardIteratorType: 'LATEST' };
    case 'timestamp':
      return { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: new Date(position.timestampMs) };
    case 'at':
      return {
        ShardIteratorType: 'AT_SEQUENCE_NUMBER',
        StartingSequenceNumber: position.sequenceNumber,
      };
    case 'after':
      return {
        ShardIteratorType: 'AFTER_SEQUENCE_NUMBER',
        StartingSequenceNumber: position.sequenceNumber,
      };
  }
}
