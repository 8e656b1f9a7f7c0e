import { Key } from 'aws-cdk-lib/aws-kms';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Duration, type Stack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { existingStream, onDemandStream, provisionedStream } from '../../infra/stream-source.ts';
import type { StreamJobProps } from '../../infra/stream-job-props.ts';
import { createJob, listResources, listResourcesOfType } from './synthesize-job.ts';

const ARN = 'arn:aws:kinesis:eu-central-1:123456789012:stream/flights';

type Props = Partial<StreamJobProps> | ((stack: Stack) => Partial<StreamJobProps>);

function streamsOf(props: Props) {
  return listResourcesOfType(listResources(createJob(props).stack), 'AWS::Kinesis::Stream');
}

function mappingOf(props: Props) {
  const resources = listResources(createJob(props).stack);
  return listResourcesOfType(resources, 'AWS::Lambda::EventSourceMapping')[0]?.Properties;
}

function operatorVariablesOf(props: Props) {
  const functions = listResourcesOfType(
    listResources(createJob(props).stack),
    'AWS::Lambda::Function',
  );
  const environment = functions.find(({ logicalId }) => logicalId.startsWith('JobOperator'))
    ?.Properties['Environment'] as { Variables: Record<string, unknown> } | undefined;
  return environment?.Variables;
}

describe('source of a stream job', () => {
  it('creates a provisioned stream with the shards that it is told', () => {
    const source = provisionedStream({ shards: 8 });
    expect(streamsOf({ source }).map(({ Properties }) => Properties)).toEqual([
      {
        RetentionPeriodHours: 24,
        ShardCount: 8,
        StreamEncryption: { EncryptionType: 'KMS', KeyId: 'alias/aws/kinesis' },
        StreamModeDetails: { StreamMode: 'PROVISIONED' },
      },
    ]);
  });

  it('creates an on-demand stream without a number of shards', () => {
    const source = onDemandStream({ retention: Duration.days(7) });
    expect(streamsOf({ source }).map(({ Properties }) => Properties)).toEqual([
      {
        RetentionPeriodHours: 168,
        StreamEncryption: { EncryptionType: 'KMS', KeyId: 'alias/aws/kinesis' },
        StreamModeDetails: { StreamMode: 'ON_DEMAND' },
      },
    ]);
  });

  it('tells the operator the retention of the stream', () => {
    const source = onDemandStream({ retention: Duration.days(7) });
    expect(operatorVariablesOf({ source })?.['HOLDFAST_RETENTION_HOURS']).toBe('168');
  });

  describe('when the stream exists', () => {
    const props = (stack: Stack) => ({
      source: existingStream(Stream.fromStreamArn(stack, 'Flights', ARN), {
        retention: Duration.hours(48),
      }),
    });

    it('creates none', () => {
      expect(streamsOf(props)).toEqual([]);
    });

    it('reads it', () => {
      expect(mappingOf(props)?.['EventSourceArn']).toBe(ARN);
      expect(operatorVariablesOf(props)).toMatchObject({
        HOLDFAST_STREAM_ARN: ARN,
        HOLDFAST_RETENTION_HOURS: '48',
      });
    });

    it('may decrypt it only if it has a key of its owner', () => {
      const policies = (given: Props) =>
        JSON.stringify(
          listResourcesOfType(listResources(createJob(given).stack), 'AWS::IAM::Policy'),
        );
      const key = 'arn:aws:kms:eu-central-1:123456789012:key/flights';
      const encrypted = (stack: Stack) => ({
        source: existingStream(
          Stream.fromStreamAttributes(stack, 'Flights', {
            streamArn: ARN,
            encryptionKey: Key.fromKeyArn(stack, 'Key', key),
          }),
          { retention: Duration.hours(24) },
        ),
      });
      const viaKinesis =
        '{"Fn::Join":["",["kinesis.",{"Ref":"AWS::Region"},".",{"Ref":"AWS::URLSuffix"}]]}';
      expect(policies(props)).not.toContain('kms:');
      expect(policies(encrypted)).toContain(
        `"Action":"kms:Decrypt","Condition":{"StringEquals":{"kms:ViaService":[${viaKinesis}]}},"Effect":"Allow","Resource":"${key}"}`,
      );
    });
  });
});
