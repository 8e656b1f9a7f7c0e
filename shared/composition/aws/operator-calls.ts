import { LambdaClient } from '@aws-sdk/client-lambda';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { createLambdaOperatorCalls } from '../../adapters/lambda/lambda-operator-calls.ts';
import { createLambdaStreamMappings } from '../../adapters/lambda/lambda-stream-mappings.ts';
import { nodeSystem } from '../../adapters/system/node-system.ts';
import type { OperatorCalls } from '../../ports/operator-calls.ts';
import type { StreamMappings } from '../../ports/stream-mappings.ts';

/** The longest that a function may run, and the way there and back, ms. */
const requestTimeoutMs = 910_000;
const connectionTimeoutMs = 3_000;

/**
 * The functions of a job's operators, to be asked. Region, credentials and endpoint come from the SDK's own environment variables.
 *
 * @param functions operator → name or ARN
 */
export function openOperatorCalls(functions: ReadonlyMap<string, string>): OperatorCalls {
  return createLambdaOperatorCalls({ client: createClient(), functions, system: nodeSystem });
}

/**
 * How the stream is delivered to them.
 *
 * @param mappings operator → id of its event source mapping
 */
export function openStreamMappings(mappings: ReadonlyMap<string, string>): StreamMappings {
  return createLambdaStreamMappings({ client: createClient(), mappings, system: nodeSystem });
}

function createClient(): LambdaClient {
  return new LambdaClient({
    // Tried again by the adapters alone.
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      requestTimeout: requestTimeoutMs,
      connectionTimeout: connectionTimeoutMs,
      throwOnRequestTimeout: true,
    }),
  });
}
