import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import type { S3Client } from '@aws-sdk/client-s3';

/** A command as it reaches a client. */
export interface SentCommand {
  /** Say, `GetItemCommand`. */
  readonly name: string;
  readonly input: Record<string, unknown>;
}

type Answer = (command: SentCommand) => unknown;

/** A client whose replies are made by a test; what it throws is thrown to the caller. */
export function fakeDynamodb(answer: Answer): DynamoDBClient {
  return fakeClient(answer) as DynamoDBClient;
}

export function fakeKinesis(answer: Answer): KinesisClient {
  return fakeClient(answer) as KinesisClient;
}

export function fakeS3(answer: Answer): S3Client {
  return fakeClient(answer) as S3Client;
}

function fakeClient(answer: Answer): unknown {
  return {
    send: async (command: { readonly input: Record<string, unknown> }) =>
      answer({ name: command.constructor.name, input: command.input }),
  };
}

/** An error as the SDK throws it for a reply of the service; without a status it is one of the network. */
export function sdkError(name: string, status?: number): Error {
  const error = new Error(`${name} happened`);
  error.name = name;
  return Object.assign(error, {
    $metadata: status === undefined ? {} : { httpStatusCode: status },
  });
}
