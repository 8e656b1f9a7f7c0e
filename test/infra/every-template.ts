import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Duration } from 'aws-cdk-lib/core';
import { FlightDelaysStack } from '../../infra/flight-delays-stack.ts';
import { StreamJob } from '../../infra/stream-job.ts';
import type { StreamJobProps } from '../../infra/stream-job-props.ts';
import { existingStream, onDemandStream } from '../../infra/stream-source.ts';
import {
  createApp,
  createJob,
  operatorProps,
  readTemplate,
  withoutBundling,
  type JobInStack,
  type ReadTemplate,
} from './synthesize-job.ts';

const ACCOUNT = 'eu-central-1:123456789012';
const KEY = `arn:aws:kms:${ACCOUNT}:key/11111111-2222-3333-4444-555555555555`;
const RETENTION = { retention: Duration.hours(48) };

const template = (props?: Parameters<typeof createJob>[0]): ReadTemplate =>
  readTemplate(createJob(props).stack);

function withClone(props: Partial<StreamJobProps>): JobInStack {
  const created = createJob(props);
  new StreamJob(created.stack, 'Twin', {
    ...props,
    jobName: 'flights-b',
    cloneOf: created.job,
    source: existingStream(created.job.stream, { retention: Duration.hours(24) }),
    operators: [operatorProps()],
    bundle: withoutBundling,
  });
  return created;
}

/** A template for each thing that a job can be asked for, and for what of them meets. */
export const everyTemplate: readonly (readonly [string, ReadTemplate])[] = [
  [
    'the demonstration',
    readTemplate(new FlightDelaysStack(createApp(), 'Demo', { bundle: withoutBundling })),
  ],
  [
    'an ephemeral demonstration',
    readTemplate(
      new FlightDelaysStack(createApp(), 'Demo', { bundle: withoutBundling, ephemeral: true }),
    ),
  ],
  ['a stream on demand', template({ source: onDemandStream() })],
  [
    'a stream that exists, under a key of its own',
    template((of) => ({
      encryption: 'customer-managed',
      source: existingStream(
        Stream.fromStreamAttributes(of, 'Flights', {
          streamArn: `arn:aws:kinesis:${ACCOUNT}:stream/flights`,
          encryptionKey: Key.fromKeyArn(of, 'Theirs', KEY),
        }),
        RETENTION,
      ),
    })),
  ],
  [
    'several operators with sinks',
    template({
      operators: [
        operatorProps({ id: 'first', sinks: { airports: 'upsert', alerts: 'append' } }),
        operatorProps({ id: 'second', sinks: { hours: 'append' } }),
      ],
    }),
  ],
  [
    'a backup in another bucket',
    template((of) => ({
      checkpointing: { backup: { bucket: Bucket.fromBucketName(of, 'Backup', 'second-copies') } },
    })),
  ],
  ['a backup under a prefix', template({ checkpointing: { backup: { prefix: 'backup/' } } })],
  ['a clone', readTemplate(withClone({}).stack)],
  [
    'a clone of an encrypted job',
    readTemplate(withClone({ encryption: 'customer-managed' }).stack),
  ],
  [
    'heartbeats',
    template({ heartbeat: { every: Duration.minutes(1), behind: Duration.minutes(2) } }),
  ],
  [
    'a VPC',
    template((of) => ({
      heartbeat: { every: Duration.minutes(1), behind: Duration.minutes(2) },
      vpc: {
        vpc: Vpc.fromVpcAttributes(of, 'Vpc', {
          vpcId: 'vpc-0a1b2c3d',
          availabilityZones: ['eu-central-1a', 'eu-central-1b'],
          privateSubnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
        }),
      },
    })),
  ],
  ['encryption', template({ encryption: 'customer-managed' })],
  [
    'encryption by a key of another stack',
    template((of) => ({
      encryption: Key.fromKeyArn(of, 'Mine', KEY),
    })),
  ],
];
