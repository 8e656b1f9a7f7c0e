import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { findEndpoint } from '../../../localstack/endpoint/find-endpoint.ts';
import { preparePython, PythonMissingError } from '../../../localstack/endpoint/prepare-python.ts';
import { filesOfPort } from '../../../localstack/endpoint/project-folder.ts';
import { readStarted } from '../../../localstack/endpoint/started-endpoint.ts';
import { isProcessAlive, pollUntil, pollUntilTrue } from '../embedded/poll-until.ts';
import { endpointPort, startEndpointCommand } from './run-endpoint.ts';

const minutes = 60_000;

/** A part of the flights, so that all takes some two minutes; the whole is what README.md shows. */
const few = ['--flights', '1000', '--json'];

describe('the job on MiniStack', { timeout: 12 * minutes }, () => {
  let missing: string | undefined;

  beforeAll(async () => {
    try {
      await preparePython(() => undefined);
    } catch (error) {
      if (!(error instanceof PythonMissingError)) throw error;
      missing = error.message;
      console.error(`SKIPPED: the deployed job on MiniStack, since ${missing}`);
    }
  }, 5 * minutes);

  const needMiniStack = ({ skip }: TestContext): void => {
    if (missing !== undefined) skip(missing);
  };

  it('processes, makes a savepoint, restores, equals the plain computation, and is taken down, twice in a row', async (context) => {
    needMiniStack(context);
    const port = await endpointPort();
    for (const round of ['first', 'second']) {
      const { ended, printed } = startEndpointCommand('demo', port, few);
      expect(await ended, `${round}: ${printed.err}`).toBe(0);
      const result = JSON.parse(printed.out) as {
        readonly comparisons: Record<string, unknown>;
        readonly restore: { readonly replayed: number };
      };
      expect(result, round).toMatchObject({
        endpoint: { product: 'ministack', isNew: true },
        ...{ records: 1_000, savepointBehind: 500 },
        restore: { generation: 2 },
        differences: [],
      });
      // 502 with the ends of the shards; what a killed invocation had replayed is not counted.
      expect(result.restore.replayed, round).toBeGreaterThan(0);
      const rows = { airports: 124, late: 0, differences: [] };
      expect(result.comparisons['processed'], round).toMatchObject(rows);
      expect(result.comparisons['restored'], round).toEqual(result.comparisons['processed']);
      expect(await findEndpoint(`http://127.0.0.1:${port}`), round).toBeUndefined();
      expect(await readStarted(port), round).toBeUndefined();
      expect(existsSync(filesOfPort(port).temporary), round).toBe(false);
    }
  });

  it('is found, deployed and taken down by the commands for that alone', async (context) => {
    needMiniStack(context);
    const port = await endpointPort();
    const run = async (command: string, ...args: string[]): Promise<unknown> => {
      const { ended, printed } = startEndpointCommand(command, port, [...args, '--json']);
      expect(await ended, `${command}: ${printed.err}`).toBe(0);
      return JSON.parse(printed.out);
    };
    const stack = 'HoldfastFlightDelays';
    expect(await run('up')).toMatchObject({ product: 'ministack', isNew: true });
    expect(await run('deploy', '--shards', '1')).toMatchObject({
      endpoint: { isNew: false },
      ...{ stack, job: 'flight-delays' },
      outputs: { StreamName: expect.any(String) as string },
    });
    expect(await run('down')).toMatchObject({ deleted: [stack], isStopped: true });
    expect(await findEndpoint(`http://127.0.0.1:${port}`)).toBeUndefined();
  });

  it('is gone after Ctrl-C, with all that was started for it', async (context) => {
    needMiniStack(context);
    const port = await endpointPort();
    const { child, ended, printed } = startEndpointCommand('demo', port, few);
    await pollUntilTrue('the deployment', () => /cdk (bootstrap|deploy) …/.test(printed.err));
    const started = await pollUntil('the record', () => readStarted(port));
    const pid = started.kind === 'process' ? started.pid : 0;
    expect(isProcessAlive(pid)).toBe(true);
    process.kill(-child.pid!, 'SIGINT');
    // npm ends by the signal itself, where what it runs ends with the code for it.
    expect(['SIGINT', 130], printed.err).toContain(await ended);
    await pollUntilTrue('its end', () => !isProcessAlive(pid));
    expect(await readStarted(port)).toBeUndefined();
    expect(printed.out).toBe('');
  });
});
