import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Listens on a port of this machine. Rejects with the cause where somebody else does. */
export function listenOn(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/**
 * A port that nobody listens on, and that the kernel gives nobody either, so that it is still free a little later: it hands out
 * those from 32768 (Linux, ip(7)) or 49152 (RFC 6335), to every connection that is opened too.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    try {
      const server = await listenOn(port);
      await new Promise((resolve) => server.close(resolve));
      return port;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw thrown;
    }
  }
}
