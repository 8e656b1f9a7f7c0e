import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

/*
 * Breaks the protocol's rules one by one in a copy of the sources and runs the model on each:
 * `npm run mutants [-- SEEDS [RULE]]`.
 * Exit code 1 where a mutant survives.
 */

const project = resolve(import.meta.dirname, '..', '..', '..');
const seeds = Number(process.argv[2] ?? 3000);

interface Verdict {
  readonly mutant: Mutant;
  readonly caughtBy: string | undefined;
  readonly finding: string;
}

async function checkMutant(mutant: Mutant): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-mutant-'));
  try {
    for (const name of ['shared', 'test/simulation', 'test/unit', 'package.json']) {
      await cp(join(project, name), join(folder, name), { recursive: true });
    }
    await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
    const file = join(folder, mutant.file);
    await writeFile(file, mutate(await readFile(file, 'utf8'), mutant));
    const output = await run(folder, mutant);
    const caught = /^seed (\d+): (.*)$/m.exec(output);
    return { mutant, caughtBy: caught?.[1], finding: caught?.[2] ?? '' };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function mutate(source: string, mutant: Mutant): string {
  const edits = mutant.also === undefined ? [mutant] : [mutant, mutant.also];
  return edits.reduce((text, { find, replace }) => {
    if (text.split(find).length !== 2) {
      throw new Error(`mutant "${mutant.what}": its text is not exactly once in ${mutant.file}`);
    }
    return text.replace(find, () => replace);
  }, source);
}

function run(folder: string, { noticedBy }: Mutant): Promise<string> {
  if (noticedBy?.endsWith('.test.ts') === true) return runTest(folder, noticedBy);
  const model = noticedBy === 'restore' ? 'test/simulation/system' : 'test/simulation';
  const flags = noticedBy === 'windows' ? ['--windows'] : [];
  const script = join(folder, model, 'run-seeds.ts');
  const child = spawn(process.execPath, [script, '1', String(seeds), ...flags]);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((done) => child.once('close', () => done(output)));
}

/** A test that fails is told as a seed would be. */
function runTest(folder: string, name: string): Promise<string> {
  const vitest = join(project, 'node_modules', 'vitest', 'vitest.mjs');
  const path = `test/unit/runtime/${name}`;
  const child = spawn(process.execPath, [vitest, 'run', '--root', folder, path], {
    stdio: 'ignore',
  });
  return new Promise((done) =>
    child.once('close', (code) => done(code === 0 ? '' : `seed 0: ${name} fails`)),
  );
}

let survivors = 0;
const only = process.argv[3] ?? '';
const chosen = mutants.filter((mutant) => mutant.rule.includes(only));
for (const mutant of chosen) {
  const { caughtBy, finding } = await checkMutant(mutant);
  if (caughtBy === undefined) survivors += 1;
  const verdict = caughtBy === undefined ? 'SURVIVED' : `seed ${caughtBy}`;
  console.log(`${mutant.rule.padEnd(6)} ${verdict.padEnd(10)} ${mutant.what}`);
  if (finding !== '') console.log(`                  ${finding.slice(0, 140)}`);
}
console.log(`${chosen.length - survivors} of ${chosen.length} caught within ${seeds} seeds`);
process.exitCode = survivors === 0 ? 0 : 1;
