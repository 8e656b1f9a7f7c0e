import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Delivery } from './killed-process.ts';

const script = fileURLToPath(new URL('./killed-process.ts', import.meta.url));

/** A process that is there to be killed. */
export interface Victim {
  /** Starts the delivery. */
  deliver(delivery: Delivery): void;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Resolves when it has ended in any way, with how. */
  readonly ended: Promise<string>;
}

export interface Victims {
  /** One that has loaded its code and waits for its delivery. */
  take(): Promise<Victim>;
  /** Kills those that nobody took. */
  stop(): Promise<void>;
}

/** Keeps some processes ready, as each of them can be killed only once. */
export function breedVictims(variables: Readonly<Record<string, string>>, ready: number): Victims {
  // Compiled code is kept between them: it is most of what a process does before its first request.
  const cache = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  const env = { ...variables, NODE_COMPILE_CACHE: cache };
  const waiting = Array.from({ length: ready }, () => startVictim(env));
  return {
    take() {
      waiting.push(startVictim(env));
      return waiting.shift()!;
    },
    async stop() {
      await Promise.all(waiting.map(async (victim) => (await victim).kill()));
      rmSync(cache, { recursive: true, force: true });
    },
  };
}

async function startVictim(env: Readonly<Record<string, string>>): Promise<Victim> {
  const child = spawn(process.execPath, [script], {
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let printed = '';
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const ended = endOf(child).then((how) => `${how} ${printed}`.trim());
  await Promise.race([
    once(child, 'message'),
    ended.then((how) => Promise.reject(new Error(`the process did not start: ${how}`))),
  ]);
  return {
    deliver: (delivery) => void child.send(delivery),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `code ${code}`));
  });
}
