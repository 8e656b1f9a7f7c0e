import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A folder for temporary files and the processes that work in it. */
export interface Scratch {
  readonly folder: string;
  /** Runs a module in a Node process of its own, with Node's `flags`, and gives what it has printed, as JSON. */
  run(module: string, args: readonly string[], flags?: readonly string[]): Promise<unknown>;
  /** Starts a program that lives until the scratch closes, unless it ends itself; what it prints can be read. */
  start(command: string, args: readonly string[], options?: StartOptions): ChildProcess;
  /** Lets signals in: what works on memory alone would keep Ctrl-C waiting until it ends. */
  breathe(): Promise<void>;
  /** Ends what still runs and takes the folder away. It can be called again. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** @default the folder of this process */
  readonly folder?: string;
  /** @default the environment of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Keeps its complaints to itself. @default false */
  readonly isQuiet?: boolean;
}

/** Makes a scratch. Whoever stops this process has its `close` called first. */
export function openScratch(): Scratch {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-bench-'));
  const children = new Set<ChildProcess>();

  return {
    folder,

    async run(module, args, flags = []) {
      const child = spawn(process.execPath, [...flags, module, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.add(child);
      const parts: Buffer[] = [];
      child.stdout.on('data', (part: Buffer) => parts.push(part));
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      children.delete(child);
      if (code === 0) return JSON.parse(Buffer.concat(parts).toString()) as unknown;
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      throw new Error(`${path.basename(module)} ${args.join(' ')} has ended ${how}`);
    },

    start(command, args, { folder: cwd, env = process.env, isQuiet = false } = {}) {
      const child = spawn(command, args, {
        ...(cwd === undefined ? {} : { cwd }),
        env,
        // Its input stays open for as long as this process lives: what reads it ends with this process.
        stdio: ['pipe', 'pipe', isQuiet ? 'ignore' : 'inherit'],
      });
      children.add(child);
      child.once('exit', () => children.delete(child));
      return child;
    },

    async breathe() {
      await nextTurn();
    },

    async close() {
      // What still writes would bring the folder back.
      await Promise.all(
        [...children].map(async (child) => {
          const isOver = once(child, 'exit');
          if (child.kill('SIGKILL')) await isOver;
        }),
      );
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
