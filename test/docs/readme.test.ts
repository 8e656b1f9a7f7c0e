import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/*
 * The files that README.md shows are written into a project that has everything else from this one, compiled, and run.
 */

const project = resolve(import.meta.dirname, '..', '..');
const bin = (name: string): string => join(project, 'node_modules', '.bin', name);
const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-readme-'));
  for (const name of ['shared', 'node_modules', 'package.json']) {
    await symlink(join(project, name), join(folder, name));
  }
  await cp(join(project, 'infra'), join(folder, 'infra'), { recursive: true });
  for (const [name, text] of await readSnippets()) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await writeFile(join(folder, 'vitest.config.mjs'), 'export default {};');
  const config = JSON.parse(await readFile(join(project, 'tsconfig.json'), 'utf8')) as object;
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      ...config,
      include: ['functions', 'infra/orders-stack.ts', 'infra/orders-b-stack.ts'],
    }),
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** `ts` blocks whose first line names their file. */
async function readSnippets(): Promise<Map<string, string>> {
  const readme = await readFile(join(project, 'README.md'), 'utf8');
  const blocks = readme.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm);
  return new Map([...blocks].map(([, name, text]) => [name!, text!]));
}

describe('README.md', () => {
  it('shows an operator, its test, its handler and its stack', async () => {
    expect([...(await readSnippets()).keys()]).toEqual([
      'functions/orders/operator.ts',
      'functions/orders/operator.test.ts',
      'functions/orders/handler.ts',
      'infra/orders-stack.ts',
      'infra/orders-b-stack.ts',
    ]);
  });

  it('shows files that compile', async () => {
    const { stdout } = await run(process.execPath, [bin('tsc'), '-p', folder, '--noEmit']).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(stdout).toBe('');
  });

  it('shows a test that passes', async () => {
    const args = [bin('vitest'), 'run', '--root', folder, 'functions/orders'];
    const { stdout } = await run(process.execPath, args, {
      env: { ...process.env, NO_COLOR: '1' },
    });
    expect(stdout).toMatch(/Tests +1 passed/);
  });
});
