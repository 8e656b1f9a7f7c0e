import { createDynamodbControlStore } from '../../adapters/dynamodb/dynamodb-control-store.ts';
import { createS3ObjectStore } from '../../adapters/s3/s3-object-store.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import { readRegistrarEnvironment } from '../../config/environment.ts';
import { describeThrown, HoldfastError } from '../../core/errors.ts';
import { registerJob, type JobRequest } from '../../runtime/register-job.ts';
import type { SinkKinds } from '../../ports/control-store.ts';
import { createStorageClients, hasOwnEndpoint } from './clients.ts';

/**
 * A request of CloudFormation for a custom resource.
 * Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requests.html
 */
interface CustomResourceEvent {
  readonly RequestType: 'Create' | 'Update' | 'Delete';
  readonly ResponseURL: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly PhysicalResourceId?: string;
  readonly ResourceProperties: Readonly<Record<string, unknown>>;
}

/**
 * Makes the handler of `Custom::HoldfastJob`, which creates the job's item and marker with its deployment. Deleting the
 * resource leaves both: the tables and the bucket that they are in outlive the stack.
 */
export function createRegisterJobHandler(): (event: CustomResourceEvent) => Promise<void> {
  const environment = readRegistrarEnvironment(process.env);
  const clients = createStorageClients(hasOwnEndpoint(process.env));
  const system = nodeSystem;
  const control = createDynamodbControlStore({
    client: clients.dynamodb,
    table: environment.controlTable,
    system,
  });
  const objects = createS3ObjectStore({ client: clients.s3, bucket: environment.bucket, system });

  return async (event) => {
    try {
      if (event.RequestType !== 'Delete') {
        await registerJob(control, objects, readRequest(event, system.now()));
      }
      await respond(event, 'SUCCESS', '');
    } catch (thrown) {
      // CloudFormation shows the reason to whoever deploys, and rolls back.
      await respond(event, 'FAILED', describeThrown(thrown));
    }
  };
}

function readRequest(event: CustomResourceEvent, nowMs: number): JobRequest {
  const { JobName: name, CloneOf: cloneOf, StreamArn: streamArn } = event.ResourceProperties;
  const { MaxParallelism, Operators, Sinks } = event.ResourceProperties;
  // CloudFormation turns every scalar into text.
  const maxParallelism = Number(MaxParallelism);
  if (typeof name !== 'string' || !Array.isArray(Operators)) {
    throw new HoldfastError(
      'invalid',
      `Custom::HoldfastJob has JobName ${JSON.stringify(name)} and Operators ${JSON.stringify(Operators)}, expected a name and a list; deploy it with the StreamJob construct`,
    );
  }
  // By the resource's id, which an update that failed has left as it was, and not by its old properties: those are what was
  // refused when CloudFormation rolls back.
  const id = event.PhysicalResourceId ?? physicalIdOf(name);
  if (id !== physicalIdOf(name)) {
    throw new HoldfastError(
      'invalid',
      `the job of ${id} is asked to be ${name}; the name is a contract: under another one the stream would be read again from its beginning and every output doubled. Keep the name; a second job is a second StreamJob`,
    );
  }
  return {
    ...{ name, maxParallelism, operators: Operators.map(String), sinks: readSinks(name, Sinks) },
    ...(typeof streamArn === 'string' ? { streamArn } : {}),
    ...(typeof cloneOf === 'string' ? { birth: { cloneOf, atMs: nowMs } } : {}),
  };
}

/** A job without sinks is deployed without the property. */
function readSinks(job: string, sinks: unknown = {}): SinkKinds {
  const kinds = Object.entries(sinks as object) as [string, unknown][];
  const [wrong] = kinds.filter(([, kind]) => kind !== 'append' && kind !== 'upsert');
  if (wrong === undefined) return sinks as SinkKinds;
  throw new HoldfastError(
    'invalid',
    `Custom::HoldfastJob of job ${job} has sink ${wrong[0]} of kind ${JSON.stringify(wrong[1])}, expected append or upsert; deploy it with the StreamJob construct`,
  );
}

function physicalIdOf(jobName: unknown): string {
  return `holdfast-job-${String(jobName)}`;
}

async function respond(
  event: CustomResourceEvent,
  status: 'SUCCESS' | 'FAILED',
  reason: string,
): Promise<void> {
  const jobName = event.ResourceProperties['JobName'];
  const response = await fetch(event.ResponseURL, {
    method: 'PUT',
    body: JSON.stringify({
      Status: status,
      Reason: reason,
      PhysicalResourceId: event.PhysicalResourceId ?? physicalIdOf(jobName),
      StackId: event.StackId,
      RequestId: event.RequestId,
      LogicalResourceId: event.LogicalResourceId,
    }),
  });
  if (!response.ok) {
    throw new HoldfastError(
      'unavailable',
      `CloudFormation took the answer with ${response.status}`,
    );
  }
}
