import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { findCdk, withThisNode } from '../find-cdk.ts';

/** How `cdk` is started. */
export interface CdkCommand {
  /** As a person would type it. */
  readonly text: string;
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * @param given words parted by spaces, as `pnpm exec cdk`. @default the `aws-cdk` of the project
 */
export function chooseCdk(given: string | undefined): CdkCommand {
  if (given !== undefined) {
    const [file, ...args] = given.trim().split(/\s+/) as [string, ...string[]];
    return { text: given.trim(), file, args };
  }
  const text = 'npx cdk';
  try {
    return { text, file: process.execPath, args: [findCdk()] };
  } catch {
    return { text, file: 'npx', args: ['cdk'] };
  }
}

/** How a run of cdk ended. */
export interface CdkEnd {
  readonly exitCode: number;
  /** What this process was told to stop by, meanwhile. */
  readonly signal: NodeJS.Signals | undefined;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs cdk to its end. What it prints goes to standard error, so that standard output holds results alone; what would stop this process
 * goes on to cdk.
 */
export async function runCdk(cdk: CdkCommand, args: readonly string[]): Promise<CdkEnd> {
  const child = spawn(cdk.file, [...cdk.args, ...args], {
    stdio: ['inherit', 2, 2],
    env: withThisNode(process.env),
  });
  let signal: NodeJS.Signals | undefined;
  const passOn = (received: NodeJS.Signals): void => {
    signal = received;
    child.kill(received);
  };
  for (const one of signals) process.on(one, passOn);
  try {
    return await new Promise<CdkEnd>((resolve, reject) => {
      child.once('error', (error) =>
        reject(
          new Error(`cannot start ${cdk.text}: ${error.message}; name another one with --cdk`),
        ),
      );
      child.once('close', (code) => resolve({ exitCode: code ?? 1, signal }));
    });
  } finally {
    for (const one of signals) process.off(one, passOn);
  }
}

/** What a shell says of a process that a signal has ended. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/**
 * Does something that Ctrl-C or SIGTERM ends, telling how things stand then.
 *
 * @param message what holds if it is ended here
 */
export async function interruptible<Result>(
  message: string,
  run: () => Promise<Result>,
  {
    by = signals,
    onStop,
  }: { readonly by?: readonly NodeJS.Signals[]; readonly onStop?: () => void } = {},
): Promise<Result> {
  const stop = (signal: NodeJS.Signals): void => {
    onStop?.();
    console.error(`\nholdfast: stopped; ${message}`);
    process.exit(exitCodeOf(signal));
  };
  for (const one of by) process.on(one, stop);
  try {
    return await run();
  } finally {
    for (const one of by) process.off(one, stop);
  }
}
