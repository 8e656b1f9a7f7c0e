import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
  type KinesisClient,
  ListShardsCommand,
  MergeShardsCommand,
  PutRecordCommand,
  PutRecordsCommand,
  type Shard,
  type ShardIteratorType,
  SplitShardCommand,
  UpdateShardCountCommand,
} from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import {
  type KinesisEmulator,
  startKinesis,
} from '../../../localstack/embedded/emulators/kinesis.ts';
import { connectKinesis, failureOf } from './sdk-clients.ts';

// Each start of the child compiles megabytes of code, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let kinesis: KinesisEmulator;
let client: KinesisClient;

beforeAll(async () => {
  kinesis = await startKinesis();
  client = connectKinesis(kinesis);
});
afterAll(async () => {
  client.destroy();
  await kinesis.stop();
});

async function createStream(ShardCount: number): Promise<string> {
  const StreamName = `stream-${randomUUID()}`;
  await client.send(new CreateStreamCommand({ StreamName, ShardCount }));
  await waitUntilActive(StreamName);
  return StreamName;
}

async function waitUntilActive(StreamName: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const reply = await client.send(new DescribeStreamSummaryCommand({ StreamName }));
        return reply.StreamDescriptionSummary?.StreamStatus;
      },
      { interval: 5, timeout: 30_000 },
    )
    .toBe('ACTIVE');
}

async function listShards(StreamName: string): Promise<Shard[]> {
  const reply = await client.send(new ListShardsCommand({ StreamName }));
  return reply.Shards ?? [];
}

async function onlyShard(StreamName: string): Promise<string> {
  const [shard] = await listShards(StreamName);
  return shard?.ShardId ?? '';
}

/** Puts one record a value, in order, all with one partition key. Returns their sequence numbers. */
async function putAll(StreamName: string, values: readonly string[]): Promise<string[]> {
  const numbers: string[] = [];
  for (const value of values) {
    const reply = await client.send(
      new PutRecordCommand({ StreamName, PartitionKey: 'k', Data: Buffer.from(value) }),
    );
    numbers.push(reply.SequenceNumber ?? '');
  }
  return numbers;
}

interface Position {
  readonly type: ShardIteratorType;
  readonly number?: string | undefined;
}

async function readPage(
  StreamName: string,
  ShardId: string,
  { type, number }: Position,
): Promise<GetRecordsCommandOutput> {
  const { ShardIterator } = await client.send(
    new GetShardIteratorCommand({
      StreamName,
      ShardId,
      ShardIteratorType: type,
      StartingSequenceNumber: number,
    }),
  );
  return client.send(new GetRecordsCommand({ ShardIterator }));
}

const valuesOf = ({ Records = [] }: GetRecordsCommandOutput): string[] =>
  Records.map(({ Data }) => Buffer.from(Data ?? []).toString());

const middleOf = ({ HashKeyRange }: Shard): string => {
  const start = BigInt(HashKeyRange?.StartingHashKey ?? 0);
  const end = BigInt(HashKeyRange?.EndingHashKey ?? 0);
  return String((start + end) / 2n + 1n);
};

describe('records', () => {
  it('have sequence numbers of 56 digits that grow', async () => {
    const stream = await createStream(1);
    const numbers = await putAll(stream, ['a', 'b', 'c']);
    expect(numbers.map((number) => number.length)).toEqual([56, 56, 56]);
    expect([...numbers].sort()).toEqual(numbers);
    expect(new Set(numbers).size).toBe(3);
  });

  it('are read in order from TRIM_HORIZON, AT and AFTER a sequence number', async () => {
    const stream = await createStream(1);
    const shard = await onlyShard(stream);
    const [, second] = await putAll(stream, ['a', 'b', 'c']);
    const read = async (position: Position) => valuesOf(await readPage(stream, shard, position));
    expect(await read({ type: 'TRIM_HORIZON' })).toEqual(['a', 'b', 'c']);
    expect(await read({ type: 'AT_SEQUENCE_NUMBER', number: second })).toEqual(['b', 'c']);
    expect(await read({ type: 'AFTER_SEQUENCE_NUMBER', number: second })).toEqual(['c']);
    expect(await read({ type: 'LATEST' })).toEqual([]);
  });

  it('are spread over sixteen shards', async () => {
    const StreamName = await createStream(16);
    const Records = Array.from({ length: 200 }, (_, n) => ({
      PartitionKey: `key-${n}`,
      Data: Buffer.from(String(n)),
    }));
    const reply = await client.send(new PutRecordsCommand({ StreamName, Records }));
    expect(reply.FailedRecordCount).toBe(0);
    expect(new Set(reply.Records?.map(({ ShardId }) => ShardId)).size).toBe(16);
  });
});

