import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCdk, withThisNode } from '../find-cdk.ts';

const projectFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export interface CdkOptions {
  /** @default this process's */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the CDK when it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the CDK of this project over its app.
 *
 * @throws Error with what cdk printed
 */
export async function runCdk(
  args: readonly string[],
  { env = process.env, signal }: CdkOptions = {},
): Promise<void> {
  const child = spawn(process.execPath, [findCdk(), ...args], {
    cwd: projectFolder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: withThisNode(env),
    ...(signal === undefined ? {} : { signal }),
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (exitCode !== 0) throw new Error(`cdk ${args[0]} ended with ${exitCode}:\n${printed}`);
}
