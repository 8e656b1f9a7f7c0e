import { spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { applyMutant, type Mutant } from './mutant.ts';

const project = resolve(import.meta.dirname, '..', '..', '..');
/** Made by tools, or not needed to run. */
const notCopied = new Set([
  ...['.git', '.holdfast', '.vitest', 'cdk.out', 'coverage', 'node_modules'],
]);
/** A mutant that has not come to an end by then never does, ms. */
const patienceMs = 30 * 60_000;

export interface Verdict {
  readonly mutant: Mutant;
  /** `broken`: the mutated code does not even load, or the seed fails without the change, too: neither says who would notice. */
  readonly kind: 'caught' | 'survived' | 'broken';
  /** A seed, a test, or what else has noticed; of a mutant that was caught. */
  readonly by?: string;
  /** The seed alone. */
  readonly seed?: number;
  /** What was found, or what is broken. */
  readonly finding: string;
}

/** A copy of the project in which mutants are tried one after the other. */
export interface Copy {
  readonly folder: string;
  remove(): Promise<void>;
}

export async function copyProject(): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-mutant-'));
  for (const name of await readdir(project)) {
    if (!notCopied.has(name))
      await cp(join(project, name), join(folder, name), { recursive: true });
  }
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Changes the copy, runs what has to notice, and takes the change back. */
export async function tryMutant(
  { folder }: Copy,
  mutant: Mutant,
  options: { readonly seeds: number; readonly signal: AbortSignal },
): Promise<Verdict> {
  const file = join(folder, mutant.file);
  const source = await readFile(file, 'utf8');
  await writeFile(file, applyMutant(source, mutant));
  let verdict: Verdict;
  try {
    verdict = await runNoticers(folder, mutant, options);
  } finally {
    await writeFile(file, source);
  }
  if (verdict.seed === undefined) return verdict;
  const flags = ['--kind', noticerOf(mutant), '--seed', String(verdict.seed)];
  const unchanged = await run([simScript(folder), ...flags], folder, options.signal);
  if (unchanged.code === 0) return verdict;
  return { mutant, kind: 'broken', finding: `${verdict.by} fails without the change, too` };
}

function noticerOf({ noticedBy = 'data-path' }: Mutant): string {
  return noticedBy;
}

function simScript(folder: string): string {
  return join(folder, 'test/simulation/sim.ts');
}

async function runNoticers(
  folder: string,
  mutant: Mutant,
  { seeds, signal }: { readonly seeds: number; readonly signal: AbortSignal },
): Promise<Verdict> {
  const noticedBy = noticerOf(mutant);
  const isTest = noticedBy.startsWith('test/');
  const [script, flags] = isTest
    ? [join(project, 'node_modules/vitest/vitest.mjs'), ['run', '--root', folder, noticedBy]]
    : [simScript(folder), ['--kind', noticedBy, '--seeds', String(seeds), '--jobs', '1', '--json']];
  const ended = await run([script, ...flags], folder, signal);
  if (ended.isTooLong) return { mutant, kind: 'caught', by: noticedBy, finding: 'it never ends' };
  if (ended.code === 0) return { mutant, kind: 'survived', finding: '' };
  if (isTest) return { mutant, kind: 'caught', by: noticedBy, finding: 'fails' };
  if (ended.code !== 1) return { mutant, kind: 'broken', finding: ended.errors.trim() };
  const { failures } = JSON.parse(ended.output) as {
    failures: readonly { readonly seed: number; readonly findings: readonly string[] }[];
  };
  const [{ seed, findings }] = failures as [(typeof failures)[0]];
  return { mutant, kind: 'caught', by: `${noticedBy}, seed ${seed}`, seed, finding: findings[0]! };
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  readonly isTooLong: boolean;
}

function run(args: readonly string[], folder: string, signal: AbortSignal): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd: folder, signal });
  let output = '';
  let errors = '';
  let isTooLong = false;
  const timer = setTimeout(() => {
    isTooLong = true;
    child.kill('SIGKILL');
  }, patienceMs);
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output, errors, isTooLong });
    });
  });
}
