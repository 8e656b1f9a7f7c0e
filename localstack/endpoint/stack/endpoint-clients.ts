import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { createServiceClients, type ServiceClients } from '../../embedded/service-clients.ts';
import { endpointVariables, readRegion } from '../endpoint-environment.ts';

export interface EndpointClients extends ServiceClients {
  readonly cloudFormation: CloudFormationClient;
}

/** Clients of everything at one address. Nothing of them leads to AWS. */
export function createEndpointClients(url: string): EndpointClients {
  const region = readRegion(process.env);
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = endpointVariables(process.env, url);
  const services = createServiceClients(
    { kinesis: url, dynamodb: url, s3: url, lambda: url, stepFunctions: url },
    region,
  );
  const cloudFormation = new CloudFormationClient({
    ...{ region, endpoint: url },
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID!, secretAccessKey: AWS_SECRET_ACCESS_KEY! },
  });
  return {
    ...services,
    cloudFormation,
    destroy() {
      services.destroy();
      cloudFormation.destroy();
    },
  };
}
