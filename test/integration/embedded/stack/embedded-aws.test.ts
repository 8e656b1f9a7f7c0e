import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { DescribeTableCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DescribeStreamSummaryCommand } from '@aws-sdk/client-kinesis';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it, onTestFinished } from 'vitest';

import {
  startEmbeddedAws,
  type EmbeddedAws,
} from '../../../../localstack/embedded/embedded-aws.ts';
import {
  createServiceClients,
  type ServiceClients,
} from '../../../../localstack/embedded/service-clients.ts';
import { freePort, listenOn } from '../../free-port.ts';
import { isProcessAlive, pollUntilTrue } from '../poll-until.ts';
import { tempDirectory } from '../temp-directory.ts';
import { functionOf, role, startStack, streamStack, writeStack } from './fixture-stack.ts';
import { putRecords, readBatches } from './stream-producer.ts';

function clientsOf(aws: EmbeddedAws): ServiceClients {
  const clients = createServiceClients(aws.endpoints, aws.region);
  onTestFinished(() => clients.destroy());
  return clients;
}

/** All processes whose parent is this one. */
async function childPids(): Promise<number[]> {
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

describe('the resources of a stack', () => {
  it('exist in the emulators under the names of the template or of our own', async () => {
    const aws = await startStack(
      writeStack(
        {
          Stream: {
            Type: 'AWS::Kinesis::Stream',
            DeletionPolicy: 'Retain',
            Properties: { Name: 'orders', ShardCount: 2, RetentionPeriodHours: 48 },
          },
          Elastic: {
            Type: 'AWS::Kinesis::Stream',
            Properties: { StreamModeDetails: { StreamMode: 'ON_DEMAND' } },
          },
          Table: {
            Type: 'AWS::DynamoDB::Table',
            Properties: {
              KeySchema: [
                { AttributeName: 'pk', KeyType: 'HASH' },
                { AttributeName: 'sk', KeyType: 'RANGE' },
              ],
              AttributeDefinitions: [
                { AttributeName: 'pk', AttributeType: 'S' },
                { AttributeName: 'sk', AttributeType: 'B' },
              ],
              BillingMode: 'PAY_PER_REQUEST',
              PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
              Tags: [{ Key: 'a', Value: 'b' }],
            },
          },
          Bucket: {
            Type: 'AWS::S3::Bucket',
            Properties: { VersioningConfiguration: { Status: 'Enabled' } },
          },
        },
        {
          StreamName: { Value: { Ref: 'Stream' } },
          TableArn: { Value: { 'Fn::GetAtt': ['Table', 'Arn'] }, Export: { Name: 'x' } },
          BucketUrl: { Value: { 'Fn::Join': ['', ['s3://', { Ref: 'Bucket' }, '/state']] } },
        },
      ),
    );
    expect(aws.outputs).toEqual({
      StreamName: 'orders',
      TableArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${aws.physicalId('Table')}`,
      BucketUrl: `s3://${aws.physicalId('Bucket')}/state`,
    });
    expect(aws.physicalId('Table')).toMatch(/^Fixture-Table-[0-9a-f]{8}$/);
    expect(aws.physicalId('Bucket')).toMatch(/^fixture-bucket-[0-9a-f]{8}$/);
    expect(() => aws.physicalId('Nobody')).toThrow('known: Stream, Elastic, Table, Bucket');

    const { kinesis, dynamodb, s3 } = clientsOf(aws);
    const stream = await kinesis.send(new DescribeStreamSummaryCommand({ StreamName: 'orders' }));
    expect(stream.StreamDescriptionSummary).toMatchObject({
      OpenShardCount: 2,
      RetentionPeriodHours: 48,
      StreamARN: 'arn:aws:kinesis:us-east-1:000000000000:stream/orders',
    });
    expect(aws.resources.get('Stream')?.attributes['Arn']).toBe(
      stream.StreamDescriptionSummary?.StreamARN,
    );
    const elastic = await kinesis.send(
      new DescribeStreamSummaryCommand({ StreamName: aws.physicalId('Elastic') }),
    );
    expect(elastic.StreamDescriptionSummary?.StreamModeDetails?.StreamMode).toBe('ON_DEMAND');

    const TableName = aws.physicalId('Table');
    const table = await dynamodb.send(new DescribeTableCommand({ TableName }));
    expect(table.Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
    const key = { pk: { S: 'a' }, sk: { B: Buffer.from('b') } };
    await dynamodb.send(new PutItemCommand({ TableName, Item: { ...key, n: { N: '1' } } }));
    const item = await dynamodb.send(new GetItemCommand({ TableName, Key: key }));
    expect(item.Item?.['n']).toEqual({ N: '1' });

    const object = { Bucket: aws.physicalId('Bucket'), Key: 'state/a' };
    await s3.send(new PutObjectCommand({ ...object, Body: 'hello' }));
    const stored = await s3.send(new GetObjectCommand(object));
    expect(await stored.Body?.transformToString()).toBe('hello');
  });

  it('keep policies, and give references to roles and log groups', async () => {
    const policyDocument = {
      Statement: [{ Action: 's3:GetObject', Effect: 'Allow', Resource: '*' }],
    };
    const aws = await startStack(
      writeStack({
        Role: role,
        Policy: {
          Type: 'AWS::IAM::Policy',
          Properties: { PolicyName: 'p', PolicyDocument: policyDocument, Roles: [{ Ref: 'Role' }] },
        },
        Logs: { Type: 'AWS::Logs::LogGroup', Properties: { RetentionInDays: 30 } },
        CDKMetadata: { Type: 'AWS::CDK::Metadata', Properties: { Analytics: 'v2:x' } },
      }),
    );
    expect(aws.resources.get('Role')?.attributes['Arn']).toBe(
      `arn:aws:iam::000000000000:role/${aws.physicalId('Role')}`,
    );
    expect(aws.resources.get('Policy')?.properties).toMatchObject({
      PolicyDocument: policyDocument,
      Roles: [aws.physicalId('Role')],
    });
    expect(aws.resources.get('Logs')?.attributes['Arn']).toMatch(/:log-group:Fixture-Logs-.*:\*$/);
  });

  it('include functions that find their endpoints and can be invoked by any of their names', async () => {
    const aws = await startStack(
      writeStack({
        Role: role,
        Echo: functionOf('echo.environment', {
          FunctionName: 'echo',
          Environment: { Variables: { TABLE: { 'Fn::Sub': 'table-${AWS::Region}' } } },
        }),
      }),
    );
    const names = ['Echo', 'echo', 'arn:aws:lambda:us-east-1:000000000000:function:echo'];
    for (const name of names) {
      const result = await aws.functions.invoke(name, {});
      expect(result.kind === 'success' && JSON.parse(result.payload)).toMatchObject({
        TABLE: 'table-us-east-1',
        AWS_LAMBDA_FUNCTION_NAME: 'echo',
        AWS_ENDPOINT_URL_KINESIS: aws.endpoints.kinesis,
        AWS_ENDPOINT_URL_DYNAMODB: aws.endpoints.dynamodb,
        AWS_ENDPOINT_URL_S3: aws.endpoints.s3,
      });
    }
    expect(() => aws.functions.get('other')).toThrow('there is no function "other"; known: Echo');
    expect(aws.functions.list()[0]?.stats().invocations).toBe(3);
  });
});

describe('a template that the local AWS refuses', () => {
  it('names every unknown resource type and property before anything is started', async () => {
    const templateFile = writeStack({
      Queue: { Type: 'AWS::SQS::Queue' },
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: { StreamSpecification: { StreamViewType: 'NEW_IMAGE' } },
      },
      Stream: {
        Type: 'AWS::Kinesis::Stream',
        Properties: { ShardCount: 1, StreamModeDetails: { Mode: 'x' } },
      },
    });
    const before = await childPids();
    const refusal = startEmbeddedAws({ templateFile });
    await expect(refusal).rejects.toThrow(
      /AWS::SQS::Queue Queue: this resource type is not supported locally/,
    );
    await expect(refusal).rejects.toThrow(
      /AWS::DynamoDB::Table Table: property "StreamSpecification" is not supported locally/,
    );
    await expect(refusal).rejects.toThrow(
      /AWS::Kinesis::Stream Stream: property "StreamModeDetails.Mode" is not supported locally/,
    );
    expect(await childPids()).toEqual(before);
  });

  it('leaves nothing behind when a resource cannot be created', async () => {
    const templateFile = writeStack({
      Role: role,
      Echo: functionOf('echo.handler', { Code: { S3Bucket: 'other', S3Key: 'missing.zip' } }),
    });
    const before = await childPids();
    await expect(startEmbeddedAws({ templateFile })).rejects.toThrow(
      /no directory asset is stored at s3:\/\/other\/missing.zip by ".*Fixture.assets.json"; run `cdk synth`/,
    );
    expect(await childPids()).toEqual(before);
  });

  it('refuses a property that only shows when its condition is resolved', async () => {
    const templateFile = writeStack({
      Bucket: {
        Type: 'AWS::S3::Bucket',
        Properties: {
          BucketName: { 'Fn::Join': ['-', ['a', 'bucket']] },
        },
      },
      Table: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          KeySchema: { 'Fn::Split': [',', 'not,objects'] },
          AttributeDefinitions: [],
          BillingMode: 'PAY_PER_REQUEST',
        },
      },
    });
    await expect(startEmbeddedAws({ templateFile })).rejects.toThrow(
      'AWS::DynamoDB::Table Table: property "KeySchema" is ["not","objects"], expected a list of objects',
    );
  });
});

