import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { knownGaps } from '../../../localstack/endpoint/known-gaps.ts';
import { preparePython, PythonMissingError } from '../../../localstack/endpoint/prepare-python.ts';
import { products } from '../../../localstack/endpoint/products.ts';
import { composeFile, requirementsFile } from '../../../localstack/endpoint/project-folder.ts';
import { readStarted, writeStarted } from '../../../localstack/endpoint/started-endpoint.ts';
import { stopStarted } from '../../../localstack/endpoint/stop-started.ts';
import { isProcessAlive, pollUntilTrue } from '../embedded/poll-until.ts';
import { tempDirectory } from '../embedded/temp-directory.ts';
import { endpointPort, startEndpointCommand } from './run-endpoint.ts';

/** A process in a group of its own, which waits for its end. */
function startIdle(): number {
  const wait = 'setInterval(() => undefined, 1000)';
  const child = spawn(process.execPath, ['-e', wait], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid!;
}

describe('what was started', () => {
  it('is stopped, and forgotten', async () => {
    const port = await endpointPort();
    const pid = startIdle();
    await writeStarted(port, { kind: 'process', pid, command: 'setInterval' });
    expect(await stopStarted(port)).toBe(true);
    await pollUntilTrue('its end', () => !isProcessAlive(pid));
    expect(await readStarted(port)).toBeUndefined();
    expect(await stopStarted(port)).toBe(false);
  });

  it('is left alone where its number is another process by now', async () => {
    const port = await endpointPort();
    const pid = startIdle();
    await writeStarted(port, { kind: 'process', pid, command: 'ministack' });
    expect(await stopStarted(port)).toBe(true);
    expect(isProcessAlive(pid)).toBe(true);
    expect(await readStarted(port)).toBeUndefined();
  });

  it('is nothing where nobody answers: down says so', async () => {
    const port = await endpointPort();
    const run = startEndpointCommand('down', port);
    expect(await run.ended, run.printed.err).toBe(0);
    expect(run.printed.out).toContain(`nobody answers at http://127.0.0.1:${port}`);
  });
});

describe('the commands', () => {
  it.for([
    ['demo', '--flights 99', 'expected a whole number from 100 to 20000'],
    ['demo', '--product moto', 'Allowed choices are localstack, ministack, floci'],
    ['deploy', '--shards 0', 'expected a whole number from 1 to 16'],
    ['up', 'again', 'too many arguments'],
  ] as const)('refuse %s %s with exit code 2 and the reason', async ([command, flags, reason]) => {
    const run = startEndpointCommand(command, await endpointPort(), flags.split(' '));
    expect(await run.ended).toBe(2);
    expect(run.printed.err).toContain(reason);
  });

  it('say what lacks for a product that needs Docker', async () => {
    const run = startEndpointCommand('up', await endpointPort(), ['--product', 'localstack']);
    expect(await run.ended).toBe(2);
    expect(run.printed.err).toContain('LocalStack is started by Docker, whose daemon does not');
  });
});

describe('without Python', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('says what to install, and tries nothing', async () => {
    vi.stubEnv('PATH', tempDirectory());
    const onMaking = vi.fn();
    const running = preparePython(onMaking, undefined, join(tempDirectory(), 'python'));
    await expect(running).rejects.toThrow(PythonMissingError);
    await expect(running).rejects.toThrow(/3\.10 or newer, and there is no python3; install it/);
    expect(onMaking).not.toHaveBeenCalled();
  });
});

describe('localstack/compose.yaml', () => {
  it('has MiniStack in the version of the requirements', async () => {
    const [, version] = /^ministack==(\S+)$/m.exec(await readFile(requirementsFile, 'utf8'))!;
    expect(await readFile(composeFile, 'utf8')).toContain(
      `image: ministackorg/ministack:${version}`,
    );
  });

  it('has a service with a profile for each product, and publishes on this machine alone', async () => {
    const text = await readFile(composeFile, 'utf8');
    for (const product of products) expect(text).toContain(`profiles: [${product}]`);
    const ports = [...text.matchAll(/^ +- '(.*:4566)'$/gm)].map(([, port]) => port);
    expect(ports).toEqual(products.map(() => '127.0.0.1:${HOLDFAST_ENDPOINT_PORT:-4566}:4566'));
  });
});

describe('the known gaps', () => {
  it('are told for every product, with what the demonstration does about them', () => {
    for (const product of products) {
      expect(knownGaps[product].length, product).toBeGreaterThan(0);
      for (const { gap, consequence } of knownGaps[product]) {
        expect(gap, product).not.toBe('');
        expect(consequence, product).not.toBe('');
      }
    }
  });
});
