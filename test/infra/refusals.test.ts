import { rmSync } from 'node:fs';
import { Duration, Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { StreamJob } from '../../infra/stream-job.ts';
import type { OperatorProps, StreamJobProps } from '../../infra/stream-job-props.ts';
import { onDemandStream, provisionedStream } from '../../infra/stream-source.ts';
import { ConfigurationError } from '../../shared/config/configuration-error.ts';
import { createApp, createJob, operatorProps } from './synthesize-job.ts';

function refusal(props: Partial<StreamJobProps>): ConfigurationError {
  try {
    createJob(props);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const NAME = 'a to z, 0 to 9 and "-", a letter first, at most 63 characters';

const OPERATOR_REFUSALS: readonly (readonly [string, Partial<OperatorProps>, string])[] = [
  [
    'an operator id',
    { id: 'Delays' },
    `operators[0].id: got "Delays", expected ${NAME}; rename the operator`,
  ],
  [
    'a sink name',
    { sinks: { Airports: 'upsert' } },
    `operators[0].sinks.Airports: got "Airports", expected ${NAME}; rename the sink`,
  ],
  [
    'a batch size',
    { batchSize: 10_001 },
    'operators[0].batchSize: got 10001, expected a whole number of records from 1 to 10000 (Lambda hands over at most 10,000 records (and 6 MB) at once); choose a value in the range',
  ],
  [
    'a batching window',
    { batchingWindow: Duration.seconds(301) },
    'operators[0].batchingWindowSeconds: got 301, expected a whole number of seconds from 0 to 300 (Lambda waits at most five minutes for a batch to fill); choose a value in the range',
  ],
  [
    'a window that is no whole second',
    { batchingWindow: Duration.millis(500) },
    'operators[0].batchingWindowSeconds: got 0.5, expected a whole number of seconds',
  ],
  [
    'a timeout',
    { timeout: Duration.minutes(16) },
    'operators[0].timeoutSeconds: got 960, expected a whole number of seconds from 3 to 900',
  ],
  [
    'a memory size',
    { memorySize: 64 },
    'operators[0].memorySizeMb: got 64, expected a whole number of MB from 128 to 10240 (Lambda sells 128 to 10,240 MB); choose a value in the range',
  ],
  [
    'an entry that is no module',
    { entry: 'delays.py' },
    'operators[0].entry: got "delays.py", expected the path of a .ts, .mts, .js or .mjs file that exports `handler`; name the file of the operator',
  ],
];

const JOB_REFUSALS: readonly (readonly [string, Partial<StreamJobProps>, string])[] = [
  [
    'a job name',
    { jobName: 'flights_2' },
    `jobName: got "flights_2", expected ${NAME}; rename the job`,
  ],
  [
    'a number of key groups',
    { maxParallelism: 100 },
    'maxParallelism: got 100, expected a power of two from 1 to 32768 (key groups are equal ranges of the key hash); choose the next power of two',
  ],
  [
    'no shard at all',
    { source: provisionedStream({ shards: 0 }) },
    'source.shards: got 0, expected a whole number of shards from 1 to 20000',
  ],
  [
    'a retention that Kinesis does not offer',
    { source: onDemandStream({ retention: Duration.hours(12) }) },
    'source.retentionHours: got 12, expected a whole number of hours from 24 to 8760 (Kinesis keeps records for one day to one year); choose a value in the range',
  ],
  [
    'a job without operators',
    { operators: [] },
    'operators: got 0, expected a whole number of operators from 1 to 4',
  ],
  [
    'two operators with one id',
    { operators: [operatorProps(), operatorProps()] },
    'operators[1].id: got "delays", expected an id that no other operator of the job has (state is kept under it); rename one of the two; renaming one that has run abandons its state',
  ],
  [
    'one sink of two operators',
    {
      operators: [
        operatorProps({ sinks: { rows: 'append' } }),
        operatorProps({ id: 'routes', sinks: { rows: 'append' } }),
      ],
    },
    'operators[1].sinks.rows: got "rows", expected a sink name that no other operator of the job has (each sink has one writer); give each operator a sink of its own',
  ],
  [
    'a clone of another stream than that of the job that is cloned',
    { cloneOf: clonedAs('first') },
    'source: got a new stream (provisioned), expected the stream of the job that is cloned; take it with existingStream(job.stream, …)',
  ],
];

function clonedAs(jobName: string): NonNullable<StreamJobProps['cloneOf']> {
  return {
    jobName,
    bucket: {
      bucketName: 'checkpoints',
      bucketArn: 'arn:aws:s3:::checkpoints',
      arnForObjects: (pattern) => `arn:aws:s3:::checkpoints/${pattern}`,
    },
    controlTable: {
      tableName: 'control',
      tableArn: 'arn:aws:dynamodb:eu-central-1:123456789012:table/control',
    },
  };
}

describe('a stream job', () => {
  it.each([
    ['itself', 'flights', 'cloneOf: got "flights", expected another job; give the clone a jobName'],
    ['a job that none can be', 'Flights', 'cloneOf: got "Flights", expected a to z'],
  ])('refuses a clone of %s', (_, jobName, message) => {
    const error = refusal({ source: provisionedStream({ shards: 1 }), cloneOf: clonedAs(jobName) });
    // The stream is a new one, too.
    expect(error.problems).toHaveLength(2);
    expect(error.message).toContain(message);
  });

  it.each(OPERATOR_REFUSALS)('refuses %s', (_, changes, message) => {
    const error = refusal({ operators: [operatorProps(changes)] });
    expect(error.problems).toHaveLength(1);
    expect(error.message).toContain(`[Test/Job] StreamJob: one problem\n  - ${message}`);
  });

  it.each(JOB_REFUSALS)('refuses %s', (_, changes, message) => {
    const error = refusal(changes);
    expect(error.problems).toHaveLength(1);
    expect(error.message).toContain(`[Test/Job] StreamJob: one problem\n  - ${message}`);
  });

  it.each([
    ['parallelizationFactor', 10],
    ['filters', [{ pattern: '{}' }]],
    ['enhancedFanOut', true],
    ['startingPosition', 'LATEST'],
    ['retryAttempts', 5],
    ['maxRecordAge', Duration.hours(1)],
    ['bisectBatchOnError', true],
    ['tumblingWindow', Duration.minutes(1)],
    ['onFailure', {}],
  ])('refuses the setting %s, also where nobody checks types', (setting, value) => {
    const error = refusal({ operators: [{ ...operatorProps(), [setting]: value }] });
    expect(error.problems.map(({ name }) => name)).toEqual([`operators[0].${setting}`]);
    expect(error.message).toContain('expected no such property');
  });

  it('refuses a prop that is misspelt', () => {
    const misspelt = { maxParalelism: 64 } as Partial<StreamJobProps>;
    expect(refusal(misspelt).message).toContain(
      'maxParalelism: got 64, expected no such property; correct its spelling or remove it',
    );
  });

  it('refuses an entry that is no file, together with everything else', () => {
    const app = createApp();
    const create = () =>
      new StreamJob(new Stack(app, 'Test'), 'Job', {
        jobName: 'Flights',
        source: provisionedStream({ shards: 2 }),
        operators: [operatorProps({ entry: 'functions/nowhere/handler.ts' })],
      });
    expect(create).toThrow(
      /2 problems\n {2}- jobName: .*\n {2}- operators\[0\]\.entry: got "functions\/nowhere\/handler\.ts", expected a file that exists; correct the path/,
    );
    rmSync(app.outdir, { recursive: true });
  });

  it.each([undefined, null, 'delays', [null], [undefined, 7]])(
    'refuses %j for operators with a list of problems',
    (operators) => {
      const app = createApp();
      const props = { jobName: 'flights', source: provisionedStream({ shards: 2 }), operators };
      const create = () =>
        new StreamJob(new Stack(app, 'Test'), 'Job', props as unknown as StreamJobProps);
      expect(create).toThrow(ConfigurationError);
      rmSync(app.outdir, { recursive: true });
    },
  );

  it('tells all problems in one error', () => {
    const error = refusal({
      jobName: 'Flights',
      maxParallelism: 3,
      operators: [operatorProps({ batchSize: 0 }), operatorProps({ memorySize: 1 })],
    });
    expect(error.message).toContain('[Test/Job] StreamJob: 5 problems');
    expect(error.problems.map(({ name }) => name)).toEqual([
      'jobName',
      'maxParallelism',
      'operators[0].batchSize',
      'operators[1].memorySizeMb',
      'operators[1].id',
    ]);
  });
});
