import { join } from 'node:path';
import { HoldfastError } from '../../../shared/core/errors.ts';
import { endpointEnvironment } from '../endpoint-environment.ts';
import { projectFolder } from '../project-folder.ts';
import { runProgram } from '../run-program.ts';
import type { Deployment } from '../stack/deploy-stack.ts';
import { holdfastVariables } from '../stack/holdfast-variables.ts';

const holdfast = join(projectFolder, 'cli', 'holdfast.mjs');

/**
 * Runs a command of `holdfast` about the deployed job, as a user does.
 *
 * @returns what it prints as JSON
 * @throws HoldfastError `unavailable` with what it printed, where it refuses or fails
 */
export async function runHoldfast(
  url: string,
  deployment: Deployment,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<unknown> {
  const env = { ...endpointEnvironment(process.env, url), ...holdfastVariables(deployment) };
  const command = [holdfast, ...args, '--json'];
  const { exitCode, out, err } = await runProgram(process.execPath, command, { env, signal });
  if (exitCode === 0) return JSON.parse(out);
  throw new HoldfastError('unavailable', `holdfast ${args.join(' ')} failed:\n${err}${out}`);
}
