import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Duration, type Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import type { CheckpointingProps, StreamJobProps } from '../../infra/stream-job-props.ts';
import { provisionedStream } from '../../infra/stream-source.ts';
import { metricsNamespace } from '../../shared/adapters/system/embedded-metrics.ts';
import { ConfigurationError } from '../../shared/config/configuration-error.ts';
import { readCoordinatorEnvironment } from '../../shared/config/coordinator-environment.ts';
import {
  createJob,
  listResources,
  listResourcesOfType,
  operatorProps,
  type Resource,
} from './synthesize-job.ts';

type Resources = Readonly<Record<string, Resource>>;

const one = (resources: Resources, type: string, prefix = 'JobCoordinator') => {
  const found = listResourcesOfType(resources, type).filter(({ logicalId }) =>
    logicalId.startsWith(prefix),
  );
  expect(found).toHaveLength(1);
  return found[0]!;
};

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Each right as `action on resource`. */
const rightsOf = (resources: Resources, prefix: string): string[] =>
  listResourcesOfType(resources, 'AWS::IAM::Policy')
    .filter(({ logicalId }) => logicalId.startsWith(prefix))
    .flatMap(
      ({ Properties }) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement,
    )
    .flatMap(({ Action, Resource: on }) =>
      [Action]
        .flat()
        .flatMap((action) => [on].flat().map((resource) => `${action} on ${showArn(resource)}`)),
    )
    .toSorted();

function showArn(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const node = resource as Record<string, [string, unknown[]] | [string, string]>;
  if (node['Fn::GetAtt']) return String(node['Fn::GetAtt'][0]);
  return (node['Fn::Join']?.[1] as unknown[]).map(showArn).join('');
}

const operators = [operatorProps(), operatorProps({ id: 'routes' })];
const { stack, job } = createJob({ operators });
const resources = listResources(stack);
const handler = one(resources, 'AWS::Lambda::Function');
const schedule = one(resources, 'AWS::Scheduler::Schedule');

const operatorIds = listResourcesOfType(resources, 'AWS::Lambda::Function')
  .map(({ logicalId }) => logicalId)
  .filter((logicalId) => logicalId.startsWith('JobOperator'));

