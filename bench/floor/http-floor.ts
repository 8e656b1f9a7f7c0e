import { once } from 'node:events';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

const stubModule = path.join(import.meta.dirname, 'stub-server.ts');

/** Sends requests to a server that does nothing. */
export interface HttpFloor {
  /** CPU of this thread for each of so many requests, µs, up to 64 of them at once, as a unit sends its own. */
  measure(requests: number, bodyBytes: number): Promise<number>;
  close(): Promise<void>;
}

const socketsMax = 64;

export async function openHttpFloor(): Promise<HttpFloor> {
  const worker = new Worker(stubModule);
  const [port] = (await once(worker, 'message')) as [number];
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax });
  const post = async (body: Buffer): Promise<void> => {
    const sent = request({ host: '127.0.0.1', port, agent, method: 'POST' });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
    response.resume();
    await once(response, 'end');
  };
  return {
    async measure(requests, bodyBytes) {
      const body = Buffer.alloc(bodyBytes, 'x');
      const before = process.threadCpuUsage();
      for (let sent = 0; sent < requests; sent += socketsMax) {
        const together = Math.min(socketsMax, requests - sent);
        await Promise.all(Array.from({ length: together }, () => post(body)));
      }
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / requests;
    },
    async close() {
      agent.destroy();
      await worker.terminate();
    },
  };
}
