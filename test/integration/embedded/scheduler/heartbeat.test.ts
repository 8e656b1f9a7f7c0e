import { fileURLToPath } from 'node:url';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamSummaryCommand,
  ListShardsCommand,
  PutRecordsCommand,
  SplitShardCommand,
} from '@aws-sdk/client-kinesis';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StreamJob } from '../../../../infra/stream-job.ts';
import { provisionedStream } from '../../../../infra/stream-source.ts';
import type { EmbeddedAws } from '../../../../localstack/embedded/embedded-aws.ts';
import type { ServiceClients } from '../../../../localstack/embedded/service-clients.ts';
import { startJobAws, type JobAws } from '../start-job-aws.ts';
import { pollUntil } from '../poll-until.ts';
import { counting, windowMs } from './counting-operator.ts';

const entry = fileURLToPath(new URL('./counting-handler.ts', import.meta.url));
/** Their hashes lie on both sides of every split below. */
const users = Array.from({ length: 24 }, (_, at) => `user-${at}`);

/** A job with heartbeats, bundled as for AWS. */
function addJob(stack: Stack): Record<string, string> {
  const job = new StreamJob(stack, 'Job', {
    jobName: 'counting',
    source: provisionedStream({ shards: 2 }),
    operators: [
      {
        id: counting.id,
        entry,
        sinks: { counts: 'append', late: 'append' },
        batchingWindow: Duration.seconds(0),
      },
    ],
    heartbeat: { every: Duration.minutes(1), behind: Duration.seconds(0) },
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return {
    Stream: job.stream.streamName,
    Counts: job.sinkTable('counts').tableName,
    Late: job.sinkTable('late').tableName,
    DeadLetters: job.deadLetterTable.tableName,
    Heartbeats: job.heartbeatFunction!.functionName,
  };
}

describe('a job with heartbeats on the embedded AWS', () => {
  let started: JobAws;
  let aws: EmbeddedAws;
  let clients: ServiceClients;

  beforeAll(async () => {
    started = await startJobAws('Counting', addJob, { scheduleSpeed: 0 });
    ({ aws, clients } = started);
  });

  afterAll(() => started?.stop());

  const whenIdle = () => aws.mappings[0]!.whenIdle();
  const beat = () =>
    aws.schedules.fire(
      aws.schedules.list().find(({ logicalId }) => logicalId.includes('Heartbeat'))!.name,
    );

  async function scan(table: 'Counts' | 'Late' | 'DeadLetters') {
    const rows: Record<string, unknown>[] = [];
    const input = { TableName: aws.outputs[table]!, ConsistentRead: true };
    for await (const page of paginateScan({ client: clients.dynamodb }, input)) {
      rows.push(...(page.Items ?? []).map((item) => unmarshall(item)));
    }
    return rows;
  }

  /** Three events of now for each user; gives the start of the window that they are in. */
  async function putEvents(): Promise<number> {
    const at = Date.now();
    const Records = users.flatMap((user) => {
      const record = { PartitionKey: user, Data: Buffer.from(JSON.stringify({ user, at })) };
      return [record, record, record];
    });
    const StreamName = aws.outputs['Stream']!;
    const reply = await clients.kinesis.send(new PutRecordsCommand({ StreamName, Records }));
    expect(reply.FailedRecordCount ?? 0).toBe(0);
    await whenIdle();
    return at - (at % windowMs);
  }

  /** The users whose window has closed, each as often as it has, with what it held. */
  async function closed(start: number): Promise<string[]> {
    const rows = (await scan('Counts')).filter((row) => row['start'] === start);
    return rows.map(({ pk, kind, events }) => `${String(pk)} ${String(kind)} ${String(events)}`);
  }

  /** Fires the schedule until every user's window has closed. */
  async function beatUntilClosed(start: number): Promise<string[]> {
    return pollUntil('all windows', async () => {
      expect(await beat()).toMatchObject({ attempts: 1, result: { kind: 'success' } });
      await whenIdle();
      const rows = await closed(start);
      return rows.length < users.length ? undefined : rows.sort();
    });
  }

  const everyUserOnce = users.map((user) => `${user} fire 3`).sort();

  const openShards = async () => {
    const StreamName = aws.outputs['Stream']!;
    const { Shards = [] } = await clients.kinesis.send(new ListShardsCommand({ StreamName }));
    return Shards.filter((one) => one.SequenceNumberRange?.EndingSequenceNumber === undefined);
  };

  /** Splits the first open shard in its middle. */
  async function split(): Promise<void> {
    const StreamName = aws.outputs['Stream']!;
    const [shard] = await openShards();
    const { StartingHashKey = '0', EndingHashKey = '0' } = shard?.HashKeyRange ?? {};
    const middle = (BigInt(StartingHashKey) + BigInt(EndingHashKey) + 1n) / 2n;
    await clients.kinesis.send(
      new SplitShardCommand({
        StreamName,
        ShardToSplit: shard?.ShardId,
        NewStartingHashKey: middle.toString(),
      }),
    );
    await pollUntil('the split', async () => {
      const { StreamDescriptionSummary: summary } = await clients.kinesis.send(
        new DescribeStreamSummaryCommand({ StreamName }),
      );
      return summary?.StreamStatus === 'ACTIVE' ? true : undefined;
    });
  }

  it('closes windows in shards in which nothing arrives, through the schedule of its template', async () => {
    const start = await putEvents();
    expect(await closed(start)).toEqual([]);
    expect(await beatUntilClosed(start)).toEqual(everyUserOnce);
    const line = started.printed.find((one) => one.includes('heartbeats put'));
    expect(JSON.parse(line!.slice(line!.indexOf('{')))).toMatchObject({
      level: 'info',
      job: 'counting',
      shards: 2,
    });
  });

  it('closes them in the children of a shard that was split while they were open', async () => {
    const start = await putEvents();
    await split();
    expect(await closed(start)).toEqual([]);
    expect(await beatUntilClosed(start)).toEqual(everyUserOnce);
    expect(await openShards()).toHaveLength(3);
    const lines = started.printed.filter((line) => line.includes('heartbeats put'));
    expect(lines.at(-1)).toContain('"shards":3');
  });

  it('closes them once when heartbeats come several times at once', async () => {
    const start = await putEvents();
    // The windows of now are over before the heartbeats, however fast this machine is.
    await pollUntil('the end', () => (Date.now() >= start + windowMs ? true : undefined));
    const runs = await Promise.all([beat(), beat(), beat()]);
    expect(runs.map(({ result }) => result.kind)).toEqual(['success', 'success', 'success']);
    await whenIdle();
    expect((await closed(start)).sort()).toEqual(everyUserOnce);
    await beat();
    await whenIdle();
    expect((await closed(start)).sort()).toEqual(everyUserOnce);
    expect(await scan('Late')).toEqual([]);
    expect(await scan('DeadLetters')).toEqual([]);
  });

  it('keeps what its heartbeats made late apart from what they did not', async () => {
    await beat();
    const late = { user: users[0]!, at: Date.now() - 10_000 };
    await clients.kinesis.send(
      new PutRecordsCommand({
        StreamName: aws.outputs['Stream']!,
        Records: [{ PartitionKey: late.user, Data: Buffer.from(JSON.stringify(late)) }],
      }),
    );
    await whenIdle();
    expect((await scan('Late')).map(({ pk, at }) => ({ user: pk, at }))).toEqual([late]);
  });
});
