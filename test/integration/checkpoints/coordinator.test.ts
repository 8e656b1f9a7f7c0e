import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StreamJob } from '../../../infra/stream-job.ts';
import { provisionedStream } from '../../../infra/stream-source.ts';
import type { EmbeddedAws } from '../../../localstack/embedded/embedded-aws.ts';
import type { ServiceClients } from '../../../localstack/embedded/service-clients.ts';
import type { Manifest } from '../../../shared/core/manifest.ts';
import type { ManifestReference } from '../../../shared/core/registry.ts';
import { startJobAws, type JobAws } from '../embedded/start-job-aws.ts';
import { counting } from '../embedded/scheduler/counting-operator.ts';

const cli = fileURLToPath(new URL('../../../cli/holdfast.mjs', import.meta.url));
const entry = fileURLToPath(new URL('../embedded/scheduler/counting-handler.ts', import.meta.url));
const users = Array.from({ length: 24 }, (_, at) => `user-${at}`);

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
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return {
    Stream: job.stream.streamName,
    Control: job.controlTable.tableName,
    Bucket: job.bucket.bucketName,
    Operator: job.operatorFunction(counting.id).functionName,
    Coordinator: job.coordinatorFunction.functionName,
  };
}

describe('checkpoints of a job on the embedded AWS', () => {
  let started: JobAws;
  let aws: EmbeddedAws;
  let clients: ServiceClients;

  beforeAll(async () => {
    started = await startJobAws('Counting', addJob, { scheduleSpeed: 0 });
    ({ aws, clients } = started);
  });

  afterAll(() => started?.stop());

  async function putEvents(): Promise<void> {
    const Records = users.map((user) => ({
      PartitionKey: user,
      Data: Buffer.from(JSON.stringify({ user, at: Date.now() })),
    }));
    const StreamName = aws.outputs['Stream']!;
    const reply = await clients.kinesis.send(new PutRecordsCommand({ StreamName, Records }));
    expect(reply.FailedRecordCount ?? 0).toBe(0);
    await aws.mappings[0]!.whenIdle();
  }

  /** Runs a command against the endpoints of the embedded AWS. */
  function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [cli, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_ENDPOINT_URL_DYNAMODB: aws.endpoints.dynamodb,
        AWS_ENDPOINT_URL_S3: aws.endpoints.s3,
        AWS_ENDPOINT_URL_LAMBDA: aws.endpoints.lambda,
        ...env,
      },
    });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
    return new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, ...said }));
    });
  }

  const place = () => [
    ...['--job', 'counting', '--region', aws.region],
    ...['--control-table', aws.outputs['Control']!, '--bucket', aws.outputs['Bucket']!],
  ];

  it('are made by the coordinator when its schedule is due, and told by holdfast', async () => {
    await putEvents();
    const [schedule] = aws.schedules.list();
    const { result } = await aws.schedules.fire(schedule!.name);
    expect(result, started.printed.join('\n')).toMatchObject({ kind: 'success' });
    const listed = await run(['checkpoint', 'list', ...place(), '--json']);
    expect(listed).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(listed.out)).toMatchObject([
      { kind: 'checkpoint', number: 1, generation: 1, isExact: true, pinnedBy: [] },
    ]);
    const shown = await run(['checkpoint', 'show', '1', ...place(), '--json']);
    const { manifest } = JSON.parse(shown.out) as { manifest: Manifest };
    expect(manifest.operators).toMatchObject([{ id: counting.id }]);
    expect(manifest.channels).toHaveLength(2);
    expect(started.printed.join('\n')).toContain('"checkpointsCompleted":1');
  });

  it('are made by hand at any time', async () => {
    const functions = ['--operator-function', `${counting.id}=${aws.outputs['Operator']}`];
    const { code, out, err } = await run([
      ...['checkpoint', 'trigger', ...place(), ...functions, '--json'],
    ]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out) as ManifestReference).toMatchObject({ kind: 'checkpoint', number: 2 });
    const text = await run(['checkpoint', 'list', ...place()]);
    const [heading, ...rows] = text.out.trim().split('\n');
    expect(heading).toMatch(/^NUMBER {2}GENERATION {2}KIND +COMPLETE SINCE +SIZE {2}EXACT/);
    expect(rows).toHaveLength(2);
    expect(rows[1]).toMatch(/^ {5}2 {11}1 {2}checkpoint {2}\d{4}-/);
    expect(rows[1]).not.toContain('\u001b');
  });

  it('find their operators at hand: they describe themselves and visit their channels', async () => {
    const ask = async (order: unknown): Promise<unknown> => {
      const result = await aws.functions.invoke(aws.outputs['Operator']!, order);
      if (result.kind !== 'success') throw new Error(JSON.stringify(result));
      return JSON.parse(result.payload) as unknown;
    };
    expect(await ask({ holdfast: 'describe' })).toMatchObject({
      holdfast: 'contract',
      contract: { id: counting.id },
    });
    await putEvents();
    const visit = { holdfast: 'visit', shardId: 'shardId-000000000000', goal: { kind: 'tip' } };
    expect(await ask(visit)).toMatchObject({
      holdfast: 'report',
      report: { isThere: true, isFinished: false, records: 0 },
    });
    // Under a hold that the job does not have nothing is done.
    expect(await ask({ ...visit, hold: 'h1' })).toMatchObject({
      report: { isThere: false, isStuck: false },
    });
    expect(await ask({ ...visit, goal: { kind: 'moon' } })).toMatchObject({
      holdfast: 'failure',
      kind: 'invalid',
    });
  });

  it('are part of what holdfast tells of the job', async () => {
    const json = await run(['status', ...place(), '--json']);
    expect(json).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(json.out)).toMatchObject({
      job: 'counting',
      status: 'running',
      generation: 1,
      isWell: true,
      checkpoints: { last: { number: 2 }, retained: 2, savepoints: 0, pending: [], failures: 0 },
      channels: [{ isFinished: false }, { isFinished: false }],
    });
    const text = await run(['status', ...place()]);
    expect(text.out).toMatch(/last checkpoint {2}2, \d+ s ago, [\d.]+ kB/);
    expect(text.out).toMatch(/^CHANNEL +STATE +LAG +LAST COMMIT +WATERMARK$/m);
  });

  it('cannot be told of a job that is not there, nor of a checkpoint that is not', async () => {
    const other = ['--job', 'other', ...place().slice(2)];
    const status = await run(['status', ...other]);
    expect(status).toMatchObject({ code: 1, out: '' });
    expect(status.err).toMatch(/^holdfast: job other has no item in control table/);
    const shown = await run(['checkpoint', 'show', '77', ...place()]);
    expect(shown).toMatchObject({
      code: 1,
      out: '',
      err: 'holdfast: job counting has no checkpoint 77; list what there is with: holdfast checkpoint list\n',
    });
  });

  it('need to be asked for rightly', async () => {
    expect(await run(['status'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("required option '--job <name>' not specified") as string,
    });
    expect(await run(['checkpoint', 'show', 'last', ...place()])).toMatchObject({
      code: 2,
      err: expect.stringContaining('expected a whole number from 1') as string,
    });
    // By variables as well as by flags.
    const env = {
      HOLDFAST_JOB: 'counting',
      HOLDFAST_CONTROL_TABLE: aws.outputs['Control']!,
      HOLDFAST_BUCKET: aws.outputs['Bucket']!,
      AWS_REGION: aws.region,
    };
    expect(await run(['status'], env)).toMatchObject({ code: 0 });
  });
});
