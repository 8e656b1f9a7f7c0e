import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CrashLabReport } from '../../../cli/lab/crash-lab.ts';
import { startCli } from '../demo/run-cli.ts';

const manual = readFileSync(new URL('../../../docs/crash-lab.md', import.meta.url), 'utf8');

const startLab = (...flags: string[]) => startCli(['lab', 'crash', ...flags]);

describe('holdfast lab crash', () => {
  it('prints the three runs as a table, and ends with 0', async () => {
    const run = startLab();
    expect(await run.ended, run.printed.err).toBe(0);
    expect(run.printed.err).toBe('');
    expect(run.printed.out).toBe(
      `30 events in windows of 10 ms, a checkpoint every 8, a crash after event 14
restored: the checkpoint after event 8, windows {"10":40}, watermark 4

run                                         written before crash  written after  total  unique  duplicates
baseline, no crash                                             –  4                  4       4  0
crash after event 14, at-least-once append                     1  4                  5       4  1 (13:10)
crash after event 14, idempotent append                        1  3 (1 skipped)      4       4  0

output    sum  watermark  kind
13:10      55         10  fire
24:20     138         21  fire
25:20     155         21  late-update
flush:30  255         24  flush

final windows: {"10":55,"20":155,"30":255}, the same bytes in every run

EXACTLY ONCE: the 4 rows of the idempotent run equal the baseline's.
Events 9 to 14 were repeated. Outputs that came again had the ids that they had before: the idempotent sink skipped them, the other one has them twice.
`,
    );
    expect(manual).toContain(`\n$ npx holdfast lab crash\n${run.printed.out}`);
  });

  it('ends with 1 and says why where keys have the clock in them', async () => {
    const run = startLab('--key', 'processing-time');
    expect(await run.ended, run.printed.err).toBe(1);
    const { out } = run.printed;
    expect(out).toMatch(
      /^crash after event 14, idempotent append by processing-time key .* 1 \(13:10\)$/m,
    );
    expect(out).toContain('NOT EXACTLY ONCE: the idempotent run has 1 row too many.');
    expect(out).toContain('The time of writing is part of the key');
    const [, first, second] = /^ {2}13:10 at (\S+Z) and at (\S+Z)$/m.exec(out) ?? [];
    expect(Date.parse(second!)).toBeGreaterThan(Date.parse(first!));
    expect(manual).toContain(out.slice(out.indexOf('NOT EXACTLY ONCE')));
  });

  it('ends with 0 where the crash left nothing to repeat, whatever the keys', async () => {
    const run = startLab('--checkpoint-every', '7', '--key', 'processing-time');
    expect(await run.ended, run.printed.err).toBe(0);
    expect(run.printed.out).toContain('nothing was repeated, and nothing could double');
  });

  it('says so where what was repeated had no outputs', async () => {
    const run = startLab('--crash-after', '1', '--checkpoint-every', '30');
    expect(await run.ended, run.printed.err).toBe(0);
    expect(run.printed.out).toContain('restored: nothing, there was no checkpoint yet');
    expect(run.printed.out).toContain('Event 1 was repeated. No output had come of that');
  });

  it('prints all that it knows as JSON', async () => {
    const run = startLab('--json', '--crash-after', '26', '--checkpoint-every', '12');
    expect(await run.ended, run.printed.err).toBe(0);
    const report = JSON.parse(run.printed.out) as CrashLabReport;
    expect(report).toMatchObject({
      events: 30,
      checkpointEvery: 12,
      crashAfter: 26,
      key: 'deterministic',
      checkpoint: { afterEvent: 24, watermark: 21 },
      isExactlyOnce: true,
    });
    expect(report.runs.map(({ run: name, duplicates }) => [name, duplicates])).toEqual([
      ['baseline', 0],
      ['at-least-once', 1],
      ['idempotent', 0],
    ]);
  });

  it('colours the verdict where colours are wanted, and else nothing', async () => {
    const plain = startLab();
    const coloured = startCli(['lab', 'crash'], { env: { FORCE_COLOR: '1' } });
    await Promise.all([plain.ended, coloured.ended]);
    const escape = String.fromCharCode(27);
    expect(plain.printed.out).not.toContain(escape);
    expect(coloured.printed.out).toContain(`${escape}[32mEXACTLY ONCE`);
  });

  it.for([
    ['--crash-after 0', 'expected a whole number from 1 to 30'],
    ['--crash-after 31', 'expected a whole number from 1 to 30'],
    ['--crash-after 1.5', 'expected a whole number from 1 to 30'],
    ['--crash-after 1e1', "option '--crash-after <event>' argument '1e1' is invalid"],
    ['--checkpoint-every 0', 'expected a whole number from 1 to 30'],
    ['--checkpoint-every eight', 'expected a whole number from 1 to 30'],
    ['--key random', 'Allowed choices are deterministic, processing-time'],
    ['--seed 1', "unknown option '--seed'"],
    ['again', 'too many arguments'],
  ] as const)('refuses %s with exit code 2 and the reason', async ([flags, reason]) => {
    const run = startLab(...flags.split(' '));
    expect(await run.ended).toBe(2);
    expect(run.printed.err).toContain(reason);
    expect(run.printed.out).toBe('');
  });

  it('tells its options with exit code 0', async () => {
    const run = startLab('--help');
    expect(await run.ended).toBe(0);
    for (const flag of ['--checkpoint-every', '--crash-after', '--key', '--json']) {
      expect(run.printed.out).toContain(flag);
    }
  });
});

describe('holdfast lab', () => {
  it('tells its experiments and ends with 2 where none is named', async () => {
    const run = startCli(['lab']);
    expect(await run.ended).toBe(2);
    expect(run.printed.err).toContain('crash [options]');
  });
});
