import { describe, expect, it } from 'vitest';

import { createKinesisShardReader } from '../../../../shared/adapters/kinesis/kinesis-shard-reader.ts';
import {
  classifyKinesisError,
  mapKinesisError,
} from '../../../../shared/adapters/kinesis/map-error.ts';
import { createMemorySystem } from '../../../../shared/adapters/memory/memory-system.ts';
import { isHoldfastError } from '../../../../shared/core/errors.ts';
import type { ShardPage } from '../../../../shared/ports/shard-reader.ts';
import { fakeKinesis, sdkError, type SentCommand } from '../fake-client.ts';

interface Page {
  readonly sequences?: readonly string[];
  readonly behindMs?: number;
  readonly isLast?: true;
}

/** A shard whose pages are given; what is an error is thrown. Iterators are named `<type>:<sequence>` or by page. */
function openShard(...pages: (Page | Error)[]) {
  const system = createMemorySystem();
  const sent: SentCommand[] = [];
  const askedAtMs: number[] = [];
  let next = 0;
  const client = fakeKinesis((command) => {
    sent.push(command);
    const { input } = command;
    if (command.name === 'GetShardIteratorCommand') {
      const { ShardIteratorType, StartingSequenceNumber = '' } = input as Record<string, string>;
      return { ShardIterator: `${ShardIteratorType}:${StartingSequenceNumber}` };
    }
    if (command.name === 'DescribeStreamSummaryCommand') {
      return {
        StreamDescriptionSummary: {
          RetentionPeriodHours: 24,
          StreamCreationTimestamp: new Date(0),
        },
      };
    }
    askedAtMs.push(system.now());
    const page = pages[next++];
    if (page instanceof Error) throw page;
    const { sequences = [], behindMs = 1_000, isLast } = page ?? { behindMs: 0 };
    return {
      Records: sequences.map((SequenceNumber) => ({
        SequenceNumber,
        PartitionKey: 'k',
        Data: new Uint8Array([1]),
        ApproximateArrivalTimestamp: new Date(1_735_689_600_123),
      })),
      MillisBehindLatest: behindMs,
      NextShardIterator: isLast ? undefined : `page-${next}`,
    };
  });
  const reader = createKinesisShardReader({ client, stream: 'events', system });
  const open = (after: string | undefined): AsyncIterator<ShardPage> =>
    reader.read('shard-0', after)[Symbol.asyncIterator]();
  const read = async (after: string | undefined, pagesMax = 10): Promise<ShardPage[]> => {
    const result: ShardPage[] = [];
    for await (const page of reader.read('shard-0', after)) {
      result.push(page);
      if (result.length === pagesMax) break;
    }
    return result;
  };
  const iterators = (): unknown[] =>
    sent.map(({ input }) => input['ShardIterator'] ?? input['ShardIteratorType']);
  return { open, read, iterators, askedAtMs, system };
}

const sequencesOf = (pages: readonly ShardPage[]): string[][] =>
  pages.map(({ records }) => records.map(({ sequence }) => sequence));

