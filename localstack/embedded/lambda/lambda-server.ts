import { randomUUID } from 'node:crypto';

import type { Emulator } from '../emulators/emulator.ts';
import {
  startLoopbackServer,
  type LoopbackReply,
  type LoopbackRequest,
} from '../loopback-server.ts';
import { describeMapping } from '../event-source/describe-mapping.ts';
import type { EventSourceMapping } from '../event-source/event-source-mapping.ts';
import { resolveFunctionName } from './function-name.ts';
import type { InvocationResult } from './invocation-result.ts';
import { PAYLOAD_BYTES_MAX, type LambdaFunction } from './lambda-function.ts';

/** What Lambda's front looks into; it fills while the stack is created. */
export interface LambdaResources {
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  readonly mappings: readonly EventSourceMapping[];
}

const mappingPath = /^\/2015-03-31\/event-source-mappings\/([^/]+)$/;
const invocationPath = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/**
 * Of Lambda's API the operation Invoke, synchronous and without a log tail, and GetEventSourceMapping. Functions and mappings come
 * from the template; everything else is refused, as are asynchronous invocations: their queue with its retries is not there.
 */
export function startLambdaServer({ functions, mappings }: LambdaResources): Promise<Emulator> {
  // One byte more, so that the function itself refuses what is too large.
  return startLoopbackServer(PAYLOAD_BYTES_MAX + 1, async (request) => {
    const { pathname, searchParams } = new URL(request.url, 'http://lambda');
    const mappingId = mappingPath.exec(pathname)?.[1];
    if (mappingId !== undefined && request.method === 'GET') {
      return replyWithMapping(mappings, decodeURIComponent(mappingId));
    }
    const encodedName = invocationPath.exec(pathname)?.[1];
    if (encodedName === undefined || request.method !== 'POST') {
      const message = `${request.method} ${pathname} is not supported locally, only Invoke and GetEventSourceMapping are`;
      return refuse(404, 'UnknownOperationException', message);
    }
    const name = decodeURIComponent(encodedName);
    const target = resolveFunctionName(functions.values(), name);
    const qualifier = searchParams.get('Qualifier') ?? '$LATEST';
    if (target === undefined || qualifier !== '$LATEST') {
      const known = [...functions.values()].map((candidate) => candidate.name).join(', ');
      const message = `Function not found: ${name} (${qualifier}); known here: ${known || 'none'}`;
      return refuse(404, 'ResourceNotFoundException', message);
    }
    const type = headerOf(request, 'x-amz-invocation-type') ?? 'RequestResponse';
    if (type === 'DryRun') return { status: 204, headers: {}, body: '' };
    const logType = headerOf(request, 'x-amz-log-type') ?? 'None';
    if (type !== 'RequestResponse' || logType !== 'None') {
      const message = `InvocationType ${type} with LogType ${logType} is not supported locally; use RequestResponse and None`;
      return refuse(400, 'InvalidParameterValueException', message);
    }
    const payload = request.body.length === 0 ? '{}' : request.body.toString('utf8');
    if (!isJson(payload)) {
      const message = 'Could not parse request body into json: it is no JSON';
      return refuse(400, 'InvalidRequestContentException', message);
    }
    return replyOf(await target.invoke(payload));
  });
}

function replyWithMapping(mappings: readonly EventSourceMapping[], id: string): LoopbackReply {
  const mapping = mappings.find((candidate) => candidate.id === id);
  if (mapping === undefined) {
    const message = `The event source mapping ${id} does not exist`;
    return refuse(404, 'ResourceNotFoundException', message);
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID() },
    body: JSON.stringify(describeMapping(mapping)),
  };
}

function replyOf(result: InvocationResult): LoopbackReply {
  switch (result.kind) {
    case 'success':
      return answer(result, result.payload);
    case 'failed': {
      const { errorType, errorMessage } = result;
      return answer(result, JSON.stringify({ errorType, errorMessage }), {
        'x-amz-function-error': 'Unhandled',
      });
    }
    case 'rejected':
      switch (result.reason) {
        case 'throttled':
          return refuse(429, 'TooManyRequestsException', result.errorMessage);
        case 'payload-too-large':
          return refuse(413, 'RequestTooLargeException', result.errorMessage);
        case 'stopped':
          return refuse(500, 'ServiceException', result.errorMessage);
      }
  }
}

function answer(
  { requestId }: InvocationResult,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): LoopbackReply {
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-amz-executed-version': '$LATEST',
      'x-amzn-requestid': requestId,
      ...headers,
    },
    body,
  };
}

function refuse(status: number, code: string, message: string): LoopbackReply {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'x-amzn-errortype': code,
      'x-amzn-requestid': randomUUID(),
    },
    body: JSON.stringify({ Type: 'User', Message: message, message }),
  };
}

function headerOf({ headers }: LoopbackRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
