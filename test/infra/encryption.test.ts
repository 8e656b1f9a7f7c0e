import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { StreamJob } from '../../infra/stream-job.ts';
import type { StreamJobProps } from '../../infra/stream-job-props.ts';
import { existingStream } from '../../infra/stream-source.ts';
import {
  createJob,
  listResources,
  listResourcesOfType,
  operatorProps,
  withoutBundling,
  type Resource,
} from './synthesize-job.ts';

type Resources = Readonly<Record<string, Resource>>;

interface KeyStatement {
  readonly Action: string | readonly string[];
  readonly Resource: string | { readonly 'Fn::GetAtt': readonly [string, string] };
  readonly Condition: {
    readonly StringEquals: {
      readonly 'kms:ViaService': readonly { readonly 'Fn::Join': [string, string[]] }[];
    };
  };
}

const HEARTBEAT = { every: Duration.minutes(1), behind: Duration.minutes(2) };
const ARN = 'arn:aws:kms:eu-central-1:123456789012:key/mine';

function createEncrypted(props: Partial<StreamJobProps> = {}) {
  return createJob({
    operators: [operatorProps({ sinks: { airports: 'upsert' } })],
    heartbeat: HEARTBEAT,
    encryption: 'customer-managed',
    ...props,
  });
}

const resources = listResources(createEncrypted().stack);
const [key] = listResourcesOfType(resources, 'AWS::KMS::Key');
const keyArn = { 'Fn::GetAtt': [key?.logicalId, 'Arn'] };

/** What the roles whose names begin so may do with keys: `action through service, … on key`. */
function listKeyRights(of: Resources, prefix: string): string[] {
  return listResourcesOfType(of, 'AWS::IAM::Policy')
    .filter(({ logicalId }) => logicalId.startsWith(prefix))
    .flatMap(
      ({ Properties }) => (Properties['PolicyDocument'] as { Statement: KeyStatement[] }).Statement,
    )
    .filter(({ Action }) => [Action].flat()[0]!.startsWith('kms:'))
    .flatMap(({ Action, Condition, Resource: on }) => {
      expect(Object.keys(Condition)).toEqual(['StringEquals']);
      expect(Object.keys(Condition.StringEquals)).toEqual(['kms:ViaService']);
      const services = Condition.StringEquals['kms:ViaService'].map((name) =>
        name['Fn::Join'][1][0]!.slice(0, -1),
      );
      const about = typeof on === 'string' ? on : on['Fn::GetAtt'][0];
      return [Action].flat().map((action) => `${action} through ${services} on ${about}`);
    })
    .toSorted();
}

const storageRights = (about: string) =>
  ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'].map(
    (action) => `kms:${action} through dynamodb,s3 on ${about}`,
  );

describe('a job without encryption of its own', () => {
  const plain = listResources(
    createJob({ heartbeat: HEARTBEAT, operators: [operatorProps({ sinks: { a: 'upsert' } })] })
      .stack,
  );

  it('has no key, and nobody has a right to one', () => {
    expect(listResourcesOfType(plain, 'AWS::KMS::Key')).toEqual([]);
    expect(JSON.stringify(plain)).not.toMatch(/kms:|KmsKeyId|KMSMasterKey/);
  });
});

