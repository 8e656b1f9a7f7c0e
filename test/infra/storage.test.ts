import { RemovalPolicy } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { createJob, listResources, listResourcesOfType, operatorProps } from './synthesize-job.ts';

const OPERATORS = [operatorProps({ sinks: { airports: 'upsert', alerts: 'append' } })];
const resources = listResources(createJob({ operators: OPERATORS }).stack);
const tables = listResourcesOfType(resources, 'AWS::DynamoDB::Table');
const [bucket] = listResourcesOfType(resources, 'AWS::S3::Bucket');

const STATEFUL_TYPES = [
  'AWS::DynamoDB::Table',
  'AWS::Kinesis::Stream',
  'AWS::Logs::LogGroup',
  'AWS::S3::Bucket',
];

function listStateful(of: typeof resources) {
  return STATEFUL_TYPES.flatMap((type) => listResourcesOfType(of, type));
}

describe('storage of a stream job', () => {
  it('keeps the logical ids of what holds data', () => {
    // Another id is another, empty resource: a change here loses the data of deployed jobs.
    expect(listStateful(resources).map(({ logicalId }) => logicalId)).toEqual([
      'JobState0A30363F',
      'JobControlEED9BF57',
      'JobDeadLetters365C97E6',
      'JobSinkairports7121F369',
      'JobSinkalertsEC2629B5',
      'JobSource9BA4C48F',
      'JobRegistrationRegistrarLogs4D36DBAD',
      'JobOperatordelaysLogs08E79985',
      'JobCoordinatorHandlerLogs4AA292E1',
      'JobStepsHandlerLogsA55E527B',
      'JobCheckpoints2E60B73F',
    ]);
  });

  it('retains everything that holds data', () => {
    for (const { logicalId, DeletionPolicy, UpdateReplacePolicy } of listStateful(resources)) {
      expect({ DeletionPolicy, UpdateReplacePolicy }, logicalId).toEqual({
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
      });
    }
  });

  it('lets everything go with the stack when it is told so', () => {
    const { stack } = createJob({ operators: OPERATORS, removalPolicy: RemovalPolicy.DESTROY });
    const stateful = listStateful(listResources(stack));
    expect(stateful).toHaveLength(11);
    expect(new Set(stateful.map(({ DeletionPolicy }) => DeletionPolicy))).toEqual(
      new Set(['Delete']),
    );
  });

  it('never deploys a function that empties the bucket', () => {
    const { stack } = createJob({ removalPolicy: RemovalPolicy.DESTROY });
    const types = Object.values(listResources(stack)).map(({ Type }) => Type);
    expect(types.filter((type) => type.startsWith('Custom::'))).toEqual(['Custom::HoldfastJob']);
  });

  it('gives every table two text keys', () => {
    expect(tables).toHaveLength(5);
    for (const { logicalId, Properties } of tables) {
      expect(Properties['KeySchema'], logicalId).toEqual([
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ]);
      expect(Properties['AttributeDefinitions'], logicalId).toEqual([
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ]);
    }
  });

  it('pays every table by the request', () => {
    expect(tables.map(({ Properties }) => Properties['BillingMode'])).toEqual(
      tables.map(() => 'PAY_PER_REQUEST'),
    );
  });

  it('can restore every table to a point in time', () => {
    for (const { logicalId, Properties } of tables) {
      expect(Properties['PointInTimeRecoverySpecification'], logicalId).toEqual({
        PointInTimeRecoveryEnabled: true,
      });
    }
  });

  it('lets items of the state table expire, and of no other', () => {
    const expiring = tables.filter(({ Properties }) => 'TimeToLiveSpecification' in Properties);
    expect(expiring.map(({ logicalId }) => logicalId)).toEqual(['JobState0A30363F']);
    expect(expiring[0]?.Properties['TimeToLiveSpecification']).toEqual({
      AttributeName: 'ttl',
      Enabled: true,
    });
  });

  it('has no index on any table', () => {
    for (const { logicalId, Properties } of tables) {
      expect(Properties, logicalId).not.toHaveProperty('LocalSecondaryIndexes');
      expect(Properties, logicalId).not.toHaveProperty('GlobalSecondaryIndexes');
    }
  });

  it('keeps one version of each object', () => {
    expect(bucket?.Properties).not.toHaveProperty('VersioningConfiguration');
  });

  it('encrypts the bucket', () => {
    expect(bucket?.Properties['BucketEncryption']).toEqual({
      ServerSideEncryptionConfiguration: [
        { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
      ],
    });
  });

  it('blocks public access to the bucket', () => {
    expect(bucket?.Properties['PublicAccessBlockConfiguration']).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
  });

  it('refuses every request to the bucket that is not encrypted on its way', () => {
    const [policy] = listResourcesOfType(resources, 'AWS::S3::BucketPolicy');
    const arn = { 'Fn::GetAtt': ['JobCheckpoints2E60B73F', 'Arn'] };
    expect(policy?.Properties['Bucket']).toEqual({ Ref: 'JobCheckpoints2E60B73F' });
    expect(policy?.Properties['PolicyDocument']).toEqual({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Deny',
          Principal: { AWS: '*' },
          Action: 's3:*',
          Resource: [arn, { 'Fn::Join': ['', [arn, '/*']] }],
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ],
    });
  });

  it('expires abandoned uploads and nothing else', () => {
    expect(bucket?.Properties['LifecycleConfiguration']).toEqual({
      Rules: [{ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 }, Status: 'Enabled' }],
    });
  });

  it('keeps logs for thirty days', () => {
    const groups = listResourcesOfType(resources, 'AWS::Logs::LogGroup');
    expect(groups.map(({ Properties }) => Properties)).toEqual([
      { RetentionInDays: 30 },
      { RetentionInDays: 30 },
      { RetentionInDays: 30 },
      { RetentionInDays: 30 },
    ]);
  });
});
