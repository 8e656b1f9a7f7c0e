import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a service got it. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** The operation's name where the protocol has one, such as `PutItem`. */
  readonly operation: string;
  readonly body: string;
  /** The access key that it is signed with. */
  readonly accessKey: string;
  /** The HTTP status of the answer. */
  readonly status: number;
}

export interface RecordingProxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

export interface ProxyOptions {
  /** Gets each request that was answered. */
  readonly record: (request: RecordedRequest) => void;
  /** The name of the error with which an operation is refused, as by an endpoint that lacks it. @default none is */
  readonly refuse?: (operation: string) => string | undefined;
}

/** Passes everything on to a local service, and tells of it. */
export async function startRecordingProxy(
  target: string,
  { record, refuse }: ProxyOptions,
): Promise<RecordingProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, answer) => {
    void readBody(incoming).then((body) => {
      const { method = '', url = '', headers } = incoming;
      const operation = String(headers['x-amz-target'] ?? '').replace(/^.*\./, '');
      const error = refuse?.(operation);
      if (error !== undefined) {
        answer.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
        answer.end(JSON.stringify({ __type: error, message: `${operation} is not known here` }));
        return;
      }
      const accessKey = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? 'nobody';
      const passed = request({ hostname, port, method, path: url, headers }, (reply) => {
        const status = reply.statusCode ?? 502;
        record({ ...{ method, url, operation, accessKey, status }, body: body.toString() });
        answer.writeHead(status, reply.headers);
        reply.pipe(answer);
      });
      passed.on('error', () => answer.destroy());
      passed.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
