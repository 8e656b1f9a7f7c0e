import { fileURLToPath } from 'node:url';
import type { Code } from 'aws-cdk-lib/aws-lambda';
import { CustomResource, Duration, type RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { writeRegistrarEnvironment } from '../shared/config/environment.ts';
import type { Job } from '../shared/config/job.ts';
import { HandlerFunction } from './handler-function.ts';
import type { JobNetwork } from './job-network.ts';
import { type JobStorage, listStorageArns } from './job-storage.ts';
import { REGISTRAR_PERMISSIONS } from './permissions.ts';

const REGISTRAR_ENTRY = fileURLToPath(
  new URL('../functions/register-job/handler.ts', import.meta.url),
);

export interface JobRegistrationProps {
  readonly job: Job;
  readonly storage: JobStorage;
  readonly streamArn: string;
  readonly bundle: (entry: string) => Code;
  readonly removalPolicy: RemovalPolicy;
  readonly network: JobNetwork | undefined;
}

/**
 * Creates the job item, which only a deployment may do (C1): a runtime that finds no job item must
 * never take lost tables for a first deployment. The registrar answers CloudFormation itself;
 * CDK's provider framework would add functions with rights of its own.
 */
export class JobRegistration extends Construct {
  readonly registrar: HandlerFunction;
  /** Whatever needs the job to exist depends on this. */
  readonly resource: CustomResource;

  constructor(scope: Construct, id: string, props: JobRegistrationProps) {
    super(scope, id);
    const { job, storage } = props;
    this.registrar = new HandlerFunction(this, 'Registrar', {
      code: props.bundle(REGISTRAR_ENTRY),
      environment: writeRegistrarEnvironment({
        controlTable: storage.controlTable.tableName,
        bucket: storage.bucket.bucketName,
      }),
      memorySize: 256,
      timeout: Duration.seconds(60),
      permissions: REGISTRAR_PERMISSIONS,
      resources: listStorageArns(storage, job.jobName, new Map()),
      removalPolicy: props.removalPolicy,
      encryptionKey: storage.encryptionKey,
      network: props.network,
    });
    this.resource = new CustomResource(this, 'Job', {
      serviceToken: this.registrar.function.functionArn,
      resourceType: 'Custom::HoldfastJob',
      // Lambda tries a failing registrar three times within this; the default is a silent hour.
      serviceTimeout: Duration.minutes(10),
      properties: {
        JobName: job.jobName,
        ...(job.cloneOf === undefined ? {} : { CloneOf: job.cloneOf }),
        MaxParallelism: job.maxParallelism,
        Operators: job.operators.map((operator) => operator.id),
        Sinks: Object.fromEntries(job.operators.flatMap(({ sinks }) => Object.entries(sinks))),
        StreamArn: props.streamArn,
        StateTable: storage.stateTable.tableName,
        ControlTable: storage.controlTable.tableName,
        DeadLetterTable: storage.deadLetterTable.tableName,
        Bucket: storage.bucket.bucketName,
      },
    });
  }
}
