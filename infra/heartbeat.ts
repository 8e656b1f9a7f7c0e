import { fileURLToPath } from 'node:url';
import type { IStream } from 'aws-cdk-lib/aws-kinesis';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Code, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { writeHeartbeatEnvironment } from '../shared/config/environment.ts';
import type { JobHeartbeat } from '../shared/config/job.ts';
import { FunctionSchedule } from './function-schedule.ts';
import { HandlerFunction } from './handler-function.ts';
import type { JobNetwork } from './job-network.ts';
import { HEARTBEAT_PERMISSIONS } from './permissions.ts';
import { listStreamArns } from './stream-source.ts';

const HEARTBEAT_ENTRY = fileURLToPath(
  new URL('../functions/heartbeat/handler.ts', import.meta.url),
);

export interface HeartbeatConstructProps {
  readonly jobName: string;
  readonly heartbeat: JobHeartbeat;
  readonly stream: IStream;
  readonly bundle: (entry: string) => Code;
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey: IKey | undefined;
  readonly network: JobNetwork | undefined;
}

/** Puts heartbeats into the source stream of a job by the clock, so that event time goes on while nothing arrives. */
export class Heartbeat extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: HeartbeatConstructProps) {
    super(scope, id);
    const { jobName, heartbeat, stream } = props;
    const handler = new HandlerFunction(this, 'Writer', {
      code: props.bundle(HEARTBEAT_ENTRY),
      environment: writeHeartbeatEnvironment({
        job: jobName,
        streamArn: stream.streamArn,
        behindSeconds: heartbeat.behindSeconds,
      }),
      memorySize: 256,
      timeout: Duration.seconds(60),
      permissions: HEARTBEAT_PERMISSIONS,
      resources: listStreamArns(stream),
      removalPolicy: props.removalPolicy,
      ...{ encryptionKey: props.encryptionKey, network: props.network },
    });
    this.function = handler.function;
    new FunctionSchedule(this, 'Timer', {
      function: handler.function,
      every: Duration.minutes(heartbeat.everyMinutes),
      description: `Heartbeats for the event time of job ${jobName}`,
    });
  }
}
