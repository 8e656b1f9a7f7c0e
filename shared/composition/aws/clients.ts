import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/*
 * The clients of a function. Region, credentials and endpoints come from the SDK's own environment variables, so that
 * the same bundle talks to AWS, to LocalStack and to the embedded stack.
 */

/** How long one request may take before it counts as lost, ms. */
const requestTimeoutMs = 10_000;
const connectionTimeoutMs = 3_000;

/** Requests of one client at once: enough for every batch that a unit sends in parallel. */
const socketsMax = 64;

export interface AwsClients {
  readonly dynamodb: DynamoDBClient;
  readonly kinesis: KinesisClient;
  readonly s3: S3Client;
}

/** @param hasOwnEndpoint another endpoint than AWS is set: buckets are then addressed by path */
export function createAwsClients(hasOwnEndpoint: boolean): AwsClients {
  const requestHandler = createRequestHandler();
  return {
    ...createStorageClients(hasOwnEndpoint, requestHandler),
    kinesis: createKinesisClient(requestHandler),
  };
}

/** For functions that have nothing to do with the stream: what is not called is not in their bundle. */
export function createStorageClients(
  hasOwnEndpoint: boolean,
  requestHandler = createRequestHandler(),
): Pick<AwsClients, 'dynamodb' | 's3'> {
  return {
    dynamodb: new DynamoDBClient({ requestHandler }),
    s3: new S3Client({ requestHandler, forcePathStyle: hasOwnEndpoint }),
  };
}

/** For those that have to do with nothing but the stream. */
export function createKinesisClient(requestHandler = createRequestHandler()): KinesisClient {
  // HTTP/1.1 for Kinesis, too: the SDK's default is HTTP/2, which plain http endpoints do not speak.
  return new KinesisClient({ requestHandler });
}

function createRequestHandler(): NodeHttpHandler {
  return new NodeHttpHandler({
    requestTimeout: requestTimeoutMs,
    connectionTimeout: connectionTimeoutMs,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: socketsMax },
    httpsAgent: { keepAlive: true, maxSockets: socketsMax },
  });
}

/** True where the SDK's environment names an endpoint of its own for some service. */
export function hasOwnEndpoint(env: Readonly<Record<string, string | undefined>>): boolean {
  return Object.entries(env).some(
    ([name, value]) => name.startsWith('AWS_ENDPOINT_URL') && value !== undefined && value !== '',
  );
}
