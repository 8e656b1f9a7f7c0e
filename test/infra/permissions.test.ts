import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import {
  createJob,
  listResources,
  listResourcesOfType,
  operatorProps,
  type Resource,
} from './synthesize-job.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const resources = listResources(
  createJob({
    operators: [
      operatorProps({ sinks: { airports: 'upsert', alerts: 'append' } }),
      operatorProps({ id: 'routes' }),
    ],
  }).stack,
);

/** Each statement as `action on resource`, so that a right more or less shows. */
function listRights(
  of: Readonly<Record<string, Resource>>,
  logicalIdPrefix: string,
): readonly string[] {
  return listStatements(of, logicalIdPrefix)
    .flatMap(({ Effect, Action, Resource: on, Condition }) => {
      expect(Effect).toBe('Allow');
      expect(Condition).toBeUndefined();
      return [Action]
        .flat()
        .flatMap((action) => [on].flat().map((resource) => `${action} on ${showArn(resource)}`));
    })
    .toSorted();
}

function listStatements(of: Readonly<Record<string, Resource>>, logicalIdPrefix: string) {
  return listResourcesOfType(of, 'AWS::IAM::Policy')
    .filter(({ logicalId }) => logicalId.startsWith(logicalIdPrefix))
    .flatMap(
      ({ Properties }) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement,
    );
}

function showArn(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const node = resource as Record<string, [string, unknown[]] | [string, string]>;
  if (node['Fn::GetAtt']) return String(node['Fn::GetAtt'][0]);
  const parts = node['Fn::Join']?.[1] as unknown[];
  return parts.map(showArn).join('');
}

const COMMON_RIGHTS = [
  'dynamodb:BatchGetItem on JobDeadLetters365C97E6',
  'dynamodb:BatchGetItem on JobState0A30363F',
  'dynamodb:BatchWriteItem on JobState0A30363F',
  'dynamodb:ConditionCheckItem on JobControlEED9BF57',
  'dynamodb:GetItem on JobControlEED9BF57',
  'dynamodb:GetItem on JobState0A30363F',
  'dynamodb:PartiQLInsert on JobDeadLetters365C97E6',
  'dynamodb:PartiQLInsert on JobState0A30363F',
  'dynamodb:PartiQLUpdate on JobDeadLetters365C97E6',
  'dynamodb:PartiQLUpdate on JobState0A30363F',
  'dynamodb:PutItem on JobControlEED9BF57',
  'dynamodb:PutItem on JobDeadLetters365C97E6',
  'dynamodb:PutItem on JobState0A30363F',
  'dynamodb:Query on JobState0A30363F',
  'dynamodb:UpdateItem on JobState0A30363F',
  'kinesis:DescribeStream on JobSource9BA4C48F',
  'kinesis:DescribeStreamSummary on JobSource9BA4C48F',
  'kinesis:GetRecords on JobSource9BA4C48F',
  'kinesis:GetShardIterator on JobSource9BA4C48F',
  'kinesis:ListShards on JobSource9BA4C48F',
  's3:GetObject on JobCheckpoints2E60B73F/jobs/flights/*',
  's3:ListBucket on JobCheckpoints2E60B73F',
  's3:PutObject on JobCheckpoints2E60B73F/aws/lambda/*',
  's3:PutObject on JobCheckpoints2E60B73F/jobs/flights/*',
];

const SINK_RIGHTS = ['JobSinkairports7121F369', 'JobSinkalertsEC2629B5'].flatMap((table) =>
  ['BatchGetItem', 'PartiQLInsert', 'PartiQLUpdate', 'PutItem'].map(
    (action) => `dynamodb:${action} on ${table}`,
  ),
);

