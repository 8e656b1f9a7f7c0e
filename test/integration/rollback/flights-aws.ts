import { fileURLToPath } from 'node:url';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import { type App, Duration, RemovalPolicy, type Stack, Stage } from 'aws-cdk-lib/core';
import { expect } from 'vitest';
import { delayReports } from '../../../cli/demo/delay-reports.ts';
import { endStream } from '../../../cli/demo/feed-stream.ts';
import { readFlights, type Flight } from '../../../cli/demo/flights.ts';
import { flightDelays } from '../../../functions/flight-delays/operator.ts';
import { StreamJob } from '../../../infra/stream-job.ts';
import { provisionedStream } from '../../../infra/stream-source.ts';
import type { EmbeddedAwsOptions } from '../../../localstack/embedded/embedded-aws.ts';
import { seededRandom } from '../../../shared/core/random.ts';
import { startCli } from '../demo/run-cli.ts';
import { listJobOutputs, workflowEnvironment } from '../embedded/job-outputs.ts';
import { startJobAws, type JobAws } from '../embedded/start-job-aws.ts';
import { deployCode } from './deploy-code.ts';
import type { PutFlight } from './flight-history.ts';

const entry = fileURLToPath(
  new URL('../../../functions/flight-delays/handler.ts', import.meta.url),
);

export const flightsJob = 'flight-delays';

/** The embedded AWS with the job of the demonstration, and flights to put. */
export interface FlightsAws extends JobAws {
  output(name: string): string;
  /** What was put so far, in order. */
  readonly puts: readonly PutFlight[];
  /** Puts the next flights, as far as there are some. Calls wait for each other. */
  put(count: number): Promise<void>;
  /** Puts all that are left, ends the stream, and waits until everything is processed. */
  finish(): Promise<void>;
  /** Resolves when everything that was put is acknowledged. */
  whenDone(): Promise<void>;
  /** Where the command line finds the services, and no more. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the stack was synthesized to. */
  readonly cdkOut: string;
  /** Runs a command that must succeed, and gives what it prints as JSON. */
  ask(...args: string[]): Promise<Record<string, unknown>>;
  /** Replaces the code of the operator's function; no process of the old one is left. */
  deploy(handler: string): void;
}

export interface FlightsOptions extends Pick<EmbeddedAwsOptions, 'seed'> {
  readonly flights: number;
}

/** Late departures alone, so that there are many alerts; each is reported some hours after it. */
function chooseFlights(count: number): Flight[] {
  const late = readFlights().filter(({ delay }) => delay > 15);
  return delayReports(late.slice(0, count), seededRandom('rollback'));
}

function addJob(stack: Stack): Record<string, string> {
  const job = new StreamJob(stack, 'Job', {
    jobName: flightsJob,
    source: provisionedStream({ shards: 2 }),
    operators: [
      {
        id: flightDelays.id,
        entry,
        sinks: { airports: 'upsert', alerts: 'append', hours: 'append', late: 'append' },
        // Many small units, so that cuts fall where they can.
        batchSize: 100,
        batchingWindow: Duration.seconds(0),
        memorySize: 256,
      },
    ],
    maxParallelism: 8,
    checkpointing: { retained: 1 },
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return {
    ...listJobOutputs(job, flightDelays.id),
    Airports: job.sinkTable('airports').tableName,
    Alerts: job.sinkTable('alerts').tableName,
    Hours: job.sinkTable('hours').tableName,
    Late: job.sinkTable('late').tableName,
    Coordinator: job.coordinatorFunction.functionName,
  };
}

export async function startFlightsAws(options: FlightsOptions): Promise<FlightsAws> {
  const { flights: count, ...embedded } = options;
  const flights = chooseFlights(count);
  let cdkOut = '';
  const started = await startJobAws(
    'Flights',
    (stack) => {
      cdkOut = (Stage.of(stack) as App).outdir;
      return addJob(stack);
    },
    // The coordinator is called by hand.
    { ...embedded, stateMachineSpeed: 10, scheduleSpeed: 0 },
  );
  const { aws, clients } = started;
  const output = (name: string): string => aws.outputs[name]!;
  const puts: PutFlight[] = [];
  let earlier = Promise.resolve();

  const putNow = async (some: readonly Flight[]): Promise<void> => {
    if (some.length === 0) return;
    const reply = await clients.kinesis.send(
      new PutRecordsCommand({
        StreamName: output('Stream'),
        Records: some.map((flight) => ({
          PartitionKey: flight.origin,
          Data: Buffer.from(JSON.stringify(flight)),
        })),
      }),
    );
    if (reply.FailedRecordCount !== 0) throw new Error('the stream took only a part');
    for (const [at, { ShardId, SequenceNumber }] of reply.Records!.entries()) {
      const place = { shardId: ShardId!, sequence: BigInt(SequenceNumber!) };
      puts.push({ flight: some[at]!, ...place });
    }
  };
  const put = (most: number): Promise<void> => {
    earlier = earlier.then(() => putNow(flights.slice(puts.length, puts.length + most)));
    return earlier;
  };
  const whenDone = (): Promise<void> => aws.mappings[0]!.whenIdle({ timeoutMs: 200_000 });

  const workflows = workflowEnvironment(aws, output);
  const environment = {
    ...Object.fromEntries(Object.entries(workflows).filter(([name]) => name.startsWith('AWS_'))),
    AWS_ENDPOINT_URL_DYNAMODB: aws.endpoints.dynamodb,
    AWS_ENDPOINT_URL_KINESIS: aws.endpoints.kinesis,
    AWS_ENDPOINT_URL_S3: aws.endpoints.s3,
  };

  return {
    ...started,
    ...{ output, puts, put, whenDone, environment, cdkOut },
    async finish() {
      while (puts.length < flights.length) await put(250);
      await endStream(clients.kinesis, output('Stream'));
      await whenDone();
    },
    async ask(...args) {
      const { printed, ended } = startCli([...args, '--json'], {
        env: {
          ...workflows,
          ...environment,
          HOLDFAST_JOB: flightsJob,
          HOLDFAST_CONTROL_TABLE: output('Control'),
          HOLDFAST_BUCKET: output('Bucket'),
          HOLDFAST_OPERATOR_FUNCTIONS: JSON.stringify({ [flightDelays.id]: output('Operator') }),
        },
      });
      const code = await ended;
      expect(code, `${printed.err}\n${started.printed.slice(-20).join('\n')}`).toBe(0);
      return JSON.parse(printed.out) as Record<string, unknown>;
    },
    deploy: (handler) => deployCode(aws, output('Operator'), cdkOut, handler),
  };
}