describe('resharding', () => {
  it('splits a shard into two children that name their parent and halve its range', async () => {
    const StreamName = await createStream(1);
    const [parent] = (await listShards(StreamName)) as [Shard];
    await putAll(StreamName, ['before']);
    await client.send(
      new SplitShardCommand({
        StreamName,
        ShardToSplit: parent.ShardId,
        NewStartingHashKey: middleOf(parent),
      }),
    );
    await waitUntilActive(StreamName);
    const children = (await listShards(StreamName)).filter(
      ({ ParentShardId }) => ParentShardId === parent.ShardId,
    );
    expect(children).toHaveLength(2);
    expect(children.map(({ HashKeyRange }) => HashKeyRange?.StartingHashKey)).toEqual([
      '0',
      middleOf(parent),
    ]);
  });

  it('ends a closed shard with a null iterator that names its children', async () => {
    const StreamName = await createStream(1);
    const [parent] = (await listShards(StreamName)) as [Shard];
    const shard = parent.ShardId ?? '';
    const [last] = await putAll(StreamName, ['last']);
    await client.send(
      new SplitShardCommand({
        StreamName,
        ShardToSplit: shard,
        NewStartingHashKey: middleOf(parent),
      }),
    );
    await waitUntilActive(StreamName);
    const children = (await listShards(StreamName)).slice(1).map(({ ShardId }) => ShardId);
    let page = await readPage(StreamName, shard, { type: 'TRIM_HORIZON' });
    const values = valuesOf(page);
    while (typeof page.NextShardIterator === 'string') {
      page = await client.send(new GetRecordsCommand({ ShardIterator: page.NextShardIterator }));
      values.push(...valuesOf(page));
    }
    expect(values).toEqual(['last']);
    expect(page.ChildShards?.map(({ ShardId }) => ShardId)).toEqual(children);
    expect(page.ChildShards?.map(({ ParentShards }) => ParentShards)).toEqual([[shard], [shard]]);

    const [next] = await putAll(StreamName, ['child']);
    expect(BigInt(next ?? 0)).toBeGreaterThan(BigInt(last ?? 0));
  });

  it('merges two shards into one that names both parents', async () => {
    const StreamName = await createStream(2);
    const [left, right] = (await listShards(StreamName)) as [Shard, Shard];
    await client.send(
      new MergeShardsCommand({
        StreamName,
        ShardToMerge: left.ShardId,
        AdjacentShardToMerge: right.ShardId,
      }),
    );
    await waitUntilActive(StreamName);
    const child = (await listShards(StreamName)).at(-1);
    expect([child?.ParentShardId, child?.AdjacentParentShardId].sort()).toEqual(
      [left.ShardId, right.ShardId].sort(),
    );
    const end = await readPage(StreamName, left.ShardId ?? '', { type: 'TRIM_HORIZON' });
    expect(end.NextShardIterator ?? null).toBeNull();
    expect(end.ChildShards?.map(({ ShardId }) => ShardId)).toEqual([child?.ShardId]);
  });

  it('doubles the shards on request', async () => {
    const StreamName = await createStream(2);
    await client.send(
      new UpdateShardCountCommand({
        StreamName,
        TargetShardCount: 4,
        ScalingType: 'UNIFORM_SCALING',
      }),
    );
    await waitUntilActive(StreamName);
    const open = await client.send(
      new ListShardsCommand({ StreamName, ShardFilter: { Type: 'AT_LATEST' } }),
    );
    expect(open.Shards).toHaveLength(4);
  });
});

describe('the process', () => {
  // Other systems have one loopback address only.
  const onLinux = it.runIf(process.platform === 'linux');
  onLinux('listens on 127.0.0.1 only, so that its port is free elsewhere', async () => {
    const port = Number(new URL(kinesis.endpoint).port);
    const other = createServer();
    await new Promise<void>((resolve, reject) => {
      other.once('error', reject);
      other.listen(port, '127.0.0.2', resolve);
    });
    await new Promise((resolve) => other.close(resolve));
  });

  it('starts twice at once, with streams of its own each', async () => {
    const others = await Promise.all([startKinesis(), startKinesis()]);
    onTestFinished(async () => {
      await Promise.all(others.map((other) => other.stop()));
    });
    const StreamName = await createStream(1);
    for (const other of others) {
      const otherClient = connectKinesis(other);
      const describe = new DescribeStreamSummaryCommand({ StreamName });
      expect((await failureOf(otherClient.send(describe))).name).toBe('ResourceNotFoundException');
      otherClient.destroy();
    }
  });

  it('is gone after stop, which may be called again', async () => {
    const other = await startKinesis();
    expect(isAlive(other.pid)).toBe(true);
    await other.stop();
    expect(isAlive(other.pid)).toBe(false);
    await other.stop();
  });

  it('is gone when the process that started it is killed', async () => {
    const module = fileURLToPath(
      new URL('../../../localstack/embedded/emulators/kinesis.ts', import.meta.url),
    );
    const script = `
      const { startKinesis } = await import(${JSON.stringify(module)});
      process.stdout.write(String((await startKinesis()).pid));`;
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve, reject) => {
      starter.once('error', reject);
      starter.once('exit', () => reject(new Error('ended before it had started anything')));
      starter.stdout.once('data', (text: Buffer) => resolve(Number(text.toString())));
    });
    expect(isAlive(pid)).toBe(true);
    starter.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 30_000 }).toBe(false);
  });

  it('that dies while it starts is reported with its last output', async () => {
    const error = await failureOf(startKinesis({ shardsMax: Number.NaN }));
    expect(error.message).toMatch(
      /^kinesis-local exited with code \d+ before it listened; .*output: ./s,
    );
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
