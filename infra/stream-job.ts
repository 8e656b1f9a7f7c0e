import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IStream } from 'aws-cdk-lib/aws-kinesis';
import type { CfnEventSourceMapping, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { ConfigurationError, showValue } from '../shared/config/configuration-error.ts';
import { writeEnvironment } from '../shared/config/environment.ts';
import { writeJobNames } from '../shared/config/job-names.ts';
import type { Job, JobOperator } from '../shared/config/job.ts';
import { placeBackup } from './backup.ts';
import { bundleHandler } from './bundle-handler.ts';
import { Coordinator } from './coordinator.ts';
import { HandlerFunction } from './handler-function.ts';
import { Heartbeat } from './heartbeat.ts';
import { createJobKey } from './job-key.ts';
import { createJobNetwork, type JobNetwork } from './job-network.ts';
import { JobRegistration } from './job-registration.ts';
import { createJobStorage, type JobStorage, listStorageArns } from './job-storage.ts';
import {
  OPERATOR_PERMISSIONS,
  PRODUCER_PERMISSIONS,
  SINK_READER_PERMISSIONS,
} from './permissions.ts';
import { grant } from './policy-statements.ts';
import { readJob } from './read-job.ts';
import type { StreamJobProps } from './stream-job-props.ts';
import { RestoreWorkflow } from './restore-workflow.ts';
import { SavepointWorkflow } from './savepoint-workflow.ts';
import { createStreamMapping } from './stream-mapping.ts';
import { createSourceStream, listStreamArns } from './stream-source.ts';
import { WorkflowSteps } from './workflow-steps.ts';

/** Where the runtime publishes its metrics. */
const METRICS_NAMESPACE = 'Holdfast';

interface OperatorSurroundings extends Required<Pick<StreamJobProps, 'bundle' | 'removalPolicy'>> {
  readonly network: JobNetwork | undefined;
}

/**
 * A stateful stream job: its source stream, one function for each operator, and the tables and the
 * bucket that keep its state, its progress, its output and its checkpoints.
 *
 * @throws ConfigurationError with every problem of the props, before anything is created.
 */
export class StreamJob extends Construct {
  /** Its stable name. */
  readonly jobName: string;
  /** The stream that every operator reads. */
  readonly stream: IStream;
  /** One item for each key of each operator. */
  readonly stateTable: Table;
  /** The job item, the progress of every channel, and what coordinates them. */
  readonly controlTable: Table;
  /** Records and timers that no operator could process. */
  readonly deadLetterTable: Table;
  /** Segments, manifests, and batches that Lambda has discarded. */
  readonly bucket: Bucket;
  /** What data and logs are encrypted with; none unless the job asks for it. */
  readonly encryptionKey: IKey | undefined;
  /** Runs at every deployment, before any operator may read. */
  readonly registrarFunction: LambdaFunction;
  /** Makes checkpoints, merges and collects files, visits quiet channels. */
  readonly coordinatorFunction: LambdaFunction;
  /** Makes savepoints. */
  readonly savepointWorkflow: StateMachine;
  /** Restores the job, and drills that. */
  readonly restoreWorkflow: StateMachine;
  /** Does the steps of both; the command line asks it, too. */
  readonly workflowFunction: LambdaFunction;
  /** Puts heartbeats into the stream; none unless the job asks for them. */
  readonly heartbeatFunction: LambdaFunction | undefined;

  readonly #sinkTables: ReadonlyMap<string, Table>;
  readonly #operatorFunctions = new Map<string, LambdaFunction>();

  constructor(scope: Construct, id: string, props: StreamJobProps) {
    super(scope, id);
    const job = readJob(this.node.path, props);
    this.jobName = job.jobName;
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    const bundle = props.bundle ?? bundleHandler;
    const encryptionKey = createJobKey(this, props.encryption, {
      jobName: job.jobName,
      removalPolicy,
    });
    this.encryptionKey = encryptionKey;
    const storage = createJobStorage(this, {
      sinkNames: job.operators.flatMap(({ sinks }) => Object.keys(sinks)),
      ...{ removalPolicy, encryptionKey },
    });
    const network = createJobNetwork(this, props.vpc, job);
    const backup = placeBackup(this.node.path, props.checkpointing?.backup, {
      jobName: job.jobName,
      bucket: storage.bucket,
    });
    this.stream = createSourceStream(this, props.source, { removalPolicy, encryptionKey });
    this.stateTable = storage.stateTable;
    this.controlTable = storage.controlTable;
    this.deadLetterTable = storage.deadLetterTable;
    this.bucket = storage.bucket;
    this.#sinkTables = storage.sinkTables;

    const registration = new JobRegistration(this, 'Registration', {
      job,
      storage,
      streamArn: this.stream.streamArn,
      ...{ bundle, removalPolicy, network },
    });
    this.registrarFunction = registration.registrar.function;
    const mappings = new Map<string, CfnEventSourceMapping>();
    for (const operator of job.operators) {
      const handler = this.#addOperator(job, operator, storage, {
        ...{ bundle, removalPolicy, network },
      });
      const mapping = createStreamMapping(handler, 'Mapping', {
        streamArn: this.stream.streamArn,
        handler: handler.function,
        batchSize: operator.batchSize,
        batchingWindowSeconds: operator.batchingWindowSeconds,
        discardedTo: this.bucket.bucketArn,
      });
      // No record before the job exists: an operator that finds no job item hands its batch back.
      mapping.node.addDependency(registration.resource);
      mappings.set(operator.id, mapping);
    }
    const coordinator = new Coordinator(this, 'Coordinator', {
      job,
      storage,
      stream: this.stream,
      operatorFunctions: this.#operatorFunctions,
      ...{ backup, bundle, removalPolicy, network },
    });
    // Its first tick comes with the schedule.
    coordinator.node.addDependency(registration.resource);
    this.coordinatorFunction = coordinator.function;
    const steps = new WorkflowSteps(this, 'Steps', {
      ...{ job, storage, stream: this.stream, operatorFunctions: this.#operatorFunctions },
      ...{ mappings, backup, bundle, removalPolicy, network, cloneOf: props.cloneOf },
    });
    this.workflowFunction = steps.function;
    const workflow = { function: steps.function, jobName: job.jobName };
    this.savepointWorkflow = new SavepointWorkflow(this, 'Savepoints', workflow).stateMachine;
    this.restoreWorkflow = new RestoreWorkflow(this, 'Restores', workflow).stateMachine;
    this.heartbeatFunction =
      job.heartbeat === undefined
        ? undefined
        : new Heartbeat(this, 'Heartbeat', {
            jobName: job.jobName,
            heartbeat: job.heartbeat,
            stream: this.stream,
            ...{ bundle, removalPolicy, encryptionKey, network },
          }).function;
    this.#publishNames();
  }

  /** The function of an operator, for alarms and for rights that the operator needs besides. */
  operatorFunction(operatorId: string): LambdaFunction {
    return find(this.#operatorFunctions, 'operator', operatorId, this.node.path);
  }

  /** The table of a sink: string keys `pk` and `sk`, written by one operator only. */
  sinkTable(sinkName: string): Table {
    return find(this.#sinkTables, 'sink', sinkName, this.node.path);
  }

  /** Lets somebody put records into the source stream. */
  grantPutRecords(grantee: IGrantable): Grant {
    return grant(grantee, PRODUCER_PERMISSIONS, listStreamArns(this.stream));
  }

  /** Lets somebody read the rows of a sink. */
  grantReadSink(sinkName: string, grantee: IGrantable): Grant {
    return grant(grantee, SINK_READER_PERMISSIONS, {
      'sink-tables': [this.sinkTable(sinkName).tableArn],
      'storage-key': this.encryptionKey ? [this.encryptionKey.keyArn] : [],
    });
  }

  /**
   * How old the last record of a batch was when the operator was done with it. An alarm belongs on
   * a fraction of the stream's retention: what grows older than that is lost.
   *
   * @default - the maximum over five minutes
   */
  metricIteratorAge(operatorId: string, options?: MetricOptions): Metric {
    return this.operatorFunction(operatorId).metric('IteratorAge', {
      statistic: 'Maximum',
      ...options,
    });
  }

  /**
   * How many checkpoints have failed since the last one that completed. An alarm belongs on more than are tolerated.
   *
   * @default - the maximum over five minutes
   */
  metricCheckpointFailures(options?: MetricOptions): Metric {
    return this.#coordinatorMetric('checkpointFailures', options);
  }

  /**
   * How old the newest complete checkpoint is, ms. It is what a restore has to read again.
   *
   * @default - the maximum over five minutes
   */
  metricCheckpointAge(options?: MetricOptions): Metric {
    return this.#coordinatorMetric('checkpointAgeMs', options);
  }

  /** One output for each job, so that `holdfast deploy` needs to be told the stack alone. */
  #publishNames(): void {
    const names = writeJobNames({
      job: this.jobName,
      streamArn: this.stream.streamArn,
      controlTable: this.controlTable.tableName,
      deadLetterTable: this.deadLetterTable.tableName,
      bucket: this.bucket.bucketName,
      operatorFunctions: new Map(
        [...this.#operatorFunctions].map(([operator, { functionName }]) => [
          operator,
          functionName,
        ]),
      ),
      workflowFunction: this.workflowFunction.functionName,
      savepointWorkflow: this.savepointWorkflow.stateMachineArn,
      restoreWorkflow: this.restoreWorkflow.stateMachineArn,
    });
    new CfnOutput(this, 'Names', {
      value: Stack.of(this).toJsonString(names),
      description: `What holdfast is told of job ${this.jobName}, by its variables`,
    });
  }

  #coordinatorMetric(metricName: string, options?: MetricOptions): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { job: this.jobName },
      statistic: 'Maximum',
      ...options,
    });
  }

  #addOperator(
    job: Job,
    operator: JobOperator,
    storage: JobStorage,
    { bundle, removalPolicy, network }: OperatorSurroundings,
  ): HandlerFunction {
    const ownSinks = new Map(
      Object.keys(operator.sinks).map((name) => [name, this.sinkTable(name)]),
    );
    const handler = new HandlerFunction(this, `Operator-${operator.id}`, {
      code: bundle(operator.entry),
      environment: writeEnvironment({
        job: job.jobName,
        operator: operator.id,
        streamArn: this.stream.streamArn,
        stateTable: this.stateTable.tableName,
        controlTable: this.controlTable.tableName,
        deadLetterTable: this.deadLetterTable.tableName,
        bucket: this.bucket.bucketName,
        maxParallelism: job.maxParallelism,
        sinks: new Map([...ownSinks].map(([name, table]) => [name, table.tableName])),
        retentionHours: job.source.retentionHours,
      }),
      memorySize: operator.memorySizeMb,
      timeout: Duration.seconds(operator.timeoutSeconds),
      permissions: OPERATOR_PERMISSIONS,
      resources: {
        ...listStorageArns(storage, job.jobName, ownSinks),
        ...listStreamArns(this.stream),
      },
      ...{ removalPolicy, network, encryptionKey: this.encryptionKey },
    });
    this.#operatorFunctions.set(operator.id, handler.function);
    return handler;
  }
}

function find<Value>(
  values: ReadonlyMap<string, Value>,
  what: string,
  name: string,
  path: string,
): Value {
  const value = values.get(name);
  if (value !== undefined) return value;
  throw new ConfigurationError(`[${path}] StreamJob`, [
    {
      name: what,
      got: showValue(name),
      expected: `one of ${[...values.keys()].map(showValue).join(', ') || 'none: the job has none'}`,
      remedy: 'use a name that the job has',
    },
  ]);
}
