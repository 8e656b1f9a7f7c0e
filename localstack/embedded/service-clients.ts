import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { NodeHttpHandler } from '@smithy/node-http-handler';

import type { ServiceEndpoints } from './lambda/environment-variables.ts';

export interface ServiceClients {
  readonly kinesis: KinesisClient;
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly lambda: LambdaClient;
  readonly stepFunctions: SFNClient;
  destroy(): void;
}

/** Clients of the local services; they read neither environment nor configuration files. */
export function createServiceClients(endpoints: ServiceEndpoints, region: string): ServiceClients {
  const common = { region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const kinesis = new KinesisClient({
    ...common,
    endpoint: endpoints.kinesis,
    // The default speaks HTTP/2, which needs TLS.
    requestHandler: new NodeHttpHandler(),
  });
  const dynamodb = new DynamoDBClient({ ...common, endpoint: endpoints.dynamodb });
  const s3 = new S3Client({ ...common, endpoint: endpoints.s3, forcePathStyle: true });
  const lambda = new LambdaClient({ ...common, endpoint: endpoints.lambda });
  const stepFunctions = new SFNClient({ ...common, endpoint: endpoints.stepFunctions });
  return {
    kinesis,
    dynamodb,
    s3,
    lambda,
    stepFunctions,
    destroy() {
      kinesis.destroy();
      dynamodb.destroy();
      s3.destroy();
      lambda.destroy();
      stepFunctions.destroy();
    },
  };
}
