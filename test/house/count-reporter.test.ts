import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { projectRoot } from './project-files.ts';

interface Run {
  readonly exitCode: number | null;
  readonly lastLine: string | undefined;
}

/** Runs Vitest with the reporter over these files of a project of their own. */
function runVitest(
  files: Readonly<Record<string, string>>,
  parameters: readonly string[] = [],
): Run {
  const root = mkdtempSync(path.join(tmpdir(), 'holdfast-count-'));
  onTestFinished(() => {
    rmSync(root, { recursive: true, force: true });
  });
  const reporter = path.join(projectRoot, 'test/house/count-reporter.ts');
  const config = `
    import { CountReporter } from ${JSON.stringify(reporter)};
    export default { test: { globals: true, reporters: ['default', new CountReporter()] } };
  `;
  for (const [name, text] of Object.entries({ ...files, 'vitest.config.mts': config })) {
    writeFileSync(path.join(root, name), text);
  }
  const vitest = path.join(projectRoot, 'node_modules/vitest/vitest.mjs');
  const run = spawnSync(process.execPath, [vitest, 'run', ...parameters], {
    cwd: root,
    encoding: 'utf8',
  });
  return { exitCode: run.status, lastLine: run.stdout.trimEnd().split('\n').at(-1) };
}

describe('the last line of a test run', () => {
  it('counts what passed, failed and was skipped; a broken file or hook is a failure', () => {
    const run = runVitest({
      'one.test.js':
        "it('a', () => {}); it('b', () => { expect(1).toBe(2); }); it('c', { skip: true }, () => {});",
      'two.test.js':
        "describe('d', () => { beforeAll(() => { throw new Error('hook'); }); it('e', () => {}); });",
      'three.test.js': "throw new Error('does not load');",
      'four.test.js': "describe('f', () => { it('g', () => {}); });",
    });
    expect(run).toEqual({ exitCode: 1, lastLine: 'Tests: 2 passed, 3 failed, 2 skipped' });
  });

  it('comes with success when all tests passed', () => {
    const run = runVitest({ 'one.test.js': "it('a', () => {});" });
    expect(run).toEqual({ exitCode: 0, lastLine: 'Tests: 1 passed, 0 failed, 0 skipped' });
  });

  it('comes with failure when no test ran', () => {
    const run = runVitest({ 'one.test.js': "it('a', () => {});" }, ['-t', 'no such test']);
    expect(run).toEqual({ exitCode: 1, lastLine: 'Tests: 0 passed, 0 failed, 1 skipped' });
  });
});
