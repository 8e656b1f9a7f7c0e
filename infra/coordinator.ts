import { fileURLToPath } from 'node:url';
import type { IStream } from 'aws-cdk-lib/aws-kinesis';
import type { Code, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Annotations, Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { adviseCheckpointing } from '../shared/config/checkpointing.ts';
import { writeCoordinatorEnvironment } from '../shared/config/coordinator-environment.ts';
import type { Job } from '../shared/config/job.ts';
import type { Backup } from './backup.ts';
import { FunctionSchedule } from './function-schedule.ts';
import { HandlerFunction } from './handler-function.ts';
import type { JobNetwork } from './job-network.ts';
import { type JobStorage, listStorageArns } from './job-storage.ts';
import { COORDINATOR_PERMISSIONS } from './permissions.ts';

const COORDINATOR_ENTRY = fileURLToPath(
  new URL('../functions/coordinator/handler.ts', import.meta.url),
);

/** The schedule's finest step; within it the coordinator keeps shorter intervals by itself. */
const TICK = Duration.minutes(1);

/** Long enough for a visit that an operator takes all its time for, behind a tick. */
const TIMEOUT = Duration.minutes(15);

/** Room for the blocks of a merge, and half a CPU for their compression. */
const MEMORY_MB = 1_024;

export interface CoordinatorProps {
  readonly job: Job;
  readonly storage: JobStorage;
  readonly stream: IStream;
  /** By operator. */
  readonly operatorFunctions: ReadonlyMap<string, LambdaFunction>;
  readonly backup: Backup | undefined;
  readonly bundle: (entry: string) => Code;
  readonly removalPolicy: RemovalPolicy;
  readonly network: JobNetwork | undefined;
}

/** Makes the checkpoints of a job by the clock, and keeps up what they are made of. */
export class Coordinator extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: CoordinatorProps) {
    super(scope, id);
    const { job, storage, stream, operatorFunctions, backup } = props;
    for (const advice of adviseCheckpointing(job.checkpointing)) {
      Annotations.of(this).addWarningV2(advice.id, advice.text);
    }
    const handler = new HandlerFunction(this, 'Handler', {
      code: props.bundle(COORDINATOR_ENTRY),
      environment: writeCoordinatorEnvironment({
        job: job.jobName,
        controlTable: storage.controlTable.tableName,
        bucket: storage.bucket.bucketName,
        streamArn: stream.streamArn,
        operatorFunctions: new Map(
          [...operatorFunctions].map(([operator, { functionName }]) => [operator, functionName]),
        ),
        checkpointing: job.checkpointing,
        backup: backup?.location,
      }),
      memorySize: MEMORY_MB,
      timeout: TIMEOUT,
      permissions: COORDINATOR_PERMISSIONS,
      resources: {
        ...listStorageArns(storage, job.jobName, new Map()),
        stream: [stream.streamArn],
        'operator-functions': [...operatorFunctions.values()].map(({ functionArn }) => functionArn),
        ...backup?.arns,
      },
      removalPolicy: props.removalPolicy,
      encryptionKey: storage.encryptionKey,
      network: props.network,
    });
    this.function = handler.function;
    new FunctionSchedule(this, 'Timer', {
      function: handler.function,
      every: TICK,
      description: `Checkpoints of job ${job.jobName}`,
    });
  }
}
