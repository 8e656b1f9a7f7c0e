import { spawn } from 'node:child_process';

export interface ProgramOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the program when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** How a program ended. */
export interface ProgramRun {
  /** Undefined where it could not be started, or was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end; it reads nothing. Never throws: what it printed says what was wrong. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env = process.env, signal }: ProgramOptions = {},
): Promise<ProgramRun> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    ...(signal === undefined ? {} : { signal }),
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const exitCode = await new Promise<number | undefined>((resolve) => {
    child.once('error', (error) => {
      err += error.message;
      resolve(undefined);
    });
    child.once('close', (code) => resolve(code ?? undefined));
  });
  return { exitCode, out, err };
}
