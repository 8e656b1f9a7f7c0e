// Ends badly in the way that the event asks for.
import { appendFileSync } from 'node:fs';
import { spawn } from 'node:child_process';

let calls = 0;

export async function handler(event) {
  calls += 1;
  switch (event.how) {
    case 'throw':
      console.log('about to throw');
      throw new RangeError('out of range');
    case 'exit':
      console.error('last words');
      process.exit(3);
      break;
    case 'reject-later':
      setImmediate(() => Promise.reject(new Error('nobody listens')));
      return new Promise(() => {});
    case 'fill-memory': {
      const hoard = [];
      for (;;) hoard.push(Array.from({ length: 100_000 }, (_, index) => ({ index })));
    }
    case 'hang':
      return new Promise(() => setInterval(() => {}, 1000));
    case 'nothing-left-to-do':
      return new Promise(() => {});
    case 'spin':
      if (event.file !== undefined) appendFileSync(event.file, 'spinning');
      for (;;);
    case 'write-after-deadline':
      setInterval(() => appendFileSync(event.file, '.'), 5);
      return new Promise(() => {});
    case 'sleep':
      appendFileSync(event.file, 'started\n');
      await new Promise((resolve) => setTimeout(resolve, event.ms));
      return { pid: process.pid };
    case 'circular': {
      const loop = {};
      loop.self = loop;
      return loop;
    }
    case 'large-response':
      return 'x'.repeat(event.bytes);
    case 'spawn': {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
        stdio: 'ignore',
      });
      return { pid: child.pid };
    }
    default:
      return { calls, pid: process.pid };
  }
}

export const notAFunction = 1;

export const withCallback = (event, context, callback) => callback(null, event);
