import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  KinesisClient,
} from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startKinesis,
  type KinesisEmulator,
} from '../../../localstack/embedded/emulators/kinesis.ts';
import { createKinesisShardReader } from '../../../shared/adapters/kinesis/kinesis-shard-reader.ts';
import { nodeSystem } from '../../../shared/adapters/system/node-system.ts';
import { decodeHeartbeat } from '../../../shared/core/heartbeat.ts';
import { endOfStreamMs } from '../../../shared/operator/windows/windowing.ts';
import { pollUntil } from '../embedded/poll-until.ts';

const cli = fileURLToPath(new URL('../../../cli/holdfast.mjs', import.meta.url));
const connection = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

describe('holdfast flush', () => {
  let emulator: KinesisEmulator;
  let client: KinesisClient;

  beforeAll(async () => {
    emulator = await startKinesis();
    client = new KinesisClient({
      ...connection,
      endpoint: emulator.endpoint,
      requestHandler: new NodeHttpHandler(),
    });
  });

  afterAll(async () => {
    client?.destroy();
    await emulator?.stop();
  });

  async function createStream(ShardCount: number): Promise<string> {
    const StreamName = `stream-${randomUUID()}`;
    await client.send(new CreateStreamCommand({ StreamName, ShardCount }));
    await pollUntil('the stream', async () => {
      const reply = await client.send(new DescribeStreamSummaryCommand({ StreamName }));
      return reply.StreamDescriptionSummary?.StreamStatus === 'ACTIVE' ? true : undefined;
    });
    return StreamName;
  }

  /** Times of the heartbeats in each shard of a stream; undefined for any other record. */
  async function readHeartbeats(stream: string): Promise<(number | undefined)[][]> {
    const reader = createKinesisShardReader({ client, stream, system: nodeSystem });
    const shards: (number | undefined)[][] = [];
    for (const { shardId } of await reader.listShards()) {
      const times: (number | undefined)[] = [];
      for await (const page of reader.read(shardId, undefined)) {
        times.push(...page.records.map(({ data }) => decodeHeartbeat(data)));
        if (page.isAtTip) break;
      }
      shards.push(times);
    }
    return shards;
  }

  /** Runs the command; `answer` is all of its standard input. */
  function run(args: readonly string[], answer = '') {
    const child = spawn(process.execPath, [cli, 'flush', ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        AWS_REGION: connection.region,
        AWS_ACCESS_KEY_ID: connection.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: connection.credentials.secretAccessKey,
        AWS_ENDPOINT_URL_KINESIS: emulator.endpoint,
      },
    });
    const printed = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (printed.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (printed.err += chunk.toString()));
    // Who does not read its input closes it; that is no failure here.
    child.stdin.on('error', () => undefined);
    child.stdin.end(answer);
    return new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, ...printed }));
    });
  }

  it('puts the end of time into every open shard', async () => {
    const stream = await createStream(3);
    const { code, out } = await run(['--stream', stream, '--yes', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ stream, shards: 3, time: endOfStreamMs });
    expect(await readHeartbeats(stream)).toEqual([
      [endOfStreamMs],
      [endOfStreamMs],
      [endOfStreamMs],
    ]);
  });

  it('asks first, and says what it is about to end', async () => {
    const stream = await createStream(1);
    const { code, out, err } = await run(['--stream', stream], 'y\n');
    expect(err).toContain(
      `This ends event time in one open shard of stream ${stream}, for ever: all windows close, and every event that is put later is late. Go on? [y/N]`,
    );
    expect(out).toContain(`event time has ended in one open shard of stream ${stream}`);
    expect(code).toBe(0);
    expect(await readHeartbeats(stream)).toEqual([[endOfStreamMs]]);
  });

  it.each([
    ['a no', 'n\n'],
    ['something else', 'sure\n'],
    ['an empty line', '\n'],
    ['no answer at all', ''],
  ])('puts nothing after %s', async (_, answer) => {
    const stream = await createStream(1);
    const { code, out, err } = await run(['--stream', stream, '--json'], answer);
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain('holdfast: nothing was put into the stream');
    expect(await readHeartbeats(stream)).toEqual([[]]);
  });

  it('does not ask about a stream that is not there', async () => {
    const { code, err } = await run(['--stream', 'nowhere'], 'y\n');
    expect(code).toBe(2);
    expect(err).toMatch(/^holdfast: cannot list the shards of stream nowhere: .*deploy the stream/);
    expect(err).not.toContain('Go on?');
  });

  it('needs to be told which stream', async () => {
    const { code, err } = await run(['--yes']);
    expect(code).toBe(2);
    expect(err).toContain("required option '--stream <name>' not specified");
  });
});
