import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Emulator } from './emulators/emulator.ts';

export interface LoopbackRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface LoopbackReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Serves HTTP on a free port of 127.0.0.1. Bodies above `bodyBytesMax` are answered with 413. */
export async function startLoopbackServer(
  bodyBytesMax: number,
  answer: (request: LoopbackRequest) => LoopbackReply | Promise<LoopbackReply>,
): Promise<Emulator> {
  const server = createServer((incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const serve = async (): Promise<LoopbackReply> => {
      const body = await readBody(incoming, bodyBytesMax);
      if (body === undefined) return { status: 413, headers: {}, body: '' };
      return answer({ method, url, headers, body });
    };
    serve()
      // A defect of the service: let the caller see where.
      .catch((error: unknown) => ({
        status: 500,
        headers: { 'content-type': 'text/plain' },
        body: error instanceof Error ? String(error.stack) : String(error),
      }))
      .then((reply) => {
        const bytes = Buffer.from(reply.body);
        response.writeHead(reply.status, { ...reply.headers, 'content-length': bytes.length });
        response.end(bytes);
      })
      .catch(() => response.destroy());
  });
  // Clients keep connections open; closing an idle one races with their next request.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  let stopping: Promise<void> | undefined;
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      stopping ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return stopping;
    },
  };
}

/** Undefined if it is too large; it is read to its end in any case, so that the client sees the answer. */
async function readBody(incoming: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes <= bytesMax ? Buffer.concat(chunks) : undefined;
}
