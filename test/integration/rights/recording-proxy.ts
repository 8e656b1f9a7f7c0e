import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a service got it. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** The operation's name where the protocol has one, such as `PutItem`. */
  readonly operation: string;
  readonly body: string;
}

export interface RecordingProxy {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Passes everything on to a local service, and tells of it. */
export async function startRecordingProxy(
  target: string,
  record: (request: RecordedRequest) => void,
): Promise<RecordingProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, answer) => {
    void readBody(incoming).then((body) => {
      const { method = '', url = '', headers } = incoming;
      const operation = String(headers['x-amz-target'] ?? '').replace(/^.*\./, '');
      record({ method, url, operation, body: body.toString() });
      const passed = request({ hostname, port, method, path: url, headers }, (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
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
