import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { synthesize } from '../../../cli/demo/synthesize.ts';
import { isProcessAlive, pollUntilTrue } from '../embedded/poll-until.ts';
import { listDescendants } from './descendants.ts';
import { startCli, type CliRun } from './run-cli.ts';

const standIn = (name: string): string => new URL(`./stand-ins/${name}.ts`, import.meta.url).href;

describe('holdfast demo', () => {
  it.for([
    ['--shards 0', 'expected a whole number from 1 to 16'],
    ['--shards 17', 'expected a whole number from 1 to 16'],
    ['--shards 1.5', 'expected a whole number from 1 to 16'],
    ['--seed -1', 'expected a whole number from 0 to 2147483648'],
    ['--seed one', "option '--seed <number>' argument 'one' is invalid"],
    ['--chaos-monkey', "unknown option '--chaos-monkey'"],
    ['again', 'too many arguments'],
  ] as const)('refuses %s with exit code 2 and the reason', async ([flags, reason]) => {
    const run = startCli(['demo', ...flags.split(' ')]);
    expect(await run.ended).toBe(2);
    expect(run.printed.err).toContain(reason);
    expect(run.printed.out).toBe('');
  });

  it('tells its options with exit code 0', async () => {
    const run = startCli(['demo', '--help']);
    expect(await run.ended).toBe(0);
    for (const flag of ['--seed', '--shards', '--no-chaos', '--keep', '--json']) {
      expect(run.printed.out).toContain(flag);
    }
  });

  describe('with some of the flights', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-test-'));
    let templateFile = '';

    beforeAll(async () => {
      templateFile = await synthesize(folder, 2);
    });

    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const startDemo = (
      flags: readonly string[],
      options: { flights: number; redirect?: Readonly<Record<string, string>> },
    ): CliRun =>
      startCli(['demo', '--shards', '2', ...flags], {
        redirect: {
          './flights.ts': standIn('few-flights'),
          './synthesize.ts': standIn('ready-template'),
          ...options.redirect,
        },
        env: {
          HOLDFAST_TEST_FLIGHTS: String(options.flights),
          HOLDFAST_TEST_TEMPLATE: templateFile,
        },
      });

    it('ends with 0 and no differences as JSON where all rows are equal', async () => {
      const run = startDemo(['--no-chaos', '--json', '--seed', '7'], { flights: 300 });
      expect(await run.ended, run.printed.err).toBe(0);
      expect(JSON.parse(run.printed.out)).toMatchObject({
        seed: 7,
        shards: 2,
        records: 300,
        late: 0,
        crashes: 0,
        splits: 0,
        differences: [],
      });
    });

    it('ends with 1 and names the rows that differ where some do', async () => {
      const run = startDemo(['--no-chaos'], {
        flights: 300,
        redirect: { './plain-computation.ts': standIn('computation-without-first') },
      });
      expect(await run.ended, run.printed.err).toBe(1);
      expect(run.printed.out).toContain('DIFFERENT: 2 rows');
      expect(run.printed.out).toMatch(/airport \w{3}: the table has \{.*\}, expected \{.*\}/);
      expect(run.printed.out).toMatch(
        /hour of \w{3} 2001\/01\/01 \d\d:00: the table has \[\{.*\}\], expected /,
      );
    });

    describe.skipIf(!existsSync('/proc/self/task'))('on a signal', () => {
      it.for([
        ['it alone', 1],
        ['its whole group, as Ctrl-C in a terminal does', -1],
      ] as const)('to %s, ends all its processes and then itself with 130', async ([, sign]) => {
        const run = startDemo([], { flights: 4_000 });
        const pid = run.child.pid!;
        await pollUntilTrue('records', () => /\d+\/4000 records/.test(run.printed.err));
        const descendants = listDescendants(pid);
        // The local Kinesis and at least one function.
        expect(descendants.length).toBeGreaterThanOrEqual(2);
        process.kill(sign * pid, 'SIGINT');
        expect(await run.ended, run.printed.err).toBe(130);
        expect(descendants.filter(isProcessAlive)).toEqual([]);
        expect(run.printed.out).toBe('');
      });

      it('before the stack is up, leaves nothing behind either', async () => {
        const run = startCli(['demo']);
        const pid = run.child.pid!;
        await pollUntilTrue('cdk synth', () => listDescendants(pid).length > 0);
        const descendants = listDescendants(pid);
        process.kill(-pid, 'SIGINT');
        // Nothing is there yet that would have to be stopped in order.
        expect([130, 'SIGINT']).toContain(await run.ended);
        await pollUntilTrue('their end', () => !descendants.some(isProcessAlive));
      });
    });
  });
});
