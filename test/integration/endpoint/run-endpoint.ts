import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { filesOfPort, projectFolder } from '../../../localstack/endpoint/project-folder.ts';
import { stopStarted } from '../../../localstack/endpoint/stop-started.ts';
import { rm } from 'node:fs/promises';
import { freePort } from '../free-port.ts';
import { followChild, type CliRun } from '../demo/run-cli.ts';

/** A port for an endpoint; what is started there does not outlive the test. */
export async function endpointPort(): Promise<number> {
  const port = await freePort();
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
