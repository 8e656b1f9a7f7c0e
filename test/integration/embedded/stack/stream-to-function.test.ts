import path from 'node:path';

import {
  DescribeStreamSummaryCommand,
  MergeShardsCommand,
  SplitShardCommand,
} from '@aws-sdk/client-kinesis';
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { EmbeddedAws } from '../../../../localstack/embedded/embedded-aws.ts';
import { createServiceClients } from '../../../../localstack/embedded/service-clients.ts';
import { isProcessAlive, pollUntil, pollUntilTrue } from '../poll-until.ts';
import { tempDirectory } from '../temp-directory.ts';
import { startStack, streamStack, writeStack } from './fixture-stack.ts';
import {
  kinesisClientOf,
  onlyMapping,
  putRecords,
  readBatches,
  type TestRecord,
} from './stream-producer.ts';

async function deliver(
  records: readonly TestRecord[],
  options: Parameters<typeof streamStack>[1] = {},
  stackOptions: Parameters<typeof startStack>[1] = {},
): Promise<{ aws: EmbeddedAws; batches: string[]; recordFile: string }> {
  const recordFile = path.join(tempDirectory(), 'batches');
  const aws = await startStack(writeStack(streamStack(recordFile, options)), stackOptions);
  const mapping = onlyMapping(aws);
  // Everything is in the stream before the first look, so that batches do not depend on the machine's speed.
  mapping.pause();
  await putRecords(aws, ...records);
  mapping.resume();
  await mapping.whenIdle();
  const batches = readBatches(recordFile).map(({ ids }) => ids.join(' '));
  return { aws, batches, recordFile };
}

