import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Endpoints } from './endpoints.ts';

export interface DoctorClients {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly kinesis: KinesisClient;
  readonly lambda: LambdaClient;
  readonly stepFunctions: SFNClient;
}

/** How long one request may take, ms: an invocation is waited for. */
const requestTimeoutMs = 20_000;
const connectionTimeoutMs = 3_000;

/**
 * Clients of the endpoints that are probed. An endpoint that is not AWS is asked in a region and with credentials of no meaning
 * where none are set: emulators check neither, and the SDK asks without them for what is not there.
 */
export function createDoctorClients(
  endpoints: Endpoints,
  env: Readonly<Record<string, string | undefined>>,
): DoctorClients {
  const requestHandler = new NodeHttpHandler({
    requestTimeout: requestTimeoutMs,
    connectionTimeout: connectionTimeoutMs,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: 32 },
    httpsAgent: { keepAlive: true, maxSockets: 32 },
  });
  const hasRegion = ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE'].some((name) =>
    hasText(env[name]),
  );
  const hasCredentials = Object.keys(env).some((name) =>
    /^AWS_(ACCESS_KEY_ID|PROFILE|WEB_IDENTITY_TOKEN_FILE|CONTAINER_CREDENTIALS_.*)$/.test(name),
  );
  const at = (endpoint: string | undefined) => ({
    ...{ requestHandler, maxAttempts: 2 },
    ...(endpoint !== undefined && {
      endpoint,
      ...(hasRegion ? {} : { region: 'us-east-1' }),
      ...(hasCredentials ? {} : { credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }),
    }),
  });
  return {
    dynamodb: new DynamoDBClient(at(endpoints.dynamodb)),
    s3: new S3Client({ ...at(endpoints.s3), forcePathStyle: endpoints.s3 !== undefined }),
    kinesis: new KinesisClient(at(endpoints.kinesis)),
    lambda: new LambdaClient(at(endpoints.lambda)),
    stepFunctions: new SFNClient(at(endpoints.workflows)),
  };
}

export function destroyClients(clients: DoctorClients): void {
  for (const client of Object.values(clients) as { destroy(): void }[]) client.destroy();
}

/** A variable that is set to nothing is not set. */
function hasText(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
