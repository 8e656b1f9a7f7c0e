import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { startRuntimeApi, type RuntimeInvocation, type RuntimeReport } from './runtime-api.ts';
import type { FunctionSettings } from './function-settings.ts';

const bootstrapFile = fileURLToPath(new URL('./bootstrap.mjs', import.meta.url));

/** Share of the memory setting that the JavaScript heap may fill: the rest is for Node itself and for buffers. */
const HEAP_SHARE = 0.9;
const LOG_TAIL_LINES_MAX = 20;

/** How an environment came to its end. */
export interface EnvironmentExit {
  readonly kind: 'exit';
  /** `exit code 1`, `signal SIGKILL`, … */
  readonly how: string;
}

/** One process that runs one function, one invocation at a time. */
export interface Environment {
  readonly pid: number | undefined;
  /** False from the moment that it is killed or found dead. */
  isAlive(): boolean;
  /** Resolves when the handler is loaded, or with why it will never be. */
  readonly initialized: Promise<
    { kind: 'ready' } | Extract<RuntimeReport, { kind: 'error' }> | EnvironmentExit
  >;
  run(invocation: RuntimeInvocation): Promise<RuntimeReport | EnvironmentExit>;
  /** Last lines that it printed. */
  readonly logTail: () => readonly string[];
  /** SIGKILL. */
  kill(): void;
  /** Resolves when the process is gone and its API closed. */
  readonly exited: Promise<EnvironmentExit>;
}

export interface EnvironmentOptions {
  readonly settings: FunctionSettings;
  /** Gets `host:port` of the Runtime API, gives the complete environment of the process. */
  readonly variables: (runtimeApi: string) => Record<string, string>;
  readonly log: (line: string) => void;
}

export async function startEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { settings } = options;
  const api = await startRuntimeApi();
  const heapMb = Math.floor(settings.memoryMb * HEAP_SHARE);
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, bootstrapFile], {
    cwd: settings.codeDirectory,
    env: options.variables(api.address),
    // A process group of its own: Ctrl-C in a terminal must reach the host only, which then stops in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let isAlive = true;
  const logTail: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    if (output === null) continue;
    createInterface({ input: output }).on('line', (line) => {
      logTail.push(line);
      if (logTail.length > LOG_TAIL_LINES_MAX) logTail.shift();
      options.log(line);
    });
  }
  // The other end closes when the process dies; only 'close' of the child says that.
  child.stdio[3]?.on('error', () => undefined);

  const exited = new Promise<EnvironmentExit>((resolve) => {
    const finish = (how: string): void => {
      isAlive = false;
      void api.close().then(() => resolve({ kind: 'exit', how }));
    };
    child.once('error', (error) => finish(`not started: ${error.message}`));
    // 'close' and not 'exit': by then everything that it printed has been read.
    child.once('close', (code, signal) =>
      finish(signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
  });

  return {
    pid: child.pid,
    isAlive: () => isAlive,
    initialized: Promise.race([api.initialized, exited]),
    run: (invocation) => Promise.race([api.deliver(invocation), exited]),
    logTail: () => [...logTail],
    kill() {
      isAlive = false;
      killGroup(child);
    },
    exited,
  };
}

/** What the function started belongs to its sandbox and dies with it. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group does not exist before the child has made itself its leader.
    child.kill('SIGKILL');
  }
}
