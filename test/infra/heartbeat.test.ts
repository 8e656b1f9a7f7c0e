import { Key } from 'aws-cdk-lib/aws-kms';
import { Stream, StreamEncryption } from 'aws-cdk-lib/aws-kinesis';
import { Duration } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import type { StreamJobProps } from '../../infra/stream-job-props.ts';
import { existingStream } from '../../infra/stream-source.ts';
import { ConfigurationError } from '../../shared/config/configuration-error.ts';
import { readHeartbeatEnvironment } from '../../shared/config/environment.ts';
import {
  createJob,
  listResources,
  listResourcesOfType,
  type JobInStack,
  type Resource,
} from './synthesize-job.ts';

const heartbeat = { every: Duration.minutes(5), behind: Duration.seconds(90) };

type Resources = Readonly<Record<string, Resource>>;

const one = (resources: Resources, type: string, prefix: string) => {
  const found = listResourcesOfType(resources, type).filter(({ logicalId }) =>
    logicalId.startsWith(prefix),
  );
  expect(found).toHaveLength(1);
  return found[0]!;
};

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** The statements of the policies whose logical id begins so. */
const statementsOf = (resources: Resources, prefix: string): Statement[] =>
  listResourcesOfType(resources, 'AWS::IAM::Policy')
    .filter(({ logicalId }) => logicalId.startsWith(prefix))
    .flatMap(
      ({ Properties }) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement,
    );

const arnOf = (logicalId: string): unknown => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });

describe('a stream job without heartbeats', () => {
  it('has no schedule and no function for them', () => {
    const { stack, job } = createJob();
    expect(job.heartbeatFunction).toBeUndefined();
    const resources = listResources(stack);
    const types = ['AWS::Scheduler::Schedule', 'AWS::Lambda::Function'];
    const names = types.flatMap((type) =>
      listResourcesOfType(resources, type).map(({ logicalId }) => logicalId),
    );
    expect(names).not.toEqual([]);
    expect(names.filter((name) => name.includes('Heartbeat'))).toEqual([]);
  });
});

