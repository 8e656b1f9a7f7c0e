import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { filesOfPort, projectFolder } from '../../../localstack/endpoint/project-folder.ts';
import { stopStarted } from '../../../localstack/endpoint/stop-started.ts';
import { rm } from 'node:fs/promises';
import { followChild, type CliRun } from '../demo/run-cli.ts';

/** A port of this machine that nobody listens on; what is started there does not outlive the test. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  onTestFinished(async () => {
    await stopStarted(port);
    await rm(filesOfPort(port).log, { force: true });
  });
  return port;
}

/** Starts `npm run localstack:<command>` in a process group of its own, as a terminal does. */
export function startEndpointCommand(
  command: string,
  port: number,
  args: readonly string[] = [],
): CliRun {
  const child = spawn('npm', ['run', '-s', `localstack:${command}`, '--', ...args], {
    cwd: projectFolder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      // Never asked: MiniStack is started whether there is a daemon or not.
      DOCKER_HOST: 'tcp://127.0.0.1:1',
    },
  });
  return followChild(child, () => process.kill(-child.pid!, 'SIGTERM'));
}