describe('reading a shard', () => {
  it('begins with the oldest record and follows the pages to the end', async () => {
    const shard = openShard(
      { sequences: ['1', '2'] },
      {},
      { sequences: ['3'], behindMs: 0 },
      { isLast: true, behindMs: 0 },
    );
    const pages = await shard.read(undefined);
    expect(sequencesOf(pages)).toEqual([['1', '2'], [], ['3'], []]);
    expect(pages.map(({ isAtTip }) => isAtTip)).toEqual([false, false, true, true]);
    expect(pages.map(({ isEndOfShard }) => isEndOfShard)).toEqual([false, false, false, true]);
    expect(pages[0]!.records[0]).toEqual({
      sequence: '1',
      partitionKey: 'k',
      data: new Uint8Array([1]),
      arrivalMs: 1_735_689_600_123,
    });
    expect(shard.iterators()).toEqual([
      'TRIM_HORIZON',
      'TRIM_HORIZON:',
      'page-1',
      'page-2',
      'page-3',
    ]);
  });

  it('takes a null iterator as the end, even with records, however far behind', async () => {
    const pages = await openShard({ sequences: ['1'], isLast: true }).read(undefined);
    expect(pages).toHaveLength(1);
    expect(pages[0]).toMatchObject({ isEndOfShard: true, isAtTip: true });
  });

  it('begins at the record that it comes after, and leaves it out', async () => {
    const shard = openShard({}, { sequences: ['5', '6'] }, { isLast: true });
    expect(sequencesOf(await shard.read('5'))).toEqual([[], ['6'], []]);
    expect(shard.iterators()[1]).toBe('AT_SEQUENCE_NUMBER:5');
  });

  it('leaves nothing out after that', async () => {
    const shard = openShard({ sequences: ['5'] }, { sequences: ['6', '7'] }, { isLast: true });
    expect(sequencesOf(await shard.read('5'))).toEqual([[], ['6', '7'], []]);
  });

  it.each([
    ['the shard begins with a later record', [{ sequences: ['7', '8'] }]],
    ['nothing is left up to the tip', [{}, { behindMs: 0 }]],
    ['nothing is left up to the end', [{ isLast: true }]],
  ] as const)('is invalid where the record has been trimmed: %s', async (_title, pages) => {
    const thrown: unknown = await openShard(...pages)
      .read('5')
      .catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
    expect(String(thrown)).toContain('events/shard-0 after 5');
  });

  it('is invalid where empty pages stay a whole retention behind', async () => {
    const shard = openShard(...Array.from({ length: 100 }, () => ({ behindMs: 86_400_000 })));
    const thrown: unknown = await shard.read('5', 100).catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
    expect(String(thrown)).toContain('has left the stream');
    expect(shard.askedAtMs).toHaveLength(8);
  });

  it('waits for the record through empty pages, and is unavailable in the end', async () => {
    const empty = (length: number): Page[] => Array.from({ length }, () => ({}));
    const patient = openShard(...empty(59), { sequences: ['5', '6'], isLast: true });
    expect(sequencesOf(await patient.read('5', 100)).flat()).toEqual(['6']);
    const thrown: unknown = await openShard(...empty(60))
      .read('5', 100)
      .catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'unavailable')).toBe(true);
  });

  it('does not mind empty pages from the oldest record on', async () => {
    const empty = Array.from({ length: 80 }, () => ({ behindMs: 86_400_000 }));
    const shard = openShard(...empty, { sequences: ['1'], isLast: true });
    expect(sequencesOf(await shard.read(undefined, 100)).flat()).toEqual(['1']);
  });

  it('is invalid where Kinesis does not take the sequence number', async () => {
    const client = fakeKinesis(() => {
      throw sdkError('InvalidArgumentException', 400);
    });
    const reader = createKinesisShardReader({
      client,
      stream: 'events',
      system: createMemorySystem(),
    });
    const first = reader.read('shard-0', '5')[Symbol.asyncIterator]().next();
    const thrown: unknown = await first.catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
    expect(String(thrown)).toContain('has left the stream');
  });

  it('goes on after the last record with a new iterator where the old one has expired', async () => {
    const shard = openShard(
      { sequences: ['1', '2'] },
      sdkError('ExpiredIteratorException', 400),
      { sequences: ['2', '3'] },
      { isLast: true },
    );
    expect(sequencesOf(await shard.read(undefined))).toEqual([['1', '2'], ['3'], []]);
    expect(shard.iterators()).toContain('AT_SEQUENCE_NUMBER:2');
  });

  it('begins anew where the first iterator expired before a record came', async () => {
    const shard = openShard(sdkError('ExpiredIteratorException', 400), {
      sequences: ['1'],
      isLast: true,
    });
    expect(sequencesOf(await shard.read(undefined))).toEqual([['1']]);
  });

  it('asks again for the same page after throttling and lost replies', async () => {
    const shard = openShard(
      sdkError('ProvisionedThroughputExceededException', 400),
      sdkError('TimeoutError'),
      sdkError('InternalFailureException', 500),
      { sequences: ['1'], isLast: true },
    );
    expect(sequencesOf(await shard.read(undefined))).toEqual([['1']]);
  });

  it('is unavailable where throttling does not end', async () => {
    const errors = Array.from({ length: 20 }, () =>
      sdkError('ProvisionedThroughputExceededException', 400),
    );
    const shard = openShard(...errors);
    const thrown: unknown = await shard.read(undefined).catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'unavailable')).toBe(true);
    expect(shard.askedAtMs).toHaveLength(8);
  });

  it('is invalid where there is no such shard', async () => {
    const shard = openShard(sdkError('ResourceNotFoundException', 400));
    const thrown: unknown = await shard.read(undefined).catch((error: unknown) => error);
    expect(isHoldfastError(thrown, 'invalid')).toBe(true);
  });

  it('leaves the time between requests that a shared shard needs', async () => {
    const shard = openShard({}, {}, {}, { isLast: true });
    await shard.read(undefined);
    const gaps = shard.askedAtMs.slice(1).map((askedAt, at) => askedAt - shard.askedAtMs[at]!);
    expect(gaps).toEqual([250, 250, 250]);
  });

  it('does not wait where the reader took its time', async () => {
    const shard = openShard({}, { isLast: true });
    const before = shard.system.now();
    const pages = shard.open(undefined);
    await pages.next();
    shard.system.advance(1_000);
    await pages.next();
    expect(shard.system.now() - before).toBe(1_000);
  });
});

