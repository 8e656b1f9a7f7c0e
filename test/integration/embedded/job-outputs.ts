import type { StreamJob } from '../../../infra/stream-job.ts';
import type { EmbeddedAws } from '../../../localstack/embedded/embedded-aws.ts';

/** What a test asks the stack of a job with one operator for, whatever its sinks are. */
export function listJobOutputs(job: StreamJob, operator: string): Record<string, string> {
  return {
    Stream: job.stream.streamName,
    Bucket: job.bucket.bucketName,
    State: job.stateTable.tableName,
    Control: job.controlTable.tableName,
    DeadLetters: job.deadLetterTable.tableName,
    Operator: job.operatorFunction(operator).functionName,
    Steps: job.workflowFunction.functionName,
    Savepoints: job.savepointWorkflow.stateMachineArn,
    Restores: job.restoreWorkflow.stateMachineArn,
  };
}

/** The environment in which the command line finds the workflows of a job. */
export function workflowEnvironment(
  { region, endpoints }: EmbeddedAws,
  output: (name: string) => string,
): Record<string, string> {
  return {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_ENDPOINT_URL_SFN: endpoints.stepFunctions,
    HOLDFAST_WORKFLOW_FUNCTION: output('Steps'),
    HOLDFAST_SAVEPOINT_WORKFLOW: output('Savepoints'),
    HOLDFAST_RESTORE_WORKFLOW: output('Restores'),
  };
}
