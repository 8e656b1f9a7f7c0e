import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import type {
  FailedInvocation,
  InvocationResult,
} from '../../../../localstack/embedded/lambda/invocation-result.ts';
import type { LambdaFunction } from '../../../../localstack/embedded/lambda/lambda-function.ts';
import { isProcessAlive, pollUntilTrue } from '../poll-until.ts';
import { tempDirectory } from '../temp-directory.ts';
import {
  createTestFunction,
  handlersDirectory,
  type TestFunctionOptions,
} from './test-function.ts';

function start(handler: string, options?: TestFunctionOptions): LambdaFunction {
  const tested = createTestFunction(handler, options);
  onTestFinished(() => tested.stop());
  return tested;
}

async function ask(tested: LambdaFunction, event: unknown): Promise<unknown> {
  return answerOf(await tested.invoke(JSON.stringify(event)));
}

function answerOf(result: InvocationResult): unknown {
  if (result.kind !== 'success') throw new Error(`not a success: ${JSON.stringify(result)}`);
  return JSON.parse(result.payload) as unknown;
}

async function failureOf(tested: LambdaFunction, event: unknown): Promise<FailedInvocation> {
  const result = await tested.invoke(JSON.stringify(event));
  if (result.kind !== 'failed') throw new Error(`not a failure: ${JSON.stringify(result)}`);
  return result;
}

describe('a local function', () => {
  it('gives the handler the event and a context like that of Lambda', async () => {
    const tested = start('echo.handler', { settings: { memoryMb: 256 } });
    const result = await tested.invoke('{"a":[1,"ü"]}');
    expect(answerOf(result)).toEqual({
      event: { a: [1, 'ü'] },
      context: {
        awsRequestId: result.requestId,
        invokedFunctionArn: tested.arn,
        functionName: 'tested',
        functionVersion: '$LATEST',
        memoryLimitInMB: '256',
        logGroupName: '/aws/lambda/tested',
        logStreamName: expect.any(String) as string,
        callbackWaitsForEmptyEventLoop: true,
        remainingMs: expect.any(Number) as number,
      },
      pid: expect.any(Number) as number,
      cwd: handlersDirectory,
    });
  });

  it('counts down to the deadline in getRemainingTimeInMillis', async () => {
    const tested = start('echo.handler', { settings: { timeoutMs: 900_000 } });
    const { context } = (await ask(tested, {})) as { context: { remainingMs: number } };
    expect(context.remainingMs).toBeGreaterThan(0);
    expect(context.remainingMs).toBeLessThanOrEqual(900_000);
  });

  it('answers null for a handler that returns nothing', async () => {
    expect(await ask(start('echo.nothing'), {})).toBeNull();
  });

  it('loads CommonJS, too', async () => {
    expect(await ask(start('commonjs.handler'), 7)).toEqual({ from: 'commonjs', event: 7 });
  });

  it('sees exactly the variables of the template, of Lambda, of the endpoints, and that it is strict', async () => {
    process.env['EMBEDDED_AWS_LEAK'] = 'must not be seen';
    const tested = start('echo.environment', {
      settings: { variables: { MINE: 'yes', TZ: 'CET' } },
    });
    const seen = (await ask(tested, {})) as Record<string, string>;
    delete process.env['EMBEDDED_AWS_LEAK'];
    expect(seen).toEqual({
      MINE: 'yes',
      TZ: 'CET',
      LANG: 'en_US.UTF-8',
      HOLDFAST_DETERMINISM: 'strict',
      PATH: '/usr/local/bin:/usr/bin:/bin',
      _HANDLER: 'echo.environment',
      _X_AMZN_TRACE_ID: expect.stringMatching(/^Root=1-/) as string,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_FUNCTION_NAME: 'tested',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/tested',
      AWS_LAMBDA_LOG_STREAM_NAME: expect.any(String) as string,
      // The name of its role.
      AWS_ACCESS_KEY_ID: 'tested',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_SESSION_TOKEN: 'local',
      AWS_LAMBDA_RUNTIME_API: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
      LAMBDA_TASK_ROOT: handlersDirectory,
      AWS_ENDPOINT_URL_KINESIS: 'http://127.0.0.1:1',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:2',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:3',
      AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:4',
      AWS_ENDPOINT_URL_SFN: 'http://127.0.0.1:5',
    });
  });

  it('leaves the template the last word on determinism', async () => {
    const variables = { HOLDFAST_DETERMINISM: 'count' };
    const seen = await ask(start('echo.environment', { settings: { variables } }), {});
    expect(seen).toMatchObject(variables);
  });

  it('keeps the process warm between invocations', async () => {
    const tested = start('misbehave.handler');
    const [first, second] = [await ask(tested, {}), await ask(tested, {})] as { pid: number }[];
    expect(second).toEqual({ calls: 2, pid: first?.pid });
    expect(tested.stats()).toMatchObject({ invocations: 2, coldStarts: 1 });
  });

  it('runs one invocation at a time in a process and more processes side by side', async () => {
    const tested = start('misbehave.handler');
    const file = path.join(tempDirectory(), 'log');
    const answers = await Promise.all(
      [1, 2, 3].map(() => ask(tested, { how: 'sleep', file, ms: 300 })),
    );
    const pids = new Set(answers.map((answer) => (answer as { pid: number }).pid));
    expect(pids.size).toBe(3);
    expect(tested.stats().coldStarts).toBe(3);
  });

  it('refuses more invocations at once than its concurrency allows', async () => {
    const tested = start('misbehave.handler', { settings: { concurrencyMax: 1 } });
    const running = tested.invoke('{}');
    expect(await tested.invoke('{}')).toMatchObject({ kind: 'rejected', reason: 'throttled' });
    expect(await running).toMatchObject({ kind: 'success' });
    expect(tested.stats().throttles).toBe(1);
  });

  it('passes on what it prints, with its name', async () => {
    const lines: string[] = [];
    const tested = start('misbehave.handler', { log: (line) => lines.push(line) });
    await failureOf(tested, { how: 'throw' });
    await pollUntilTrue('the line', () => lines.includes('[tested] about to throw'));
  });
});