describe('describing a stream', () => {
  it('follows the pages of the list of shards by token alone', async () => {
    const inputs: Record<string, unknown>[] = [];
    const range = {
      StartingHashKey: '0',
      EndingHashKey: '340282366920938463463374607431768211455',
    };
    const client = fakeKinesis(({ input }) => {
      inputs.push(input);
      const ShardId = `shard-${inputs.length}`;
      return {
        Shards: [{ ShardId, HashKeyRange: range, AdjacentParentShardId: 'b', ParentShardId: 'a' }],
        NextToken: inputs.length < 3 ? `token-${inputs.length}` : undefined,
      };
    });
    const reader = createKinesisShardReader({
      client,
      stream: 'events',
      system: createMemorySystem(),
    });
    const shards = await reader.listShards();
    expect(shards.map(({ shardId }) => shardId)).toEqual(['shard-1', 'shard-2', 'shard-3']);
    expect(shards[0]).toEqual({
      shardId: 'shard-1',
      range: { from: '0'.repeat(32), to: 'f'.repeat(32) },
      parentIds: ['a', 'b'],
    });
    expect(inputs).toEqual([
      { StreamName: 'events' },
      { NextToken: 'token-1' },
      { NextToken: 'token-2' },
    ]);
  });

  it('refuses a description without what positions rest on', async () => {
    const client = fakeKinesis(() => ({ StreamDescriptionSummary: { RetentionPeriodHours: 24 } }));
    const reader = createKinesisShardReader({
      client,
      stream: 'events',
      system: createMemorySystem(),
    });
    await expect(reader.describe()).rejects.toThrow(/without its creation time/);
  });
});

describe('errors of the Kinesis client', () => {
  it.each([
    ['ProvisionedThroughputExceededException', 400, 'throttled', 'unavailable'],
    ['LimitExceededException', 400, 'throttled', 'unavailable'],
    ['KMSThrottlingException', 400, 'throttled', 'unavailable'],
    ['ExpiredIteratorException', 400, 'expired-iterator', 'unavailable'],
    ['InternalFailureException', 500, 'passing', 'unavailable'],
    ['TimeoutError', undefined, 'passing', 'unavailable'],
    ['ResourceNotFoundException', 400, 'missing', 'invalid'],
    ['InvalidArgumentException', 400, 'bad-argument', 'invalid'],
    ['AccessDeniedException', 400, 'forbidden', 'invalid'],
    ['KMSAccessDeniedException', 400, 'forbidden', 'invalid'],
    ['ValidationException', 400, 'malformed', 'invalid'],
    ['TypeError', undefined, 'bug', 'internal'],
  ] as const)('are told by name and status: %s, %s', (name, status, failure, kind) => {
    const error = sdkError(name, status);
    expect(classifyKinesisError(error)).toBe(failure);
    expect(mapKinesisError(error, 'do it')).toMatchObject({ kind, cause: error });
  });
});
