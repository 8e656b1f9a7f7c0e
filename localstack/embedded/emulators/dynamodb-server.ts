import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

import { isApiError } from './dynalite-internals.ts';
import { DynamoDbRefusal } from './dynamodb-errors.ts';
import type { RequestHandlers } from './dynamodb-requests.ts';
import type { Fault, FaultHook } from './faults.ts';
import type { UsageMeter } from './usage.ts';

const requestBytesMax = 16 * 1024 * 1024;
const contentType = 'application/x-amz-json-1.0';
const coralSpace = 'com.amazon.coral.service#';
const nothing: ReadonlySet<number> = new Set();

export interface ServerParts {
  readonly handlers: RequestHandlers;
  readonly usage: UsageMeter;
  /** The hook of the moment. */
  readonly hook: () => FaultHook | undefined;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

/** Speaks the service's JSON protocol over HTTP. */
export function createDynamoDbServer(parts: ServerParts): Server {
  const server = createServer((request, response) => {
    serve(parts, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, describeDefect(error));
    });
  });
  // Clients keep connections open; closing an idle one races with their next request.
  server.keepAliveTimeout = 0;
  return server;
}

async function serve(
  { handlers, usage, hook }: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const bytes = await readBody(request);
  if (bytes === undefined) {
    response.writeHead(413).end();
    return;
  }
  const target = String(request.headers['x-amz-target'] ?? '');
  const operation = target.startsWith('DynamoDB_20120810.') ? target.slice(18) : '';
  const handle = handlers.find(operation);
  if (handle === undefined) {
    send(response, refusal('UnknownOperationException', operation || undefined));
    return;
  }
  const body = parseBody(bytes);
  if (body === undefined) {
    send(response, refusal('SerializationException', 'the body is no JSON object'));
    return;
  }
  const tables = handlers.tablesOf(operation, body);
  usage.countRequest(operation, tables);
  const fault = await hook()?.({ operation, table: tables[0], body });
  const run = (throttled: ReadonlySet<number>): Promise<Reply> =>
    answer(() => handle(body, throttled));
  if (fault === undefined) send(response, await run(nothing));
  else await misbehave(fault, run, handlers.hasParts(operation), request, response);
}

async function misbehave(
  fault: Fault,
  run: (throttled: ReadonlySet<number>) => Promise<Reply>,
  hasParts: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (fault.kind) {
    case 'delay':
      await sleep(fault.ms);
      send(response, await run(nothing));
      return;
    case 'drop-before':
      request.socket.destroy();
      return;
    case 'drop-after':
      await run(nothing);
      request.socket.destroy();
      return;
    case 'throttle':
      if (fault.only === undefined) send(response, await answer(throttle));
      else if (hasParts) send(response, await run(new Set(fault.only)));
      else
        throw new Error('a throttle of parts (`only`) is for BatchExecuteStatement, BatchGetItem');
  }
}

function throttle(): never {
  throw new DynamoDbRefusal(
    'ProvisionedThroughputExceededException',
    'The level of configured provisioned throughput for the table was exceeded. ' +
      'Consider increasing your provisioning level with the UpdateTable API.',
  );
}

async function answer(handle: () => Promise<object> | object): Promise<Reply> {
  try {
    return { status: 200, body: await handle() };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { status: error.statusCode, body: error.body };
  }
}

/** Of the emulator or of a fault hook: let the caller see where. */
function describeDefect(error: unknown): Reply {
  const message = error instanceof Error ? error.stack : String(error);
  return {
    status: 500,
    body: { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message },
  };
}

function refusal(name: string, message: string | undefined): Reply {
  return { status: 400, body: { __type: coralSpace + name, message } };
}

/** `undefined` if it is larger than the service takes. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= requestBytesMax) chunks.push(chunk);
  }
  if (length > requestBytesMax) return undefined;
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

function parseBody(bytes: Buffer): object | undefined {
  try {
    const body: unknown = JSON.parse(bytes.toString());
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': bytes.length,
    'x-amz-crc32': crc32(bytes),
    'x-amzn-requestid': randomUUID(),
  });
  response.end(bytes);
}
