// The inside of a function's environment: loads the handler from the bundle and runs the Lambda Runtime API's loop.
// It is plain JavaScript and imports nothing but Node, because it shares its process with the bundle.
import { existsSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

// Pipe 3 closes when the local AWS ends, however it ends. A thread of its own watches it: a handler that never
// gives up the event loop must not outlive its host either.
const watchdog = `
  const { Socket } = require('node:net');
  const pipe = new Socket({ fd: 3 });
  const end = () => process.kill(process.pid, 'SIGKILL');
  pipe.on('error', end).on('close', end).resume();
`;
new Worker(watchdog, {
  eval: true,
  env: {},
  resourceLimits: { maxOldGenerationSizeMb: 8 },
}).unref();

const [apiHost, apiPort] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function callApi(method, resource, body, headers = {}) {
  return new Promise((resolve) => {
    const request = http.request(
      {
        agent,
        host: apiHost,
        port: apiPort,
        method,
        path: `/2018-06-01/runtime/${resource}`,
        headers:
          body === undefined
            ? headers
            : {
                ...headers,
                'content-type': 'application/json',
                'content-length': Buffer.byteLength(body),
              },
      },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', () => process.exit(1));
        response.on('end', () =>
          resolve({ headers: response.headers, body: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    // The API is gone: so is whoever would read a message.
    request.on('error', () => process.exit(1));
    request.end(body);
  });
}

function describeError(thrown, fallbackType = 'Error') {
  if (!(thrown instanceof Error)) {
    return { errorType: typeof thrown, errorMessage: String(thrown), trace: [] };
  }
  return {
    errorType: thrown.name || fallbackType,
    errorMessage: thrown.message,
    trace: (thrown.stack ?? '').split('\n'),
  };
}

function reportError(resource, error) {
  return callApi('POST', resource, JSON.stringify(error), {
    'lambda-runtime-function-error-type': error.errorType,
  });
}

async function loadHandler() {
  const setting = process.env._HANDLER;
  const dot = setting.lastIndexOf('.');
  const base = path.resolve(process.env.LAMBDA_TASK_ROOT, setting.slice(0, dot));
  const file = ['.js', '.mjs', '.cjs']
    .map((ending) => base + ending)
    .find((name) => existsSync(name));
  if (dot <= 0 || file === undefined) {
    const error = new Error(
      `Cannot find module '${base}' (.js, .mjs or .cjs) for handler '${setting}'`,
    );
    error.name = 'Runtime.ImportModuleError';
    throw error;
  }
  const module = await import(pathToFileURL(file).href);
  const name = setting.slice(dot + 1);
  const handler = module[name] ?? module.default?.[name];
  if (typeof handler !== 'function') {
    const error = new Error(`${setting} is undefined or not exported`);
    error.name = 'Runtime.HandlerNotFound';
    throw error;
  }
  if (handler.length > 2) {
    const error = new Error(
      `${setting} takes a callback, which nodejs24.x removed; return a promise`,
    );
    error.name = 'Runtime.CallbackHandlerDeprecated';
    throw error;
  }
  return handler;
}

function contextOf(headers) {
  const deadlineMs = Number(headers['lambda-runtime-deadline-ms']);
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    callbackWaitsForEmptyEventLoop: true,
    // Not Date.now, which a test may set: a deadline is the host's, and goes by the host's clock.
    getRemainingTimeInMillis: () =>
      Math.max(0, deadlineMs - (performance.timeOrigin + performance.now())),
  };
}

async function runOne(handler, headers, body) {
  const invocation = `invocation/${headers['lambda-runtime-aws-request-id']}`;
  process.env._X_AMZN_TRACE_ID = headers['lambda-runtime-trace-id'];
  let result;
  try {
    result = await handler(JSON.parse(body), contextOf(headers));
  } catch (thrown) {
    console.error('Invoke Error', thrown);
    await reportError(`${invocation}/error`, describeError(thrown));
    return;
  }
  let text;
  try {
    text = JSON.stringify(result === undefined ? null : result);
  } catch (thrown) {
    await reportError(`${invocation}/error`, {
      ...describeError(thrown),
      errorType: 'Runtime.MarshalError',
    });
    return;
  }
  await callApi('POST', `${invocation}/response`, text);
}

let handler;
try {
  handler = await loadHandler();
} catch (thrown) {
  console.error(thrown);
  await reportError('init/error', describeError(thrown));
  process.exit(1);
}
for (;;) {
  const { headers, body } = await callApi('GET', 'invocation/next');
  await runOne(handler, headers, body);
}
