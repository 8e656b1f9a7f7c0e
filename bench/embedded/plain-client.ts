import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/**
 * The SDK's client as people use it, with as many connections as ours. It has no time limits: a batch that is sent all at once waits
 * for connections longer than ours allow one request to take.
 */
export function createPlainClient(): DynamoDBClient {
  return new DynamoDBClient({
    requestHandler: {
      httpAgent: { keepAlive: true, maxSockets: 64 },
      httpsAgent: { keepAlive: true, maxSockets: 64 },
      // That they wait is known, and a warning for each batch would be in the way.
      socketAcquisitionWarningTimeout: 600_000,
    },
  });
}
