import { HoldfastError } from '../../shared/core/errors.ts';
import type { Product } from './products.ts';
import { composeFile } from './project-folder.ts';
import { runProgram } from './run-program.ts';
import { writeStarted, type StartedEndpoint } from './started-endpoint.ts';

/** True where Docker's daemon answers and has Compose. */
export async function hasDocker(signal?: AbortSignal): Promise<boolean> {
  for (const args of [['info'], ['compose', 'version']]) {
    if ((await runProgram('docker', args, { signal })).exitCode !== 0) return false;
  }
  return true;
}

/** Starts the container of a product on a port of this machine alone; does not wait until it answers. */
export async function startContainer(
  port: number,
  product: Product,
  signal?: AbortSignal,
): Promise<StartedEndpoint> {
  // First: what is begun has to be ended, too.
  const started = { kind: 'compose', product } as const;
  await writeStarted(port, started);
  await compose(port, product, ['up', '--detach'], signal);
  return started;
}

/** Ends it, with the containers of its functions' network. */
export async function stopContainer(port: number, product: Product): Promise<void> {
  await compose(port, product, ['down', '--volumes']);
}

async function compose(
  port: number,
  product: Product,
  command: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const project = ['--project-name', `holdfast-endpoint-${port}`, '--file', composeFile];
  const args = ['compose', ...project, '--profile', product, ...command];
  const env = { ...process.env, HOLDFAST_ENDPOINT_PORT: String(port) };
  const { exitCode, out, err } = await runProgram('docker', args, { env, signal });
  if (exitCode === 0) return;
  throw new HoldfastError('unavailable', `docker ${args.join(' ')} failed:\n${out}${err}`);
}
