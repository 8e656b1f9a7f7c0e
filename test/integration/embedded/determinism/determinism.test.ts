import { fileURLToPath } from 'node:url';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFunctionMetrics } from '../../../../cli/demo/function-metrics.ts';
import { StreamJob } from '../../../../infra/stream-job.ts';
import { provisionedStream } from '../../../../infra/stream-source.ts';
import type { EmbeddedAws } from '../../../../localstack/embedded/embedded-aws.ts';
import type { ServiceClients } from '../../../../localstack/embedded/service-clients.ts';
import { startJobAws, type JobAws } from '../start-job-aws.ts';
import type { CarelessEvent } from './careless-operator.ts';

const entry = fileURLToPath(new URL('./careless-handler.ts', import.meta.url));

/** Two jobs of one operator, bundled as for AWS; the second has in its template what production has by default. */
function addJobs(stack: Stack): Record<string, string> {
  const outputs: Record<string, string> = {};
  for (const name of ['local', 'lenient']) {
    const job = new StreamJob(stack, name, {
      jobName: name,
      source: provisionedStream({ shards: 1 }),
      operators: [
        { id: 'careless', entry, sinks: { rows: 'append' }, batchingWindow: Duration.seconds(0) },
      ],
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const operator = job.operatorFunction('careless');
    if (name === 'lenient') operator.addEnvironment('HOLDFAST_DETERMINISM', 'count');
    const own = {
      Stream: job.stream.streamName,
      Function: operator.functionName,
      Rows: job.sinkTable('rows').tableName,
      DeadLetters: job.deadLetterTable.tableName,
    };
    for (const [what, value] of Object.entries(own)) outputs[`${name}${what}`] = value;
  }
  return outputs;
}

describe('an operator that is not deterministic', () => {
  let started: JobAws;
  let aws: EmbeddedAws;
  let clients: ServiceClients;

  beforeAll(async () => {
    started = await startJobAws('Careless', addJobs);
    ({ aws, clients } = started);
  });

  afterAll(() => started?.stop());

  const output = (job: string, what: string): string => aws.outputs[`${job}${what}`]!;

  async function process(job: string, events: readonly CarelessEvent['does'][]): Promise<void> {
    const Records = events.map((does) => ({
      PartitionKey: 'd1',
      Data: Buffer.from(JSON.stringify({ device: 'd1', does })),
    }));
    const StreamName = output(job, 'Stream');
    await clients.kinesis.send(new PutRecordsCommand({ StreamName, Records }));
    const { arn } = aws.functions.get(output(job, 'Function'));
    await aws.mappings.find(({ functionArn }) => functionArn === arn)!.whenIdle();
  }

  /** One column of a table's rows, in order. */
  async function read(job: string, table: 'Rows' | 'DeadLetters', column: string) {
    const rows: Record<string, unknown>[] = [];
    const input = { TableName: output(job, table), ConsistentRead: true };
    for await (const page of paginateScan({ client: clients.dynamodb }, input)) {
      rows.push(...(page.Items ?? []).map((item) => unmarshall(item)));
    }
    rows.sort((a, b) => (String(a['sk']) < String(b['sk']) ? -1 : 1));
    return rows.map((row) => row[column]);
  }

  it('is caught locally, in its bundle, with the events that make it so', async () => {
    await process('local', ['nothing', 'date', 'log', 'dice', 'swallow', 'file', 'nothing']);
    expect(await read('local', 'Rows', 'does')).toEqual(['nothing', 'log', 'nothing']);
    expect(await read('local', 'Rows', 'events')).toEqual([1, 2, 3]);
    const letters = await read('local', 'DeadLetters', 'message');
    expect(letters).toEqual(
      [
        "new Date() inside operator careless: use ctx.now(), the event's arrival time",
        "Math.random() inside operator careless: use ctx.random(), which is seeded by the event's key and position",
        "Date.now() inside operator careless: use ctx.now(), the event's arrival time",
        'fs.readFileSync() inside operator careless: a replay may find another file; read it when the module loads, or put it into the event',
      ].map((message) => expect.stringContaining(message) as string),
    );
    expect(new Set(await read('local', 'DeadLetters', 'reason'))).toEqual(
      new Set(['operator-failed']),
    );
  });

  it('is counted where the template says so, and each kind of call is logged once', async () => {
    const events: CarelessEvent['does'][] = ['date', 'nothing', 'dice', 'log', 'date'];
    await process('lenient', events);
    expect(await read('lenient', 'Rows', 'does')).toEqual(events);
    expect(await read('lenient', 'DeadLetters', 'message')).toEqual([]);
    const lines = started.printed.filter((line) => line.includes('"job":"lenient"'));
    const metrics = createFunctionMetrics();
    for (const line of lines) metrics.readLine(line);
    expect(metrics.totals.nonDeterministicCalls).toBe(3);
    const calls = lines.filter((line) => line.includes('inside operator careless'));
    expect(calls.map((line) => /"call":"([^"]+)"/.exec(line)?.[1])).toEqual([
      'new Date()',
      'Math.random()',
    ]);
    expect(calls[0]).toContain('careless-operator.ts');
  });
});
