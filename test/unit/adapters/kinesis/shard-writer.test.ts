import { describe, expect, it } from 'vitest';

import { createKinesisShardWriter } from '../../../../shared/adapters/kinesis/kinesis-shard-writer.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { hashFromDecimal } from '../../../../shared/core/key-group.ts';
import { fakeKinesis, sdkError, type SentCommand } from '../fake-client.ts';

const hash = (number: number): string => hashFromDecimal(String(number));
const data = new TextEncoder().encode('beat');

interface SentRecord {
  readonly ExplicitHashKey: string;
  readonly PartitionKey: string;
  readonly Data: Uint8Array;
}

/** The hashes, as decimal numbers, of one PutRecords. */
const hashesOf = ({ input }: SentCommand): number[] =>
  (input['Records'] as SentRecord[]).map(({ ExplicitHashKey }) => Number(ExplicitHashKey));

/**
 * A stream that answers each PutRecords by the next of `rounds`: the hashes that it refuses, an error that it throws, or,
 * after the last round, by taking everything.
 */
function openStream(...rounds: (readonly number[] | Error)[]) {
  const system = createMemorySystem();
  const sent: SentCommand[] = [];
  const startedAtMs = system.now();
  const client = fakeKinesis((command) => {
    const round = rounds[sent.length] ?? [];
    sent.push(command);
    if (round instanceof Error) throw round;
    const results = hashesOf(command).map((one) =>
      round.includes(one)
        ? { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage: 'slow down' }
        : { SequenceNumber: '1', ShardId: 'shard' },
    );
    return { FailedRecordCount: round.length, Records: results };
  });
  const retryPolicy = { attemptsMax: 4, firstPauseMs: 100, pauseMsMax: 1_000 };
  const writer = createKinesisShardWriter({ client, stream: 'events', system, retryPolicy });
  const waitedMs = (): number => system.now() - startedAtMs;
  return { writer, sent, waitedMs };
}

describe('putting records into shards', () => {
  it('names the hash, a partition key of our own and the data', async () => {
    const { writer, sent } = openStream();
    await writer.putAt([hash(0), 'f'.repeat(32)], data);
    expect(sent.map(({ name, input }) => ({ name, input }))).toEqual([
      {
        name: 'PutRecordsCommand',
        input: {
          StreamName: 'events',
          Records: [
            { PartitionKey: 'holdfast', ExplicitHashKey: '0', Data: data },
            {
              PartitionKey: 'holdfast',
              ExplicitHashKey: '340282366920938463463374607431768211455',
              Data: data,
            },
          ],
        },
      },
    ]);
  });

  it('repeats what was refused and nothing else, after a pause', async () => {
    const { writer, sent, waitedMs } = openStream([2, 3], [3]);
    await writer.putAt([hash(1), hash(2), hash(3)], data);
    expect(sent.map(hashesOf)).toEqual([[1, 2, 3], [2, 3], [3]]);
    expect(waitedMs()).toBeGreaterThan(0);
  });

  it.each([
    ['throttled', sdkError('ProvisionedThroughputExceededException', 400)],
    ['answered with an error of the service', sdkError('InternalFailureException', 500)],
    ['not answered', sdkError('TimeoutError')],
  ])('repeats a request that was %s', async (_, error) => {
    const { writer, sent } = openStream(error);
    await writer.putAt([hash(1), hash(2)], data);
    expect(sent.map(hashesOf)).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it('repeats a record about which the reply says nothing', async () => {
    const sent: SentCommand[] = [];
    const client = fakeKinesis((command) => {
      sent.push(command);
      return { Records: sent.length === 1 ? [{ SequenceNumber: '1' }] : [{ SequenceNumber: '2' }] };
    });
    const system = createMemorySystem();
    const writer = createKinesisShardWriter({ client, stream: 'events', system });
    await writer.putAt([hash(1), hash(2)], data);
    expect(sent.map(hashesOf)).toEqual([[1, 2], [2]]);
  });

  it('gives up on a shard that refuses for too long, when all others have theirs', async () => {
    const { writer, sent } = openStream([2], [2], [2], [2], [2]);
    await expect(writer.putAt([hash(1), hash(2), hash(3)], data)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `cannot put records into 1 of 3 shards of stream events within 4 tries: ProvisionedThroughputExceededException, the first at hash ${hash(2)}; the other shards have theirs, try again`,
    });
    expect(sent.map(hashesOf)).toEqual([[1, 2, 3], [2], [2], [2]]);
  });

  it('sends further requests although the first one was refused', async () => {
    const { writer, sent } = openStream(sdkError('ThrottlingException', 400));
    const hashes = Array.from({ length: 501 }, (_, at) => hash(at));
    await writer.putAt(hashes, data);
    expect(sent.map((command) => hashesOf(command).length)).toEqual([500, 1, 500]);
  });

  it.each([
    ['AccessDeniedException', 'invalid', 'give the role the right'],
    ['ResourceNotFoundException', 'invalid', 'deploy the stream'],
    ['TypeError', 'internal', 'this is a bug'],
  ])('does not repeat %s', async (name, kind, remedy) => {
    const { writer, sent } = openStream(sdkError(name, 400));
    await expect(writer.putAt([hash(1)], data)).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(remedy) as string,
    });
    expect(sent).toHaveLength(1);
  });
});

describe('listing open shards', () => {
  const shard = (id: number, isClosed: boolean) => ({
    ShardId: `shard-${id}`,
    HashKeyRange: { StartingHashKey: String(id), EndingHashKey: String(id) },
    SequenceNumberRange: {
      StartingSequenceNumber: '1',
      ...(isClosed && { EndingSequenceNumber: '9' }),
    },
  });

  it('asks for those of now, page by page, and leaves out what is closed all the same', async () => {
    const sent: SentCommand[] = [];
    const client = fakeKinesis((command) => {
      sent.push(command);
      return sent.length === 1
        ? { Shards: [shard(1, false), shard(2, true)], NextToken: 'next' }
        : { Shards: [shard(3, false)] };
    });
    const system = createMemorySystem();
    const writer = createKinesisShardWriter({ client, stream: 'events', system });
    expect((await writer.listOpenShards()).map(({ shardId }) => shardId)).toEqual([
      'shard-1',
      'shard-3',
    ]);
    expect(sent.map(({ input }) => input)).toEqual([
      { StreamName: 'events', ShardFilter: { Type: 'AT_LATEST' } },
      { NextToken: 'next' },
    ]);
  });
});