describe('a stream job with heartbeats', () => {
  const { stack, job } = createJob({ heartbeat });
  const resources = listResources(stack);
  const writer = one(resources, 'AWS::Lambda::Function', 'JobHeartbeat');
  const role = one(resources, 'AWS::IAM::Role', 'JobHeartbeatTimer');
  const schedule = one(resources, 'AWS::Scheduler::Schedule', 'JobHeartbeat');

  it('gives the function for alarms', () => {
    expect(stack.resolve(job.heartbeatFunction?.functionName)).toEqual({ Ref: writer.logicalId });
  });

  it('schedules the function at a rate, without a flexible window, with bounded retries', () => {
    expect(schedule.Properties).toEqual({
      Description: 'Heartbeats for the event time of job flights',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ScheduleExpression: 'rate(5 minutes)',
      ScheduleExpressionTimezone: 'Etc/UTC',
      State: 'ENABLED',
      Target: {
        Arn: arnOf(writer.logicalId),
        RoleArn: arnOf(role.logicalId),
        Input: '{}',
        RetryPolicy: { MaximumRetryAttempts: 5, MaximumEventAgeInSeconds: 300 },
      },
    });
  });

  it('lets the schedule invoke that function, from this account alone, and do nothing else', () => {
    expect(statementsOf(resources, 'JobHeartbeatTimer')).toEqual([
      { Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: arnOf(writer.logicalId) },
    ]);
    expect(Object.keys(role.Properties)).toEqual(['AssumeRolePolicyDocument']);
    const { Statement } = role.Properties['AssumeRolePolicyDocument'] as {
      Statement: Record<string, unknown>[];
    };
    expect(Statement).toHaveLength(1);
    expect(Statement[0]).toMatchObject({
      Principal: { Service: 'scheduler.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
    expect(JSON.stringify(Statement[0]?.['Condition'])).toContain(':schedule-group/default"');
  });

  it('has the right before it is first due', () => {
    const policy = one(resources, 'AWS::IAM::Policy', 'JobHeartbeatTimer');
    expect(schedule.DependsOn).toContain(policy.logicalId);
  });

  it('lets the function put records and list shards, no more', () => {
    const [logs] = listResourcesOfType(resources, 'AWS::Logs::LogGroup').filter(({ logicalId }) =>
      logicalId.startsWith('JobHeartbeat'),
    );
    expect(statementsOf(resources, 'JobHeartbeatWriter')).toEqual([
      {
        Effect: 'Allow',
        Action: ['kinesis:ListShards', 'kinesis:PutRecords'],
        Resource: arnOf('JobSource9BA4C48F'),
      },
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: arnOf(logs!.logicalId),
      },
    ]);
  });

  it('tells the function what it needs', () => {
    const { Variables } = writer.Properties['Environment'] as {
      Variables: Record<string, unknown>;
    };
    expect(Variables['HOLDFAST_STREAM_ARN']).toEqual(arnOf('JobSource9BA4C48F'));
    const streamArn = 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights';
    const read = { ...Variables, HOLDFAST_STREAM_ARN: streamArn } as Record<string, string>;
    expect(readHeartbeatEnvironment(read)).toEqual({
      job: 'flights',
      streamArn,
      behindSeconds: 90,
    });
  });

  it('may use the key of a stream that is encrypted with one', () => {
    const encrypted = createJob((scope) => {
      const encryptionKey = new Key(scope, 'Key');
      const stream = new Stream(scope, 'Theirs', {
        encryption: StreamEncryption.KMS,
        encryptionKey,
      });
      const source = existingStream(stream, { retention: Duration.hours(24) });
      return { source, heartbeat };
    });
    const actions = statementsOf(listResources(encrypted.stack), 'JobHeartbeatWriter').map(
      ({ Action }) => Action,
    );
    expect(actions).toContain('kms:GenerateDataKey');
    expect(actions).not.toContain('kms:Decrypt');
  });

  it.each([
    [Duration.minutes(1), 'rate(1 minute)', 60],
    [Duration.hours(8), 'rate(8 hours)', 28_800],
  ])('takes a rate of %s', (every, expression, ageSeconds) => {
    const changed = createJob({ heartbeat: { ...heartbeat, every } });
    const { Properties } = one(
      listResources(changed.stack),
      'AWS::Scheduler::Schedule',
      'JobHeartbeat',
    );
    expect(Properties).toMatchObject({
      ScheduleExpression: expression,
      Target: { RetryPolicy: { MaximumEventAgeInSeconds: ageSeconds } },
    });
  });
});

describe('heartbeats that cannot work', () => {
  const refusal = (changes: object): string => {
    try {
      createJob({ heartbeat: { ...heartbeat, ...changes } });
    } catch (error) {
      if (error instanceof ConfigurationError) return error.message;
      throw error;
    }
    throw new Error('nothing was refused');
  };

  it.each([
    [
      'a rate that no schedule has',
      { every: Duration.seconds(30) },
      'heartbeat.everyMinutes: got 0.5, expected a whole number of minutes from 1 to 480 (EventBridge Scheduler counts in minutes, and a third of the shortest retention keeps a quiet shard readable even if a heartbeat is lost); choose a value in the range',
    ],
    [
      'a rate that lets a quiet shard grow older than retention',
      { every: Duration.hours(24) },
      'heartbeat.everyMinutes: got 1440, expected a whole number of minutes from 1 to 480',
    ],
    [
      'no word on how far behind they are',
      { behind: undefined },
      'heartbeat.behindSeconds: got nothing, expected a whole number of seconds from 0 to 31536000 (no stream keeps a record for longer than a year, so nothing can come later than that); choose a value in the range',
    ],
    [
      'a time that is no whole second',
      { behind: Duration.millis(1_500) },
      'heartbeat.behindSeconds: got 1.5, expected a whole number of seconds',
    ],
    ['a prop that is misspelt', { behnd: Duration.seconds(1) }, 'heartbeat.behnd: got '],
  ])('are refused: %s', (_, changes, message) => {
    expect(refusal(changes)).toContain(`[Test/Job] StreamJob: one problem\n  - ${message}`);
  });

  it('are refused where they are no object', () => {
    const props = { heartbeat: true } as unknown as Partial<StreamJobProps>;
    expect((): JobInStack => createJob(props)).toThrow(
      'heartbeat: got true, expected an object; see the props of StreamJob',
    );
  });
});