describe('the coordinator of a stream job', () => {
  it('is given for alarms, with the metrics that it publishes', () => {
    expect(stack.resolve(job.coordinatorFunction.functionName)).toEqual({ Ref: handler.logicalId });
    for (const [metric, metricName] of [
      [job.metricCheckpointFailures(), 'checkpointFailures'],
      [job.metricCheckpointAge(), 'checkpointAgeMs'],
    ] as const) {
      expect(metric.toMetricConfig().metricStat).toMatchObject({
        namespace: metricsNamespace,
        metricName,
        statistic: 'Maximum',
        dimensions: [{ name: 'job', value: 'flights' }],
      });
    }
  });

  it('comes once a minute, and not before the job exists', () => {
    expect(schedule.Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
      Target: { Arn: { 'Fn::GetAtt': [handler.logicalId, 'Arn'] } },
    });
    const [registration] = listResourcesOfType(resources, 'Custom::HoldfastJob');
    expect(schedule.DependsOn).toContain(registration?.logicalId);
  });

  it('may read the job, write its registry, keep its objects and call its operators, no more', () => {
    expect(operatorIds).toHaveLength(2);
    expect(rightsOf(resources, 'JobCoordinatorHandler')).toEqual(
      [
        'dynamodb:GetItem on JobControlEED9BF57',
        'dynamodb:PutItem on JobControlEED9BF57',
        'dynamodb:Query on JobControlEED9BF57',
        'kinesis:DescribeStreamSummary on JobSource9BA4C48F',
        'kinesis:ListShards on JobSource9BA4C48F',
        ...operatorIds.map((logicalId) => `lambda:InvokeFunction on ${logicalId}`),
        'logs:CreateLogStream on JobCoordinatorHandlerLogs4AA292E1',
        'logs:PutLogEvents on JobCoordinatorHandlerLogs4AA292E1',
        's3:DeleteObject on JobCheckpoints2E60B73F/jobs/flights/*',
        's3:GetObject on JobCheckpoints2E60B73F/jobs/flights/*',
        's3:ListBucket on JobCheckpoints2E60B73F',
        's3:PutObject on JobCheckpoints2E60B73F/jobs/flights/*',
      ].toSorted(),
    );
  });

  it('is told of its job, its operators and its settings', () => {
    expect(readOf(resources)).toEqual({
      job: 'flights',
      controlTable: 'JobControlEED9BF57',
      bucket: 'jobcheckpoints2e60b73f',
      streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
      operatorFunctions: new Map([
        ['delays', operatorIds[0]],
        ['routes', operatorIds[1]],
      ]),
      checkpointing: {
        intervalSeconds: 60,
        timeoutSeconds: 600,
        minPauseSeconds: 0,
        maxConcurrent: 1,
        tolerableFailures: 0,
        retained: 5,
      },
      backup: undefined,
    });
  });

  it('keeps to the settings of the job', () => {
    const told = readOf(
      listResources(
        createJob({
          checkpointing: {
            interval: Duration.seconds(10),
            timeout: Duration.minutes(3),
            minPause: Duration.seconds(5),
            tolerableFailures: 3,
            retained: 10,
          },
        }).stack,
      ),
    );
    expect(told.checkpointing).toEqual({
      intervalSeconds: 10,
      timeoutSeconds: 180,
      minPauseSeconds: 5,
      maxConcurrent: 1,
      tolerableFailures: 3,
      retained: 10,
    });
  });

  it('gives a checkpoint three intervals where nobody says anything, and ten minutes at least', () => {
    const timeoutOf = (interval: Duration) =>
      readOf(listResources(createJob({ checkpointing: { interval } }).stack)).checkpointing
        .timeoutSeconds;
    expect(timeoutOf(Duration.seconds(199))).toBe(600);
    expect(timeoutOf(Duration.minutes(4))).toBe(720);
  });

  it('writes second copies only into the bucket that it is given, and deletes none', () => {
    const backed = listResources(
      createJob((scope: Stack) => ({
        checkpointing: { backup: { bucket: new Bucket(scope, 'Backup'), prefix: 'copies' } },
      })).stack,
    );
    const { logicalId } = one(backed, 'AWS::S3::Bucket', 'Backup');
    expect(
      rightsOf(backed, 'JobCoordinatorHandler').filter((right) => right.includes('Backup')),
    ).toEqual([
      `s3:GetObject on ${logicalId}/copies/jobs/flights/*`,
      `s3:ListBucket on ${logicalId}`,
      `s3:PutObject on ${logicalId}/copies/jobs/flights/*`,
    ]);
    expect(rightsOf(backed, 'JobStepsHandler').filter((right) => right.includes('Backup'))).toEqual(
      rightsOf(backed, 'JobCoordinatorHandler').filter((right) => right.includes('Backup')),
    );
    expect(readOf(backed).backup).toEqual({ bucket: logicalId.toLowerCase(), prefix: 'copies/' });
  });

  it('writes them beside the originals, too, under a prefix of their own', () => {
    const { backup, bucket } = readOf(
      listResources(createJob({ checkpointing: { backup: { prefix: 'backup/' } } }).stack),
    );
    expect(backup).toEqual({ bucket, prefix: 'backup/' });
  });

  it.each([
    [{}],
    [{ prefix: '' }],
    [{ prefix: 'jobs/copies/' }],
    [{ prefix: 'aws' }],
    [{ prefix: '/a' }],
  ])('refuses to write them where the originals are, or where nobody finds them: %j', (backup) => {
    expect(() => createJob({ checkpointing: { backup } })).toThrow(
      /checkpointing\.backup\.prefix: got .*, expected folders of letters/,
    );
  });
});

