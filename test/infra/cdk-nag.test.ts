import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Duration, type Stack, Stage, Validations, type App } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { FlightDelaysStack } from '../../infra/flight-delays-stack.ts';
import { existingStream } from '../../infra/stream-source.ts';
import { createApp, createJob, operatorProps, withoutBundling } from './synthesize-job.ts';

/*
 * The rules of the AwsSolutions pack. What is against one on purpose is acknowledged in infra, beside what it is about, with its
 * reason; here nothing is.
 */

const demonstration = new FlightDelaysStack(createApp(), 'Demo', { bundle: withoutBundling });

/** A job with all that can be asked for. */
const { stack: everything } = createJob((stack) => ({
  operators: [operatorProps({ sinks: { airports: 'upsert', alerts: 'append' } })],
  source: existingStream(
    Stream.fromStreamArn(
      stack,
      'Stream',
      'arn:aws:kinesis:eu-central-1:123456789012:stream/flights',
    ),
    { retention: Duration.hours(48) },
  ),
  heartbeat: { every: Duration.minutes(1), behind: Duration.minutes(2) },
  encryption: 'customer-managed',
  checkpointing: { backup: { bucket: Bucket.fromBucketName(stack, 'Backup', 'second-copies') } },
  vpc: {
    vpc: Vpc.fromVpcAttributes(stack, 'Vpc', {
      vpcId: 'vpc-0a1b2c3d',
      availabilityZones: ['eu-central-1a', 'eu-central-1b'],
      privateSubnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
    }),
  },
  cloneOf: {
    jobName: 'other',
    bucket: Bucket.fromBucketName(stack, 'Others', 'others-checkpoints'),
    controlTable: {
      tableName: 'others-control',
      tableArn: 'arn:aws:dynamodb:eu-central-1:123456789012:table/others-control',
    },
  },
}));

const stacks: readonly (readonly [string, Stack])[] = [
  ['the demonstration', demonstration],
  ['a job with everything', everything],
  ['a job that creates an encrypted stream', createJob({ encryption: 'customer-managed' }).stack],
];

afterAll(() => {
  for (const [, stack] of stacks) rmSync((Stage.of(stack) as App).outdir, { recursive: true });
});

function listFindings(scope: IConstruct): string[] {
  return new AwsSolutionsChecks()
    .validateScope(scope)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    )
    .toSorted();
}

interface Acknowledged {
  readonly at: IConstruct;
  readonly rule: string;
  readonly reason: string;
}

function listAcknowledged(scope: IConstruct): Acknowledged[] {
  return scope.node.findAll().flatMap((at) =>
    at.node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) => Object.entries(data as Record<string, string>))
      .map(([rule, reason]) => ({ at, rule: rule.replace(/^annotation::/i, ''), reason })),
  );
}

/** Everything that the pack finds, acknowledged or not. */
function listAll(scope: IConstruct): string[] {
  const pack = new AwsSolutionsChecks();
  // What the pack asks before it tells of a finding.
  Object.defineProperty(pack, 'isAcknowledged', { value: () => false });
  return pack
    .validateScope(scope)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    );
}

describe.each(stacks)('the AwsSolutions rules find in %s', (_, stack) => {
  it('nothing that is not acknowledged', () => {
    expect(listFindings(stack)).toEqual([]);
  });

  it('what is acknowledged, each with a reason', () => {
    const found = listAll(stack);
    const acknowledged = listAcknowledged(stack);
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const { at, rule, reason } of acknowledged) {
      expect(reason.length, rule).toBeGreaterThan(10);
      const isFound = found.some((finding) => finding.startsWith(`${rule} ${at.node.path}/`));
      expect(isFound, `${rule} at ${at.node.path} is acknowledged, and not found`).toBe(true);
    }
  });

  it('no other kinds than these', () => {
    const rules = listAcknowledged(stack).map(({ rule }) => rule.replace(/\[.*$/, ''));
    const known = [
      'AwsSolutions-IAM5', // patterns of objects
      'AwsSolutions-KDS3', // a key of its owner's
      'AwsSolutions-S1', // access logs
      'AwsSolutions-SF1', // what workflows log
      'AwsSolutions-SF2', // and trace
    ];
    expect(rules.filter((rule) => !known.includes(rule))).toEqual([]);
  });
});

describe('the AwsSolutions rules', () => {
  it('find what is wrong', () => {
    const { stack } = createJob();
    new Bucket(stack, 'Careless');
    expect(listFindings(stack)).toEqual([
      'AwsSolutions-S1 Test/Careless/Resource',
      'AwsSolutions-S10 Test/Careless/Resource',
    ]);
    rmSync((Stage.of(stack) as App).outdir, { recursive: true });
  });
});