describe('a local function that fails', () => {
  it('reports what the handler throws and stays warm', async () => {
    const tested = start('misbehave.handler');
    expect(await failureOf(tested, { how: 'throw' })).toMatchObject({
      reason: 'function-error',
      errorType: 'RangeError',
      errorMessage: 'out of range',
    });
    expect(await ask(tested, {})).toMatchObject({ calls: 2 });
    expect(tested.stats()).toMatchObject({ errors: 1, coldStarts: 1 });
  });

  it('fails with Runtime.ExitError and the last lines when the process exits', async () => {
    const tested = start('misbehave.handler');
    expect(await failureOf(tested, { how: 'exit' })).toMatchObject({
      reason: 'crash',
      errorType: 'Runtime.ExitError',
      errorMessage: 'Runtime exited with error: exit code 3',
      logTail: ['last words'],
    });
    expect(await ask(tested, {})).toMatchObject({ calls: 1 });
    expect(tested.stats()).toMatchObject({ crashes: 1, coldStarts: 2 });
  });

  it.each(['reject-later', 'nothing-left-to-do'])('counts "%s" as a crash', async (how) => {
    expect(await failureOf(start('misbehave.handler'), { how })).toMatchObject({ reason: 'crash' });
  });

  it('dies of its own memory, not of ours', async () => {
    const failure = await failureOf(start('misbehave.handler'), { how: 'fill-memory' });
    expect(failure).toMatchObject({
      reason: 'crash',
      errorMessage: expect.stringMatching(/SIGABRT|code 134/) as string,
    });
    expect(failure.logTail.join('\n')).toContain('heap out of memory');
  });

  it('names the error of a module that cannot be loaded', async () => {
    expect(await failureOf(start('broken-module.handler'), {})).toMatchObject({
      reason: 'init-error',
      errorType: 'TypeError',
      errorMessage: 'this module cannot be loaded',
    });
  });

  it.each([
    ['missing.handler', 'Runtime.ImportModuleError'],
    ['misbehave.missing', 'Runtime.HandlerNotFound'],
    ['misbehave.notAFunction', 'Runtime.HandlerNotFound'],
    ['misbehave.withCallback', 'Runtime.CallbackHandlerDeprecated'],
  ])('refuses the handler %s with %s', async (handler, errorType) => {
    expect(await failureOf(start(handler), {})).toMatchObject({ reason: 'init-error', errorType });
  });

  it('reports a result that is no JSON', async () => {
    expect(await failureOf(start('misbehave.handler'), { how: 'circular' })).toMatchObject({
      errorType: 'Runtime.MarshalError',
    });
  });

  it('refuses an event above 6 MB without running', async () => {
    const tested = start('misbehave.handler');
    expect(await tested.invoke(JSON.stringify('x'.repeat(6_291_455)))).toMatchObject({
      kind: 'rejected',
      reason: 'payload-too-large',
    });
    expect(tested.stats()).toMatchObject({ invocations: 0, coldStarts: 0 });
  });

  it('takes an event of exactly 6 MB', async () => {
    const result = await start('echo.nothing').invoke(JSON.stringify('x'.repeat(6_291_454)));
    expect(result.kind).toBe('success');
  });

  it('refuses a response above 6 MB', async () => {
    const tested = start('misbehave.handler');
    expect(await failureOf(tested, { how: 'large-response', bytes: 6_291_556 })).toMatchObject({
      reason: 'response-too-large',
      errorType: 'Function.ResponseSizeTooLarge',
    });
    const largest = (await ask(tested, { how: 'large-response', bytes: 6_291_554 })) as string;
    expect(largest.length).toBe(6_291_554);
  });
});

