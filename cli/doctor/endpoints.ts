import { HoldfastError } from '../../shared/core/errors.ts';
import type { DoctorService } from './finding.ts';

/** Where each service is asked; undefined: AWS itself. */
export type Endpoints = Readonly<Record<DoctorService, string | undefined>>;

/** The SDK's own variables, by service. */
const variableOf = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  s3: 'AWS_ENDPOINT_URL_S3',
  kinesis: 'AWS_ENDPOINT_URL_KINESIS',
  lambda: 'AWS_ENDPOINT_URL_LAMBDA',
  workflows: 'AWS_ENDPOINT_URL_SFN',
} as const satisfies Record<DoctorService, string>;

/**
 * Which services a probe asks: Lambda's event source mapping reads a stream, tells what it saw in a table, and discards into a
 * bucket.
 */
const asks: Readonly<Record<DoctorService, readonly DoctorService[]>> = {
  dynamodb: ['dynamodb'],
  s3: ['s3'],
  kinesis: ['kinesis'],
  lambda: ['lambda', 'dynamodb', 'kinesis', 's3'],
  workflows: ['workflows', 'lambda'],
};

/**
 * Finds the endpoint of each service, as the SDK would: its own variable, then the one for all.
 *
 * @param services those that are going to be probed
 * @throws HoldfastError `invalid` where one of them would be asked of AWS itself, and `isAwsAllowed` is false: the probes make
 *   resources, which cost money there
 */
export function readEndpoints(
  env: Readonly<Record<string, string | undefined>>,
  services: readonly DoctorService[],
  isAwsAllowed: boolean,
): Endpoints {
  const read = (service: DoctorService): string | undefined =>
    [env[variableOf[service]], env['AWS_ENDPOINT_URL']].find(
      // A variable that is set to nothing is not set.
      (value) => value !== undefined && value !== '',
    );
  const endpoints: Endpoints = {
    dynamodb: read('dynamodb'),
    s3: read('s3'),
    kinesis: read('kinesis'),
    lambda: read('lambda'),
    workflows: read('workflows'),
  };
  const asked = new Set(services.flatMap((service) => asks[service]));
  const atAws = [...asked].filter((service) => isAws(endpoints[service]));
  if (atAws.length === 0 || isAwsAllowed) return endpoints;
  throw new HoldfastError(
    'invalid',
    `${atAws.join(', ')} would be asked of AWS itself, where the doctor's temporary resources cost money; name an endpoint with --endpoint <url> or ${variableOf[atAws[0]!]}, ask about less with --only, or say --aws if you mean it`,
  );
}

function isAws(endpoint: string | undefined): boolean {
  if (endpoint === undefined) return true;
  const { hostname } = new URL(endpoint);
  return /(^|\.)(amazonaws\.com(\.cn)?|api\.aws)$/.test(hostname);
}