/** The environment of the coordinator, with references replaced by names that AWS could have given. */
function readOf(of: Resources) {
  const { Properties } = one(of, 'AWS::Lambda::Function');
  const { Variables } = Properties['Environment'] as { Variables: Record<string, unknown> };
  const resolve = (value: unknown): string => {
    if (typeof value === 'string') return value;
    const node = value as Record<string, unknown>;
    if (typeof node['Ref'] === 'string') {
      const isBucket = of[node['Ref']]?.Type === 'AWS::S3::Bucket';
      return isBucket ? node['Ref'].toLowerCase() : node['Ref'];
    }
    if ('Fn::GetAtt' in node) return 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights';
    const [separator, parts] = node['Fn::Join'] as [string, unknown[]];
    return parts.map(resolve).join(separator);
  };
  return readCoordinatorEnvironment(
    Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, resolve(value)])),
  );
}

describe('settings of checkpoints', () => {
  const refusal = (
    checkpointing: CheckpointingProps,
    props: Partial<StreamJobProps> = {},
  ): string => {
    try {
      createJob({ checkpointing, ...props });
    } catch (error) {
      if (error instanceof ConfigurationError) return error.message;
      throw error;
    }
    throw new Error('nothing was refused');
  };

  it.each<[string, CheckpointingProps, string]>([
    [
      'an interval under ten seconds',
      { interval: Duration.seconds(9) },
      'checkpointing.intervalSeconds: got 9, expected a whole number of seconds from 10 to 21600 (each one reads the progress of every shard and calls every operator',
    ],
    [
      'a timeout of less than three intervals',
      { interval: Duration.minutes(2), timeout: Duration.minutes(5) },
      'checkpointing.timeoutSeconds: got 300, expected at least 3 times the interval of 120 (what a coordinator leaves behind that was killed',
    ],
    [
      'a timeout in which the coordinator comes less than three times',
      { interval: Duration.seconds(30), timeout: Duration.seconds(90) },
      'checkpointing.timeoutSeconds: got 90, expected a whole number of seconds from 180 to 86400 (the coordinator comes once a minute',
    ],
    [
      'a pause as long as the interval',
      { minPause: Duration.minutes(1) },
      'checkpointing.minPauseSeconds: got 60, expected less than the interval of 60 (else the pause would be the interval)',
    ],
    [
      'nothing retained',
      { retained: 0 },
      'checkpointing.retained: got 0, expected a whole number of checkpoints from 1 to 100 (without one nothing can be restored',
    ],
    [
      'fewer failures than none',
      { tolerableFailures: -1 },
      'checkpointing.tolerableFailures: got -1, expected a whole number of failed checkpoints from 0',
    ],
    [
      'several checkpoints at once',
      { maxConcurrent: 2 } as CheckpointingProps,
      'checkpointing.maxConcurrent: got 2, expected 1 (a checkpoint takes as long as a few requests',
    ],
    [
      'a setting that there is not',
      { unaligned: true } as CheckpointingProps,
      'checkpointing.unaligned: got true, expected no such property; correct its spelling or remove it',
    ],
  ])('refuse %s', (_, checkpointing, message) => {
    expect(refusal(checkpointing)).toContain(message);
  });

  it('refuse an interval of more than a quarter of the shortest retention', () => {
    const interval = Duration.hours(6);
    const timeout = Duration.hours(18);
    expect(() => createJob({ checkpointing: { interval, timeout } })).not.toThrow();
    const longer = { interval: interval.plus(Duration.seconds(1)), timeout };
    expect(refusal(longer)).toContain('from 10 to 21600');
  });

  it('are told with all other problems at once', () => {
    const message = refusal(
      { retained: 0, interval: Duration.seconds(1) },
      { jobName: 'Flights', source: provisionedStream({ shards: 0 }) },
    );
    expect(message).toContain('4 problems');
  });

  it('are advised against where checkpoints are more than ten minutes apart', () => {
    const warned = (minutes: number) => {
      const { stack: some } = createJob({
        checkpointing: { interval: Duration.minutes(minutes), timeout: Duration.hours(2) },
      });
      const found = Annotations.fromStack(some).findWarning('*', Match.anyValue());
      listResources(some);
      return found.map(({ entry }) => JSON.stringify(entry.data));
    };
    expect(warned(10)).toEqual([]);
    expect(warned(11)).toEqual([
      expect.stringMatching(/^"A checkpoint every 660 s .*holdfast:long-checkpoint-interval/s),
    ]);
  });
});
