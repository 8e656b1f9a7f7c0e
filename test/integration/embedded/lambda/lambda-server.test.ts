import {
  InvokeCommand,
  type InvokeCommandInput,
  LambdaClient,
  type LambdaServiceException,
} from '@aws-sdk/client-lambda';
import { describe, expect, it, onTestFinished } from 'vitest';

import { startLambdaServer } from '../../../../localstack/embedded/lambda/lambda-server.ts';
import { createTestFunction, type TestFunctionOptions } from './test-function.ts';

async function serve(handler: string, options: TestFunctionOptions = {}): Promise<LambdaClient> {
  const tested = createTestFunction(handler, options);
  onTestFinished(() => tested.stop());
  const server = await startLambdaServer(new Map([['Tested', tested]]));
  onTestFinished(() => server.stop());
  const client = new LambdaClient({
    endpoint: server.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  onTestFinished(() => client.destroy());
  return client;
}

async function refusal(client: LambdaClient, input: Partial<InvokeCommandInput>) {
  const sending = client.send(new InvokeCommand({ FunctionName: 'tested', ...input }));
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason as LambdaServiceException,
  );
  return [error?.name, error?.$metadata.httpStatusCode];
}

describe('Invoke', () => {
  it('runs a function by any of its names', async () => {
    const client = await serve('echo.handler');
    for (const FunctionName of [
      'tested',
      '000000000000:function:tested',
      'arn:aws:lambda:us-east-1:000000000000:function:tested',
      'arn:aws:lambda:us-east-1:000000000000:function:tested:$LATEST',
    ]) {
      const reply = await client.send(
        new InvokeCommand({ FunctionName, Payload: JSON.stringify({ a: 'é' }) }),
      );
      expect(reply).toMatchObject({ StatusCode: 200, ExecutedVersion: '$LATEST' });
      expect(reply.FunctionError).toBeUndefined();
      expect(JSON.parse(reply.Payload?.transformToString() ?? '')).toMatchObject({
        event: { a: 'é' },
      });
    }
  });

  it('without a payload gives an empty event', async () => {
    const client = await serve('echo.handler');
    const reply = await client.send(new InvokeCommand({ FunctionName: 'tested' }));
    expect(JSON.parse(reply.Payload?.transformToString() ?? '')).toMatchObject({ event: {} });
  });

  it.for([
    ['throw', 'RangeError', 'out of range'],
    ['exit', 'Runtime.ExitError', 'Runtime exited with error: exit code 3'],
  ])('answers with the error of a function that ends with %s', async ([how, type, message]) => {
    const client = await serve('misbehave.handler');
    const reply = await client.send(
      new InvokeCommand({ FunctionName: 'tested', Payload: JSON.stringify({ how }) }),
    );
    expect(reply).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled' });
    expect(JSON.parse(reply.Payload?.transformToString() ?? '')).toEqual({
      errorType: type,
      errorMessage: message,
    });
  });

  it.for([
    ['another function', { FunctionName: 'other' }, 'ResourceNotFoundException', 404],
    [
      'a function of another region',
      { FunctionName: 'arn:aws:lambda:eu-west-1:000000000000:function:tested' },
      'ResourceNotFoundException',
      404,
    ],
    ['a version', { Qualifier: '7' }, 'ResourceNotFoundException', 404],
    ['a payload that is no JSON', { Payload: '{"a":' }, 'InvalidRequestContentException', 400],
    ['an event', { InvocationType: 'Event' }, 'InvalidParameterValueException', 400],
    ['a log', { LogType: 'Tail' }, 'InvalidParameterValueException', 400],
    ['too much', { Payload: `"${'x'.repeat(6_291_455)}"` }, 'RequestTooLargeException', 413],
  ] as const)('refuses %s', async ([, input, name, status]) => {
    expect(await refusal(await serve('echo.handler'), input)).toEqual([name, status]);
  });

  it('tells what is throttled from what fails', async () => {
    const client = await serve('echo.handler', { settings: { concurrencyMax: 0 } });
    expect(await refusal(client, {})).toEqual(['TooManyRequestsException', 429]);
  });
});
