import {
  InvokeCommand,
  type InvokeCommandInput,
  LambdaClient,
  type LambdaServiceException,
} from '@aws-sdk/client-lambda';
import { describe, expect, it, onTestFinished } from 'vitest';

import { createLambdaStreamMappings } from '../../../../shared/adapters/lambda/lambda-stream-mappings.ts';
import { nodeSystem } from '../../../../shared/adapters/system/node-system.ts';
import type { EventSourceMapping } from '../../../../localstack/embedded/event-source/event-source-mapping.ts';
import type { MappingSettings } from '../../../../localstack/embedded/event-source/mapping-settings.ts';
import { startLambdaServer } from '../../../../localstack/embedded/lambda/lambda-server.ts';
import { createTestFunction, type TestFunctionOptions } from './test-function.ts';

/** As much of a mapping as the front tells of. */
const mapping = {
  id: '6f1c0e5a-0000-4000-8000-000000000001',
  streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/events',
  functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:tested',
  settings: {
    batchSize: 100,
    windowMs: 1_000,
    startingPosition: { kind: 'trim-horizon' },
    reportsItemFailures: true,
    retriesMax: Infinity,
    recordAgeMsMax: Infinity,
    bisectsOnError: false,
    failureBucket: 'discarded',
    isEnabled: true,
  },
} as const;

async function serve(
  handler: string,
  options: TestFunctionOptions = {},
  settings: Partial<MappingSettings> = {},
): Promise<LambdaClient> {
  const tested = createTestFunction(handler, options);
  onTestFinished(() => tested.stop());
  const mappings = [
    { ...mapping, settings: { ...mapping.settings, ...settings } } as unknown as EventSourceMapping,
  ];
  const server = await startLambdaServer({ functions: new Map([['Tested', tested]]), mappings });
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

describe('GetEventSourceMapping', () => {
  const read = async (settings: Partial<MappingSettings> = {}, id: string = mapping.id) => {
    const client = await serve('echo.handler', {}, settings);
    const mappings = new Map([['tested', id]]);
    return createLambdaStreamMappings({ client, mappings, system: nodeSystem }).read('tested');
  };

  it('tells how a stream is delivered', async () => {
    expect(await read()).toEqual({
      source: mapping.streamArn,
      startingPosition: 'TRIM_HORIZON',
      parallelizationFactor: 1,
      retriesMax: -1,
      recordAgeSecondsMax: -1,
      hasFilters: false,
      bisectsOnError: false,
      tumblingWindowSeconds: 0,
      reportsItemFailures: true,
      isEnabled: true,
    });
  });

  it('tells what was changed', async () => {
    const changed = await read({
      startingPosition: { kind: 'latest' },
      reportsItemFailures: false,
      retriesMax: 3,
      recordAgeMsMax: 60_000,
      bisectsOnError: true,
      isEnabled: false,
    });
    expect(changed).toMatchObject({
      startingPosition: 'LATEST',
      reportsItemFailures: false,
      retriesMax: 3,
      recordAgeSecondsMax: 60,
      bisectsOnError: true,
      isEnabled: false,
    });
  });

  it('tells of one that is gone', async () => {
    expect(await read({}, 'other')).toBeUndefined();
  });
});

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
