import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { StreamJob } from './stream-job.ts';
import type { StreamJobProps } from './stream-job-props.ts';
import { provisionedStream } from './stream-source.ts';

const JOB_NAME = 'flight-delays';
const OPERATOR_ID = 'flight-delays';

export interface FlightDelaysStackProps extends StackProps {
  /**
   * Where it is deployed to, as `test`: becomes part of the job's name, so that metrics of two stages in one account are kept
   * apart. Everything else has names that CloudFormation generates.
   *
   * @default - none: the job is `flight-delays`
   */
  readonly stage?: string;

  /**
   * Shards of the source stream.
   *
   * @default 4
   */
  readonly shards?: number;

  /**
   * Whether the data may go when the stack goes. For trials only.
   *
   * @default false
   */
  readonly ephemeral?: boolean;

  /** @internal */
  readonly bundle?: StreamJobProps['bundle'];
}

/** The demonstration: delays of flights, counted for each airport and each of its hours, with alerts. */
export class FlightDelaysStack extends Stack {
  constructor(scope: Construct, id: string, props: FlightDelaysStackProps = {}) {
    const { stage, shards, ephemeral, bundle, ...stackProps } = props;
    super(scope, id, stackProps);
    const job = new StreamJob(this, 'Job', {
      jobName: stage === undefined ? JOB_NAME : `${JOB_NAME}-${stage}`,
      source: provisionedStream({ shards: shards ?? 4 }),
      operators: [
        {
          id: OPERATOR_ID,
          entry: 'functions/flight-delays/handler.ts',
          sinks: { airports: 'upsert', alerts: 'append', hours: 'append', late: 'append' },
        },
      ],
      removalPolicy: ephemeral === true ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
      ...(bundle === undefined ? {} : { bundle }),
    });
    this.#publish({
      StreamName: job.stream.streamName,
      StateTable: job.stateTable.tableName,
      ControlTable: job.controlTable.tableName,
      DeadLetterTable: job.deadLetterTable.tableName,
      Bucket: job.bucket.bucketName,
      SinkAirports: job.sinkTable('airports').tableName,
      SinkAlerts: job.sinkTable('alerts').tableName,
      SinkHours: job.sinkTable('hours').tableName,
      SinkLate: job.sinkTable('late').tableName,
      OperatorFunction: job.operatorFunction(OPERATOR_ID).functionName,
      RegistrarFunction: job.registrarFunction.functionName,
      CoordinatorFunction: job.coordinatorFunction.functionName,
      WorkflowFunction: job.workflowFunction.functionName,
      SavepointWorkflow: job.savepointWorkflow.stateMachineArn,
      RestoreWorkflow: job.restoreWorkflow.stateMachineArn,
    });
  }

  #publish(outputs: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