describe('ports', () => {
  it('are the ones that were asked for', async () => {
    const port = await freePort();
    const templateFile = writeStack({ Bucket: { Type: 'AWS::S3::Bucket' } });
    const aws = await startStack(templateFile, { ports: { s3: port } });
    expect(aws.endpoints.s3).toBe(`http://127.0.0.1:${port}`);
    const object = { Bucket: aws.physicalId('Bucket'), Key: 'a' };
    await clientsOf(aws).s3.send(new PutObjectCommand({ ...object, Body: 'through the port' }));
    const stored = await clientsOf(aws).s3.send(new GetObjectCommand(object));
    expect(await stored.Body?.transformToString()).toBe('through the port');
  });

  it('that are taken are named with their service and a remedy, and nothing is left behind', async () => {
    const port = await freePort();
    const taken = await listenOn(port);
    onTestFinished(() => void taken.close());
    const before = await childPids();
    await expect(
      startEmbeddedAws({ templateFile: writeStack({}), ports: { dynamodb: port } }),
    ).rejects.toThrow(
      `port ${port} on 127.0.0.1, wanted for the local DynamoDB, is in use by another process; stop that process`,
    );
    expect(await childPids()).toEqual(before);
  });
});

describe('stopping', () => {
  it('ends every process, also in the middle of work, and may be called twice', async () => {
    const recordFile = path.join(tempDirectory(), 'batches');
    const aws = await startStack(writeStack(streamStack(recordFile)));
    await putRecords(aws, { id: 'a', how: 'hang', times: 1 });
    await pollUntilTrue('a running invocation', () => existsSync(recordFile));
    const pids = [...(await childPids()), ...aws.functions.get('Taker').pids()];
    expect(pids.length).toBeGreaterThanOrEqual(2);
    await Promise.all([aws.stop(), aws.stop()]);
    expect(pids.filter(isProcessAlive)).toEqual([]);
    expect(readBatches(recordFile)).toHaveLength(1);
    await expect(fetch(aws.endpoints.dynamodb)).rejects.toThrow();
    await expect(fetch(aws.endpoints.s3)).rejects.toThrow();
    expect(await aws.functions.invoke('Taker', {})).toMatchObject({ reason: 'stopped' });
  });
});
