import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { expect, it, onTestFinished } from 'vitest';

import { isProcessAlive, pollUntilTrue } from '../poll-until.ts';
import { tempDirectory } from '../temp-directory.ts';

const hostFile = fileURLToPath(new URL('./host-process.ts', import.meta.url));

it('ends a function that spins when its host is killed', async () => {
  const host = spawn(process.execPath, [hostFile, path.join(tempDirectory(), 'spins')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void host.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: host.stdout }), 'line')) as [string];
  const pid = Number(line);
  onTestFinished(() => {
    // Only a failed test leaves it; it must not spin on.
    if (isProcessAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(isProcessAlive(pid)).toBe(true);
  host.kill('SIGKILL');
  await pollUntilTrue('the end of the function', () => !isProcessAlive(pid));
});
