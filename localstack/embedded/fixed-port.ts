import { connect, createServer, type Socket } from 'node:net';

/** Passes a port that the user chose on to a service that chose its own. */
export interface FixedPort {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1. Throws an error that names port, service and remedy if somebody else has the port. */
export async function openFixedPort(
  service: string,
  port: number,
  target: string,
): Promise<FixedPort> {
  const targetPort = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(targetPort, '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('close', () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
      // 'close' follows and does what is to be done.
      socket.on('error', () => undefined);
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(service, port, error)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function portError(service: string, port: number, cause: NodeJS.ErrnoException): Error {
  if (cause.code !== 'EADDRINUSE') return cause;
  return new Error(
    `port ${port} on 127.0.0.1, wanted for the local ${service}, is in use by another process; ` +
      'stop that process (perhaps an earlier local AWS), choose another port, or leave the port out to get a free one',
    { cause },
  );
}
