import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort } from 'node:worker_threads';

/*
 * A server that answers every request with two bytes once it has read it: what no service can be faster than. It runs in a
 * thread of its own, so that its time is not that of who asks.
 */

if (!isMainThread) {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  parentPort!.postMessage((server.address() as AddressInfo).port);
}