describe('a job with customer-managed encryption', () => {
  it('has one key, which is rotated and retained', () => {
    expect(listResourcesOfType(resources, 'AWS::KMS::Key')).toHaveLength(1);
    expect(key?.logicalId).toBe('JobKeyF160B5DB');
    expect(key).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { EnableKeyRotation: true },
    });
  });

  it('lets the key go where everything may go', () => {
    const { stack } = createEncrypted({ removalPolicy: RemovalPolicy.DESTROY });
    const [ephemeral] = listResourcesOfType(listResources(stack), 'AWS::KMS::Key');
    expect(ephemeral?.DeletionPolicy).toBe('Delete');
  });

  it('encrypts every table with it', () => {
    const tables = listResourcesOfType(resources, 'AWS::DynamoDB::Table');
    expect(tables).toHaveLength(4);
    for (const { logicalId, Properties } of tables) {
      expect(Properties['SSESpecification'], logicalId).toEqual({
        SSEEnabled: true,
        SSEType: 'KMS',
        KMSMasterKeyId: keyArn,
      });
    }
  });

  it('encrypts the bucket with it, by a key of the bucket', () => {
    const [bucket] = listResourcesOfType(resources, 'AWS::S3::Bucket');
    expect(bucket?.Properties['BucketEncryption']).toEqual({
      ServerSideEncryptionConfiguration: [
        {
          BucketKeyEnabled: true,
          ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: keyArn },
        },
      ],
    });
  });

  it('encrypts the stream with it', () => {
    const [stream] = listResourcesOfType(resources, 'AWS::Kinesis::Stream');
    expect(stream?.Properties['StreamEncryption']).toEqual({
      EncryptionType: 'KMS',
      KeyId: keyArn,
    });
  });

  it('encrypts every log group with it, and lets CloudWatch Logs of this account use it', () => {
    const groups = listResourcesOfType(resources, 'AWS::Logs::LogGroup');
    expect(groups).toHaveLength(5);
    for (const { Properties } of groups) expect(Properties['KmsKeyId']).toEqual(keyArn);
    const { Statement } = key?.Properties['KeyPolicy'] as { Statement: unknown[] };
    expect(Statement).toHaveLength(2);
    expect(Statement[1]).toMatchObject({
      Principal: {
        Service: {
          'Fn::Join': ['', ['logs.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]],
        },
      },
    });
    expect(JSON.stringify(Statement[1])).toMatch(
      /"Condition":{"ArnLike":{"kms:EncryptionContext:aws:logs:arn":.+:log-group:\*"/,
    );
  });

  it('keeps the logical ids of what holds data: encryption can be taken later', () => {
    const stateful = (of: Resources) =>
      Object.entries(of)
        .filter(([, { DeletionPolicy, Type }]) => DeletionPolicy && Type !== 'AWS::KMS::Key')
        .map(([logicalId]) => logicalId);
    const { stack } = createJob({
      operators: [operatorProps({ sinks: { airports: 'upsert' } })],
      heartbeat: HEARTBEAT,
    });
    expect(stateful(resources)).toEqual(stateful(listResources(stack)));
  });

  it.each([
    ['operators', 'JobOperator', ['kms:Decrypt through kinesis on JobKeyF160B5DB']],
    ['the registrar', 'JobRegistration', []],
    ['the coordinator', 'JobCoordinatorHandler', []],
    ['the steps', 'JobStepsHandler', ['kms:Decrypt through kinesis on JobKeyF160B5DB']],
  ])('lets %s use it for what they read and write, through its services', (_, prefix, stream) => {
    expect(listKeyRights(resources, prefix)).toEqual(
      [...storageRights('JobKeyF160B5DB'), ...stream].toSorted(),
    );
  });

  it('lets heartbeats use it for records alone, and schedules and workflows not at all', () => {
    expect(listKeyRights(resources, 'JobHeartbeatWriter')).toEqual([
      'kms:GenerateDataKey through kinesis on JobKeyF160B5DB',
    ]);
    const others = ['JobHeartbeatTimer', 'JobCoordinatorTimer', 'JobStepsCleanup'];
    for (const prefix of [...others, 'JobSavepoints', 'JobRestores']) {
      expect(listKeyRights(resources, prefix)).toEqual([]);
    }
  });

  it('lets a producer encrypt records and the reader of a sink decrypt rows', () => {
    const { stack, job } = createEncrypted();
    const other = new Role(stack, 'Other', {
      assumedBy: new ServicePrincipal('ec2.amazonaws.com'),
    });
    job.grantPutRecords(other).assertSuccess();
    job.grantReadSink('airports', other).assertSuccess();
    expect(listKeyRights(listResources(stack), 'Other')).toEqual([
      'kms:Decrypt through dynamodb on JobKeyF160B5DB',
      'kms:DescribeKey through dynamodb on JobKeyF160B5DB',
      'kms:GenerateDataKey through kinesis on JobKeyF160B5DB',
    ]);
  });

  it('lets a clone read what is encrypted with the key of the other job, and nobody else', () => {
    const { stack, job } = createEncrypted();
    new StreamJob(stack, 'Twin', {
      jobName: 'flights-b',
      cloneOf: job,
      source: existingStream(job.stream, { retention: Duration.hours(24) }),
      operators: [operatorProps()],
      bundle: withoutBundling,
    });
    const all = listResources(stack);
    expect(listKeyRights(all, 'TwinSteps')).toEqual(
      [
        ...storageRights('JobKeyF160B5DB'),
        'kms:Decrypt through kinesis on JobKeyF160B5DB',
      ].toSorted(),
    );
    expect(listKeyRights(all, 'TwinCoordinator')).toEqual([]);
  });
});

describe('a job with a key of its owner', () => {
  const own = (stack: Stack): Partial<StreamJobProps> => ({ encryption: new Key(stack, 'Mine') });

  it('creates none, and lets CloudWatch Logs use that one', () => {
    const { stack, job } = createJob(own);
    expect(job.encryptionKey?.node.path).toBe('Test/Mine');
    const [mine, ...others] = listResourcesOfType(listResources(stack), 'AWS::KMS::Key');
    expect(others).toEqual([]);
    expect(JSON.stringify(mine?.Properties['KeyPolicy'])).toContain('"logs."');
  });

  it('says what the policy of an imported key must have, which is not its to change', () => {
    const { stack } = createJob((of) => ({ encryption: Key.fromKeyArn(of, 'Mine', ARN) }));
    const warnings = Annotations.fromStack(stack).findWarning(
      '*',
      Match.stringLikeRegexp('lets CloudWatch Logs'),
    );
    expect(JSON.stringify(warnings)).toContain(`the policy of key ${ARN} is not this app's`);
    const all = listResources(stack);
    expect(listKeyRights(all, 'JobCoordinatorHandler')).toEqual(storageRights(ARN));
    expect(listResourcesOfType(all, 'AWS::Logs::LogGroup')[0]?.Properties['KmsKeyId']).toBe(ARN);
  });

  it('leaves a stream that exists under the key that it has', () => {
    const source = (of: Stack) =>
      existingStream(
        Stream.fromStreamAttributes(of, 'Flights', {
          streamArn: 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
          encryptionKey: Key.fromKeyArn(of, 'Theirs', ARN),
        }),
        { retention: Duration.hours(24) },
      );
    const job = createJob((of) => ({ source: source(of), encryption: 'customer-managed' }));
    expect(listKeyRights(listResources(job.stack), 'JobOperator')).toEqual(
      [...storageRights('JobKeyF160B5DB'), `kms:Decrypt through kinesis on ${ARN}`].toSorted(),
    );
  });
});

describe('an encryption that there is not', () => {
  it.each(['aws-managed', true, {}])('is refused: %s', (encryption) => {
    expect(() => createEncrypted({ encryption: encryption as 'customer-managed' })).toThrow(
      /encryption: got .+, expected 'customer-managed' or a key of KMS; leave it out for the keys of AWS/,
    );
  });
});