describe('a local function that takes too long', () => {
  it.each(['hang', 'spin'])('is killed when its time is over (%s)', async (how) => {
    const tested = start('misbehave.handler', { settings: { timeoutMs: 300 } });
    const { pid } = (await ask(tested, {})) as { pid: number };
    expect(await failureOf(tested, { how })).toMatchObject({
      reason: 'timeout',
      errorMessage: 'Task timed out after 0.30 seconds',
    });
    await pollUntilTrue('the end of the process', () => !isProcessAlive(pid));
    expect(await ask(tested, {})).toMatchObject({ calls: 1 });
    expect(tested.stats()).toMatchObject({ timeouts: 1, coldStarts: 2 });
  });

  it('may still write after the invocation was given up', async () => {
    const file = path.join(tempDirectory(), 'written');
    const tested = start('misbehave.handler', { settings: { timeoutMs: 300 } });
    await ask(tested, {});
    await failureOf(tested, { how: 'write-after-deadline', file });
    const sizeAtDeadline = existsSync(file) ? statSync(file).size : 0;
    await pollUntilTrue('a late write', () => statSync(file).size > sizeAtDeadline);
  });
});

describe('killing and stopping a local function', () => {
  it('fails the running invocation of a killed process', async () => {
    const file = path.join(tempDirectory(), 'log');
    const tested = start('misbehave.handler');
    const running = failureOf(tested, { how: 'sleep', file, ms: 600_000 });
    await pollUntilTrue('the start', () => existsSync(file) && readFileSync(file).length > 0);
    expect(tested.kill()).toBe(1);
    expect(await running).toMatchObject({
      reason: 'crash',
      errorMessage: 'Runtime exited with error: signal SIGKILL',
    });
  });

  it('replaces an idle process that was killed', async () => {
    const tested = start('misbehave.handler');
    await ask(tested, {});
    tested.kill();
    expect(await ask(tested, {})).toMatchObject({ calls: 1 });
    expect(tested.stats()).toMatchObject({ crashes: 0, coldStarts: 2 });
  });

  it('kills what the function has started, too', async () => {
    const tested = start('misbehave.handler');
    const { pid } = (await ask(tested, { how: 'spawn' })) as { pid: number };
    expect(isProcessAlive(pid)).toBe(true);
    await tested.stop();
    await pollUntilTrue('the end of the grandchild', () => !isProcessAlive(pid));
  });

  it('leaves no process behind, refuses further events and may be stopped twice', async () => {
    const tested = start('misbehave.handler');
    const spinning = tested.invoke('{"how":"spin"}');
    await ask(tested, {});
    const pids = tested.pids();
    expect(pids).toHaveLength(2);
    await Promise.all([tested.stop(), tested.stop()]);
    expect(pids.filter(isProcessAlive)).toEqual([]);
    expect(await spinning).toMatchObject({ kind: 'rejected', reason: 'stopped' });
    expect(await tested.invoke('{}')).toMatchObject({ kind: 'rejected', reason: 'stopped' });
  });

  it('stops while a slow start is under way', async () => {
    const tested = start('misbehave.handler', { chaos: { slowStart: 1 } });
    const running = tested.invoke('{}');
    await tested.stop();
    expect((await running).kind).toBe('rejected');
    expect(tested.pids()).toEqual([]);
  });
});
