import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { preparePython } from './prepare-python.ts';
import { endpointVariables } from './endpoint-environment.ts';
import { filesOfPort } from './project-folder.ts';
import { forgetStarted, writeStarted, type StartedEndpoint } from './started-endpoint.ts';

/**
 * Starts MiniStack from Python's package index on a port of this machine alone. It outlives this process; `stopStarted` ends
 * it with all functions that it runs.
 *
 * @param onMaking called where its virtual environment has to be made first
 */
export async function startMiniStack(
  port: number,
  onMaking: () => void,
  signal?: AbortSignal,
): Promise<StartedEndpoint> {
  const command = join(await preparePython(onMaking, signal), 'ministack');
  signal?.throwIfAborted();
  await forgetStarted(port);
  const { log, temporary } = filesOfPort(port);
  mkdirSync(temporary, { recursive: true });
  // Its workers are CommonJS in files of no other name, and this project, which they lie in, is of modules.
  writeFileSync(join(temporary, 'package.json'), '{ "type": "commonjs" }\n');
  const output = openSync(log, 'w');
  const child = spawn(command, {
    detached: true,
    stdio: ['ignore', output, output],
    env: miniStackEnvironment(process.env, port, temporary),
  });
  closeSync(output);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
  const started = { kind: 'process', pid: child.pid!, command } as const;
  await writeStarted(port, started);
  return started;
}

/** It hands its environment on to functions: they get nothing of the user's. */
function miniStackEnvironment(
  env: NodeJS.ProcessEnv,
  port: number,
  temporary: string,
): Record<string, string> {
  return {
    // Functions run on the `node` of this path, which has to be this one.
    PATH: `${dirname(process.execPath)}:${env['PATH'] ?? ''}`,
    HOME: env['HOME'] ?? temporary,
    TMPDIR: temporary,
    GATEWAY_PORT: String(port),
    // It listens everywhere unless it is told.
    BIND_HOST: '127.0.0.1',
    ...endpointVariables(env, `http://127.0.0.1:${port}`),
  };
}
