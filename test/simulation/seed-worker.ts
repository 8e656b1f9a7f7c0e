import { parentPort } from 'node:worker_threads';
import { runChunk, type SeedChunk } from './seed-chunk.ts';

/* Runs one chunk of seeds after the other, as `run-seeds.ts` sends them. */

const port = parentPort!;
port.on('message', (chunk: SeedChunk) => {
  void runChunk(chunk).then((totals) => port.postMessage(totals));
});
