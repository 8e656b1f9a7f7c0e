import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '../../shared/core/errors.ts';
import { pythonFolder, requirementsFile } from './project-folder.ts';
import { runProgram } from './run-program.ts';

/**
 * What this machine lacks to run MiniStack: Python, a module of it, or a way to its package index. Tests are skipped for it;
 * anything else is a failure.
 */
export class PythonMissingError extends HoldfastError {
  constructor(what: string) {
    super('unavailable', what);
    this.name = 'PythonMissingError';
  }
}

const python = 'python3';
/** What MiniStack asks for. */
const pythonMinorMin = 10;

/**
 * Makes the virtual environment that MiniStack runs in, unless it is there with just these packages.
 *
 * @param onMaking called where it has to be made
 * @param folder of the environment
 * @returns its folder of programs
 * @throws PythonMissingError
 */
export async function preparePython(
  onMaking: () => void,
  signal?: AbortSignal,
  folder = pythonFolder,
): Promise<string> {
  const wanted = await readFile(requirementsFile, 'utf8');
  // Written last: without it the environment is not whole.
  const marker = join(folder, 'requirements.txt');
  const bin = join(folder, 'bin');
  if ((await readFile(marker, 'utf8').catch(() => undefined)) === wanted) return bin;
  await checkPython(signal);
  onMaking();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const made = await runProgram(python, ['-m', 'venv', folder], { signal });
  if (made.exitCode !== 0) {
    throw new PythonMissingError(
      `${python} cannot make a virtual environment; install its module venv (Debian: python3-venv), or start an endpoint yourself:\n${made.out}${made.err}`,
    );
  }
  await install(join(bin, 'pip'), signal);
  await writeFile(marker, wanted);
  return bin;
}

async function checkPython(signal: AbortSignal | undefined): Promise<void> {
  const version = await runProgram(python, ['-c', 'import sys; print(*sys.version_info[:2])'], {
    signal,
  });
  const [major, minor] = version.out.trim().split(' ').map(Number);
  if (version.exitCode === 0 && major === 3 && (minor ?? 0) >= pythonMinorMin) return;
  const got = version.exitCode === 0 ? `${python} is ${major}.${minor}` : `there is no ${python}`;
  throw new PythonMissingError(
    `MiniStack needs Python 3.${pythonMinorMin} or newer, and ${got}; install it, or Docker, or set AWS_ENDPOINT_URL to an endpoint that runs`,
  );
}

async function install(pip: string, signal: AbortSignal | undefined): Promise<void> {
  const quiet = ['--disable-pip-version-check', '--no-input', '--quiet'];
  // Without what packages would ask for beyond the list.
  const args = ['install', ...quiet, '--no-deps', '--requirement', requirementsFile];
  const { exitCode, out, err } = await runProgram(pip, args, { signal });
  if (exitCode === 0) return;
  const text = `pip cannot install MiniStack:\n${out}${err}`;
  // Where the index does not answer, pip has heard of no version at all.
  if (/from versions: none|Connection|Could not fetch URL/.test(err)) {
    throw new PythonMissingError(
      `${text}\nPython's package index has to be in reach once; or set AWS_ENDPOINT_URL to an endpoint that runs`,
    );
  }
  throw new HoldfastError('internal', text);
}
