import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { tempDirectory } from '../embedded/temp-directory.ts';

const cli = fileURLToPath(new URL('../../../cli/holdfast.mjs', import.meta.url));
const redirect = fileURLToPath(new URL('./stand-ins/redirect.ts', import.meta.url));

export interface CliRun {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly printed: { out: string; err: string };
  /** Resolves when it has ended: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

export interface CliOptions {
  /** Modules of the demo that are replaced, by the specifier that it imports them with. */
  readonly redirect?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** @default that of the test */
  readonly cwd?: string;
}

/** Starts the command line in a process group of its own, as a terminal does. It does not outlive the test. */
export function startCli(args: readonly string[], options: CliOptions = {}): CliRun {
  const child = spawn(process.execPath, ['--import', redirect, cli, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: {
      ...process.env,
      TMPDIR: tempDirectory(),
      HOLDFAST_TEST_REDIRECT: JSON.stringify(options.redirect ?? {}),
      ...options.env,
    },
  });
  return followChild(child, () => child.kill('SIGTERM'));
}

/** Gathers what a process prints. One that still runs when the test ends is stopped, and waited for. */
export function followChild(
  child: ChildProcessByStdio<null, Readable, Readable>,
  stop: () => void,
): CliRun {
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (printed.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed.err += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal!));
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) stop();
    await ended;
  });
  return { child, printed, ended };
}
