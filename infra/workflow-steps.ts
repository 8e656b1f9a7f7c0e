import { fileURLToPath } from 'node:url';
import type { IStream } from 'aws-cdk-lib/aws-kinesis';
import type {
  CfnEventSourceMapping,
  Code,
  Function as LambdaFunction,
} from 'aws-cdk-lib/aws-lambda';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Job } from '../shared/config/job.ts';
import { writeWorkflowEnvironment } from '../shared/config/workflow-environment.ts';
import type { RequestStep } from '../shared/config/workflow-steps.ts';
import type { Backup } from './backup.ts';
import { FunctionSchedule } from './function-schedule.ts';
import { HandlerFunction } from './handler-function.ts';
import type { JobNetwork } from './job-network.ts';
import { type JobStorage, listStorageArns } from './job-storage.ts';
import { jobObjectsPattern, STEP_PERMISSIONS } from './permissions.ts';
import type { ClonedJob } from './stream-job-props.ts';
import { listStreamArns } from './stream-source.ts';

const STEPS_ENTRY = fileURLToPath(
  new URL('../functions/workflow-steps/handler.ts', import.meta.url),
);

/** As long as a function may run: a step may wait for a visit for which an operator takes all its time. */
const TIMEOUT = Duration.minutes(15);

/** One CPU: merging, loading and comparing pack and unpack. */
const MEMORY_MB = 1_769;

/** A call works for some minutes, and the next one goes on where it ended. */
const CLEANUP_EVERY = Duration.hours(1);

export interface WorkflowStepsProps {
  readonly job: Job;
  readonly storage: JobStorage;
  readonly stream: IStream;
  /** By operator. */
  readonly operatorFunctions: ReadonlyMap<string, LambdaFunction>;
  readonly cloneOf: ClonedJob | undefined;
  /** By operator. */
  readonly mappings: ReadonlyMap<string, CfnEventSourceMapping>;
  readonly backup: Backup | undefined;
  readonly bundle: (entry: string) => Code;
  readonly removalPolicy: RemovalPolicy;
  readonly network: JobNetwork | undefined;
}

/** The function that does the steps of savepoints, restores and drills. */
export class WorkflowSteps extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, props: WorkflowStepsProps) {
    super(scope, id);
    const { job, storage, stream, operatorFunctions, mappings, backup, cloneOf } = props;
    const { function: handler } = new HandlerFunction(this, 'Handler', {
      code: props.bundle(STEPS_ENTRY),
      environment: writeWorkflowEnvironment({
        job: job.jobName,
        streamArn: stream.streamArn,
        stateTable: storage.stateTable.tableName,
        controlTable: storage.controlTable.tableName,
        deadLetterTable: storage.deadLetterTable.tableName,
        bucket: storage.bucket.bucketName,
        operatorFunctions: new Map(
          [...operatorFunctions].map(([operator, { functionName }]) => [operator, functionName]),
        ),
        sinks: job.operators.flatMap(({ id: operator, sinks }) =>
          Object.entries(sinks).map(([name, kind]) => ({
            ...{ operator, name, kind },
            table: storage.sinkTables.get(name)!.tableName,
          })),
        ),
        ...(cloneOf !== undefined && {
          cloned: {
            job: cloneOf.jobName,
            controlTable: cloneOf.controlTable.tableName,
            bucket: cloneOf.bucket.bucketName,
          },
        }),
        mappings: new Map([...mappings].map(([operator, { attrId }]) => [operator, attrId])),
        backup: backup?.location,
      }),
      memorySize: MEMORY_MB,
      timeout: TIMEOUT,
      permissions: STEP_PERMISSIONS,
      resources: {
        ...listStorageArns(storage, job.jobName, storage.sinkTables),
        ...backup?.arns,
        ...listStreamArns(stream),
        'operator-functions': [...operatorFunctions.values()].map(({ functionArn }) => functionArn),
        ...(cloneOf !== undefined && {
          'cloned-control-table': [cloneOf.controlTable.tableArn],
          'cloned-storage-key': cloneOf.encryptionKey ? [cloneOf.encryptionKey.keyArn] : [],
          'cloned-bucket': [cloneOf.bucket.bucketArn],
          'cloned-job-objects': [cloneOf.bucket.arnForObjects(jobObjectsPattern(cloneOf.jobName))],
        }),
        'event-source-mappings': [...mappings.values()].map(
          ({ attrEventSourceMappingArn }) => attrEventSourceMappingArn,
        ),
      },
      removalPolicy: props.removalPolicy,
      encryptionKey: storage.encryptionKey,
      network: props.network,
    });
    this.function = handler;
    const { generationRetentionHours: retentionHours } = job;
    const step: RequestStep = 'generations.clean';
    new FunctionSchedule(this, 'Cleanup', {
      function: handler,
      every: CLEANUP_EVERY,
      description: `Deletes old state of job ${job.jobName}`,
      input: { step, retentionHours },
    });
  }
}
