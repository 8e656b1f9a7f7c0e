import { setTimeout as sleep } from 'node:timers/promises';
import { stopContainer } from './compose.ts';
import { runProgram } from './run-program.ts';
import { forgetStarted, readStarted } from './started-endpoint.ts';

/** How long a process may take to end before it is killed, ms. */
const patienceMs = 5_000;
const pollMs = 50;

/**
 * Ends what was started on a port by these tools. What somebody else has started there stays.
 *
 * @returns whether there was something to end
 */
export async function stopStarted(port: number): Promise<boolean> {
  const started = await readStarted(port);
  if (started === undefined) return false;
  if (started.kind === 'compose') await stopContainer(port, started.product);
  // Its number may be another's by now.
  else if (await isStill(started.pid, started.command)) await stopGroup(started.pid);
  await forgetStarted(port);
  return true;
}

async function isStill(pid: number, command: string): Promise<boolean> {
  const { out } = await runProgram('ps', ['-o', 'args=', '-p', String(pid)]);
  return out.includes(command);
}

/** With the functions that it runs, which are in its group. */
async function stopGroup(pid: number): Promise<void> {
  sendSignal(pid, 'SIGTERM');
  await waitForEnd(pid);
  sendSignal(pid, 'SIGKILL');
  await waitForEnd(pid);
}

async function waitForEnd(pid: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (sendSignal(pid, 0) && performance.now() < deadline) await sleep(pollMs);
}

/** @returns false where nothing is left of the group */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