describe('rights of a stream job', () => {
  it('let an operator read its stream and write its state, progress and sinks, no more', () => {
    expect(listRights(resources, 'JobOperatordelays')).toEqual(
      [
        ...COMMON_RIGHTS,
        ...SINK_RIGHTS,
        // Where it is declared at-least-once.
        'dynamodb:BatchWriteItem on JobSinkalertsEC2629B5',
        'logs:CreateLogStream on JobOperatordelaysLogs08E79985',
        'logs:PutLogEvents on JobOperatordelaysLogs08E79985',
      ].toSorted(),
    );
  });

  it("keep an operator away from another one's sinks", () => {
    const rights = listRights(resources, 'JobOperatorroutes');
    expect(rights.filter((right) => right.includes('Sink'))).toEqual([]);
    expect(rights).toHaveLength(COMMON_RIGHTS.length + 2);
  });

  it('let the registrar write the job item and the marker, no more', () => {
    expect(listRights(resources, 'JobRegistration')).toEqual([
      'dynamodb:GetItem on JobControlEED9BF57',
      'dynamodb:PutItem on JobControlEED9BF57',
      'logs:CreateLogStream on JobRegistrationRegistrarLogs4D36DBAD',
      'logs:PutLogEvents on JobRegistrationRegistrarLogs4D36DBAD',
      's3:GetObject on JobCheckpoints2E60B73F/jobs/flights/*',
      's3:ListBucket on JobCheckpoints2E60B73F',
      's3:PutObject on JobCheckpoints2E60B73F/jobs/flights/*',
    ]);
  });

  it('have no wildcard action and no wildcard resource', () => {
    const statements = listStatements(resources, 'Job');
    expect(statements.length).toBeGreaterThan(20);
    for (const { Action, Resource: on } of statements) {
      expect([Action].flat().filter((action) => action.includes('*'))).toEqual([]);
      expect([on].flat()).not.toContain('*');
    }
  });

  it('come from these policies alone', () => {
    const roles = listResourcesOfType(resources, 'AWS::IAM::Role');
    expect(roles).toHaveLength(9);
    for (const { Properties } of roles) {
      expect(Object.keys(Properties)).toEqual(['AssumeRolePolicyDocument']);
    }
  });

  it('are given to Lambda, for its own timers to the scheduler, and for workflows to Step Functions', () => {
    const roles = listResourcesOfType(resources, 'AWS::IAM::Role');
    const timers = roles.filter(({ logicalId }) => /Timer|Cleanup/.test(logicalId));
    expect(timers.map(({ logicalId }) => logicalId)).toEqual([
      expect.stringMatching(/^JobCoordinatorTimerRole/),
      expect.stringMatching(/^JobStepsCleanupRole/),
    ]);
    const workflows = roles.filter(({ logicalId }) => /^Job(Savepoints|Restores)/.test(logicalId));
    expect(workflows).toHaveLength(2);
    for (const { Properties } of workflows) {
      expect(Properties['AssumeRolePolicyDocument']).toMatchObject({
        Statement: [
          {
            Principal: { Service: 'states.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          },
        ],
      });
    }
    const others = roles.filter((role) => !timers.includes(role) && !workflows.includes(role));
    for (const { Properties } of others) {
      expect(Properties['AssumeRolePolicyDocument']).toEqual({
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Action: 'sts:AssumeRole',
            Principal: { Service: 'lambda.amazonaws.com' },
          },
        ],
      });
    }
  });

  it('can be granted to a producer and to the reader of a sink', () => {
    const { stack, job } = createJob({
      operators: [operatorProps({ sinks: { airports: 'upsert', alerts: 'append' } })],
    });
    const other = new Role(stack, 'Other', {
      assumedBy: new ServicePrincipal('ec2.amazonaws.com'),
    });
    job.grantPutRecords(other);
    job.grantReadSink('airports', other);
    expect(listRights(listResources(stack), 'Other')).toEqual([
      'dynamodb:BatchGetItem on JobSinkairports7121F369',
      'dynamodb:GetItem on JobSinkairports7121F369',
      'dynamodb:Query on JobSinkairports7121F369',
      'dynamodb:Scan on JobSinkairports7121F369',
      'kinesis:PutRecord on JobSource9BA4C48F',
      'kinesis:PutRecords on JobSource9BA4C48F',
    ]);
  });
});
