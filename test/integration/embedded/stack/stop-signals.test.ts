import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { describe, expect, it, onTestFinished } from 'vitest';

import { pollUntilTrue } from '../poll-until.ts';

const file = fileURLToPath(new URL('./signalled-process.ts', import.meta.url));

async function start(how: string): Promise<{ child: ChildProcess; lines: string[] }> {
  const child = spawn(process.execPath, [file, how], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await pollUntilTrue('the start', () => lines.includes('ready'));
  return { child, lines };
}

async function exitCodeOf(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = (await once(child, 'close')) as unknown[];
  return code;
}

describe('stopping on signals', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops once on %s and ends with %i', async (signal, code) => {
    const { child, lines } = await start('well');
    child.kill(signal);
    expect(await exitCodeOf(child)).toBe(code);
    expect(lines).toEqual(['ready', 'stopping', 'stopped']);
  });

  it('does not wait any longer at a second signal', async () => {
    const { child, lines } = await start('never');
    child.kill('SIGINT');
    await pollUntilTrue('the stop', () => lines.includes('stopping'));
    child.kill('SIGINT');
    expect(await exitCodeOf(child)).toBe(130);
    expect(lines).toEqual(['ready', 'stopping']);
  });

  it('ends also when stopping fails', async () => {
    const { child } = await start('badly');
    child.kill('SIGTERM');
    expect(await exitCodeOf(child)).toBe(143);
  });
});
