/** No product looks at more than that there are any. */
const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

/** The account that all products show to these credentials. */
export const endpointAccount = '000000000000';

export function readRegion(env: NodeJS.ProcessEnv): string {
  return env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
}

/**
 * The environment of what talks to the endpoint: this process's, without anything that leads to AWS. No profile and no key of the
 * user's gets near an endpoint, and nothing that is meant for the endpoint gets to AWS.
 */
export function endpointEnvironment(
  env: NodeJS.ProcessEnv,
  endpointUrl: string,
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(AWS|CDK)_/.test(name));
  return { ...Object.fromEntries(kept), ...endpointVariables(env, endpointUrl) };
}

/** What the SDK has to be told. */
export function endpointVariables(
  env: NodeJS.ProcessEnv,
  endpointUrl: string,
): Record<string, string> {
  const region = readRegion(env);
  return {
    ...{ AWS_ENDPOINT_URL: endpointUrl, AWS_REGION: region, AWS_DEFAULT_REGION: region },
    ...credentials,
  };
}
