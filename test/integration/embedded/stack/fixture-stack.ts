import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { onTestFinished } from 'vitest';

import {
  startEmbeddedAws,
  type EmbeddedAws,
  type EmbeddedAwsOptions,
} from '../../../../localstack/embedded/embedded-aws.ts';
import type { TemplateObject } from '../../../../localstack/embedded/template/template-value.ts';
import { handlersDirectory } from '../lambda/test-function.ts';
import { tempDirectory } from '../temp-directory.ts';

const assetsBucket = 'cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}';

/** Writes template and assets manifest as `cdk synth` does; the one asset is the folder with this test's handlers. */
export function writeStack(resources: TemplateObject, outputs: TemplateObject = {}): string {
  const directory = path.join(tempDirectory(), 'cdk.out');
  mkdirSync(directory);
  const template = {
    Resources: resources,
    Outputs: outputs,
    Parameters: {
      BootstrapVersion: {
        Type: 'AWS::SSM::Parameter::Value<String>',
        Default: '/cdk-bootstrap/hnb659fds/version',
      },
    },
    Rules: { CheckBootstrapVersion: { Assertions: [] } },
  };
  const assets = {
    version: '48.0.0',
    files: {
      handlers: {
        source: { path: path.relative(directory, handlersDirectory), packaging: 'zip' },
        destinations: {
          'current_account-current_region': { bucketName: assetsBucket, objectKey: 'handlers.zip' },
        },
      },
    },
  };
  const templateFile = path.join(directory, 'Fixture.template.json');
  writeFileSync(templateFile, JSON.stringify(template));
  writeFileSync(path.join(directory, 'Fixture.assets.json'), JSON.stringify(assets));
  return templateFile;
}

/** Starts a stack that ends with the test. Goes fast, so that tests do. */
export async function startStack(
  templateFile: string,
  options: Omit<EmbeddedAwsOptions, 'templateFile'> = {},
): Promise<EmbeddedAws> {
  const aws = await startEmbeddedAws({
    templateFile,
    pace: {
      pollIntervalMsMin: 20,
      pollIntervalMsMax: 20,
      retryDelayMsMin: 5,
      retryDelayMsMax: 50,
      discoveryIntervalMs: 50,
    },
    ...options,
  });
  onTestFinished(() => aws.stop());
  return aws;
}

export const role: TemplateObject = {
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Statement: [
        {
          Action: 'sts:AssumeRole',
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
        },
      ],
    },
  },
};

export function functionOf(handler: string, properties: TemplateObject = {}): TemplateObject {
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Bucket: { 'Fn::Sub': assetsBucket }, S3Key: 'handlers.zip' },
      Handler: handler,
      Runtime: 'nodejs24.x',
      Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
      Timeout: 60,
      ...properties,
    },
  };
}

/** A stream with a function that notes every batch in `recordFile`. */
export function streamStack(
  recordFile: string,
  options: { shardCount?: number; mapping?: TemplateObject; function?: TemplateObject } = {},
): TemplateObject {
  return {
    Role: role,
    Stream: { Type: 'AWS::Kinesis::Stream', Properties: { ShardCount: options.shardCount ?? 1 } },
    Taker: functionOf('batch.handler', {
      Environment: { Variables: { RECORD_FILE: recordFile } },
      ...options.function,
    }),
    Mapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: { 'Fn::GetAtt': ['Stream', 'Arn'] },
        FunctionName: { Ref: 'Taker' },
        StartingPosition: 'TRIM_HORIZON',
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ...options.mapping,
      },
    },
  };
}
