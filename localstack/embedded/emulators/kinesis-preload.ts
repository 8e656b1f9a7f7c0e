/**
 * Runs inside the Kinesis child before its own code (`node --import`). It does what kinesis-local has no
 * setting for: it binds loopback only, lets the system choose the ports, tells the parent which ones they
 * are, and ends the child when the parent is gone.
 */
import { Server } from 'node:net';

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with the server as `this` below
const originalListen = Server.prototype.listen;

function listenOnLoopback(this: Server, ...args: unknown[]): Server {
  const requestedPort = args[0];
  const onListening = args.findLast((arg): arg is () => void => typeof arg === 'function');
  return originalListen.call(this, { port: 0, host: '127.0.0.1' }, () => {
    const address = this.address();
    if (address !== null && typeof address === 'object') {
      process.send?.({ requestedPort, port: address.port });
    }
    onListening?.();
  });
}

Server.prototype.listen = listenOnLoopback as typeof originalListen;

// kinesis-local replaces process.exit by a shutdown of its own that takes seconds; there is nothing to save.
const exit = process.exit.bind(process);
process.on('SIGTERM', () => exit(0));
// The channel closes however the parent ends, SIGKILL included.
process.on('disconnect', () => exit(0));