describe('from a stream to a function', () => {
  it('delivers records in order', async () => {
    const { batches } = await deliver([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    expect(batches).toEqual(['a b c']);
  });

  it('delivers again from the lowest record that the function reports', async () => {
    const records: TestRecord[] = [
      { id: 'a' },
      { id: 'b', how: 'report', times: 1 },
      { id: 'c' },
      { id: 'd', how: 'report', times: 1 },
    ];
    const { batches } = await deliver(records);
    expect(batches).toEqual(['a b c d', 'b c d']);
  });

  it('delivers again after an exit, and in another process', async () => {
    const { aws, batches, recordFile } = await deliver([{ id: 'a', how: 'exit', times: 2 }]);
    expect(batches).toEqual(['a', 'a', 'a']);
    expect(new Set(readBatches(recordFile).map(({ pid }) => pid)).size).toBe(3);
    expect(aws.functions.get('Taker').stats()).toMatchObject({ crashes: 2, coldStarts: 3 });
  });

  it('delivers again after the function has filled its memory', async () => {
    const { aws, batches } = await deliver([{ id: 'a', how: 'fill-memory', times: 1 }]);
    expect(batches).toEqual(['a', 'a']);
    expect(aws.functions.get('Taker').stats().crashes).toBe(1);
  });

  it('kills a function that exceeds its timeout and delivers again', async () => {
    const { aws, batches, recordFile } = await deliver([{ id: 'a', how: 'hang', times: 1 }], {
      function: { Timeout: 1 },
    });
    expect(batches).toEqual(['a', 'a']);
    expect(aws.functions.get('Taker').stats().timeouts).toBe(1);
    const [first] = readBatches(recordFile);
    await pollUntilTrue('the end of the process', () => !isProcessAlive(first?.pid ?? 0));
  });

  it('delivers again after a chaos kill in the middle of an invocation', async () => {
    const records = Array.from({ length: 40 }, (_, index) => ({ id: `r${index}` }));
    const { aws, batches } = await deliver(
      records,
      { mapping: { BatchSize: 1 } },
      { chaos: { killDuringInvocation: { probability: 1, atMost: 2 } } },
    );
    expect(aws.chaos.counts().killDuringInvocation).toBe(2);
    expect(new Set(batches)).toEqual(new Set(records.map(({ id }) => id)));
  });

  it('writes a batch that is given up to the bucket of its destination', async () => {
    const recordFile = path.join(tempDirectory(), 'batches');
    const templateFile = writeStack({
      ...streamStack(recordFile, {
        mapping: {
          MaximumRetryAttempts: 1,
          DestinationConfig: {
            OnFailure: { Destination: { 'Fn::GetAtt': ['Failures', 'Arn'] } },
          },
        },
      }),
      Failures: { Type: 'AWS::S3::Bucket' },
    });
    const aws = await startStack(templateFile);
    await putRecords(aws, { id: 'a', how: 'throw', times: 100 });
    await onlyMapping(aws).whenIdle();
    await pollUntilTrue('the record', () => onlyMapping(aws).stats().destinationWrites === 1);
    const { s3, destroy } = createServiceClients(aws.endpoints, aws.region);
    onTestFinished(destroy);
    const bucket = { Bucket: aws.physicalId('Failures') };
    const listed = await s3.send(new ListObjectsV2Command(bucket));
    const key = listed.Contents?.[0]?.Key ?? '';
    expect(key).toContain(`aws/lambda/${onlyMapping(aws).id}/shardId-000000000000/`);
    const stored = await s3.send(new GetObjectCommand({ ...bucket, Key: key }));
    const record = JSON.parse((await stored.Body?.transformToString()) ?? '') as Record<
      string,
      unknown
    >;
    expect(record['KinesisBatchInfo']).toMatchObject({ batchSize: 1 });
    expect(JSON.parse(record['payload'] as string)).toMatchObject({
      Records: [{ eventSource: 'aws:kinesis' }],
    });
  });

  it('delivers the children of a split and of a merge', async () => {
    const recordFile = path.join(tempDirectory(), 'batches');
    const aws = await startStack(writeStack(streamStack(recordFile)));
    const mapping = onlyMapping(aws);
    const client = kinesisClientOf(aws);
    const StreamName = aws.physicalId('Stream');
    const untilActive = (): Promise<boolean> =>
      pollUntil('an active stream', async () => {
        const { StreamDescriptionSummary: summary } = await client.send(
          new DescribeStreamSummaryCommand({ StreamName }),
        );
        return summary?.StreamStatus === 'ACTIVE' ? true : undefined;
      });
    const ids = (prefix: string): TestRecord[] =>
      Array.from({ length: 8 }, (_, index) => ({ id: `${prefix}${index}` }));

    await putRecords(aws, ...ids('a'));
    await client.send(
      new SplitShardCommand({
        StreamName,
        ShardToSplit: 'shardId-000000000000',
        NewStartingHashKey: String(2n ** 127n),
      }),
    );
    await untilActive();
    await putRecords(aws, ...ids('b'));
    await client.send(
      new MergeShardsCommand({
        StreamName,
        ShardToMerge: 'shardId-000000000001',
        AdjacentShardToMerge: 'shardId-000000000002',
      }),
    );
    await untilActive();
    await putRecords(aws, ...ids('c'));
    await mapping.whenIdle();

    const batches = readBatches(recordFile);
    const delivered = batches.flatMap((batch) => batch.ids);
    const expected = ['a', 'b', 'c'].flatMap((prefix) => ids(prefix).map(({ id }) => id));
    expect(new Set(delivered)).toEqual(new Set(expected));
    expect(new Set(batches.map(({ shardId }) => shardId)).size).toBe(4);
    expect(mapping.stats().shardsFinished).toBe(3);
  });

  it('survives the kill of all its processes', async () => {
    const recordFile = path.join(tempDirectory(), 'batches');
    const aws = await startStack(writeStack(streamStack(recordFile, { shardCount: 2 })));
    for (let round = 0; round < 5; round += 1) {
      await putRecords(aws, { id: `x${round}` }, { id: `y${round}` }, { id: `z${round}` });
      aws.functions.kill('Taker');
    }
    await onlyMapping(aws).whenIdle();
    const delivered = readBatches(recordFile).flatMap(({ ids }) => ids);
    expect(new Set(delivered).size).toBe(15);
  });
});
