import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Lambda's limit for a response: 6 MB and a little. */
export const RESPONSE_BYTES_MAX = 6_291_556;
const PREFIX = '/2018-06-01/runtime/';

/** What the function's process says about the invocation that it has. */
export type RuntimeReport =
  | { readonly kind: 'response'; readonly payload: string }
  | { readonly kind: 'response-too-large'; readonly bytes: number }
  | { readonly kind: 'error'; readonly errorType: string; readonly errorMessage: string };

export interface RuntimeInvocation {
  readonly requestId: string;
  readonly payload: string;
  readonly deadlineMs: number;
  readonly functionArn: string;
}

/** The Runtime API for one environment, which has one invocation at a time. */
export interface RuntimeApi {
  /** `host:port`, the value of AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Resolves when the process asks for work for the first time or reports that it cannot start. */
  readonly initialized: Promise<{ kind: 'ready' } | Extract<RuntimeReport, { kind: 'error' }>>;
  /** Hands an invocation over as soon as the process asks; resolves with its report. */
  deliver(invocation: RuntimeInvocation): Promise<RuntimeReport>;
  close(): Promise<void>;
}

/** Serves `invocation/next`, `invocation/{id}/response`, `invocation/{id}/error` and `init/error` on 127.0.0.1. */
export async function startRuntimeApi(): Promise<RuntimeApi> {
  const initialized = Promise.withResolvers<Awaited<RuntimeApi['initialized']>>();
  let waitingProcess: ServerResponse | undefined;
  let waitingInvocation: RuntimeInvocation | undefined;
  let current: { requestId: string; report: (report: RuntimeReport) => void } | undefined;

  const handOver = (): void => {
    if (waitingProcess === undefined || waitingInvocation === undefined) return;
    const { requestId, payload, deadlineMs, functionArn } = waitingInvocation;
    waitingProcess.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': requestId,
      'lambda-runtime-deadline-ms': String(deadlineMs),
      'lambda-runtime-invoked-function-arn': functionArn,
      'lambda-runtime-trace-id': traceId(requestId),
    });
    waitingProcess.end(payload);
    waitingProcess = undefined;
    waitingInvocation = undefined;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const resource = (request.url ?? '').slice(PREFIX.length);
    if (request.method === 'GET' && resource === 'invocation/next') {
      waitingProcess = response;
      initialized.resolve({ kind: 'ready' });
      handOver();
      return;
    }
    const body = await readBody(request);
    const [, requestId, verb] = /^invocation\/([^/]+)\/(response|error)$/.exec(resource) ?? [];
    if (resource === 'init/error') {
      initialized.resolve(readError(body));
    } else if (requestId === undefined || requestId !== current?.requestId) {
      answer(response, 400, { errorType: 'InvalidRequestID', errorMessage: resource });
      return;
    } else if (verb === 'error') {
      current.report(readError(body));
    } else if (body.byteLength > RESPONSE_BYTES_MAX) {
      current.report({ kind: 'response-too-large', bytes: body.byteLength });
      answer(response, 413, { errorType: 'RequestEntityTooLarge', errorMessage: 'response' });
      return;
    } else {
      current.report({ kind: 'response', payload: body.toString('utf8') });
    }
    answer(response, 202, { status: 'OK' });
  };

  const server = createServer((request, response) => {
    // Only a connection that broke makes this throw: the process has died, which its exit reports.
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    initialized: initialized.promise,
    deliver: (invocation) =>
      new Promise((resolve) => {
        waitingInvocation = invocation;
        current = {
          requestId: invocation.requestId,
          report: (report) => {
            current = undefined;
            resolve(report);
          },
        };
        handOver();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function readError(body: Buffer): Extract<RuntimeReport, { kind: 'error' }> {
  const report = JSON.parse(body.toString('utf8')) as { errorType: string; errorMessage: string };
  return { kind: 'error', errorType: report.errorType, errorMessage: report.errorMessage };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function traceId(requestId: string): string {
  const hex = requestId.replaceAll('-', '');
  return `Root=1-${hex.slice(0, 8)}-${hex.slice(8, 32)};Parent=${hex.slice(16, 32)};Sampled=0`;
}
