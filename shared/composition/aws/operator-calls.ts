import { LambdaClient } from '@aws-sdk/client-lambda';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { createLambdaOperatorCalls } from '../../adapters/lambda/lambda-operator-calls.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { OperatorCalls } from '../../ports/operator-calls.ts';

/** The longest that a function may run, and the way there and back, ms. */
const requestTimeoutMs = 910_000;
const connectionTimeoutMs = 3_000;

/**
 * The functions of a job's operators, to be asked. Region, credentials and endpoint come from the SDK's own environment variables.
 *
 * @param functions operator → name or ARN
 */
export function openOperatorCalls(functions: ReadonlyMap<string, string>): OperatorCalls {
  const client = new LambdaClient({
    // Tried again by the adapter alone.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      requestTimeout: requestTimeoutMs,
      connectionTimeout: connectionTimeoutMs,
      throwOnRequestTimeout: true,
    }),
  });
  return createLambdaOperatorCalls({ client, functions, system: nodeSystem });
}
