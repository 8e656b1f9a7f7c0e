import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { expect, it, onTestFinished } from 'vitest';

import { isProcessAlive, pollUntilTrue } from '../poll-until.ts';
import { functionOf, role, writeStack } from './fixture-stack.ts';

const file = fileURLToPath(new URL('./signalled-stack.ts', import.meta.url));

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGKILL', null],
] as const)('leaves no process of a running stack behind after %s', async (signal, code) => {
  const templateFile = writeStack({ Role: role, Bad: functionOf('misbehave.handler') });
  const child = spawn(process.execPath, [file, templateFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own, so that the signal reaches all that a terminal's Ctrl-C would reach.
    detached: true,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const pids = line.split(' ').map(Number);
  expect(pids.filter(isProcessAlive)).toHaveLength(2);
  process.kill(signal === 'SIGKILL' ? (child.pid ?? 0) : -(child.pid ?? 0), signal);
  expect((await exited)[0]).toBe(code);
  await pollUntilTrue('the end of all processes', () => !pids.some(isProcessAlive));
});
