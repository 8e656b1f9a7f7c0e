import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

export const projectFolder = join(here, '..', '..');

/** What is made here and is in no commit. */
export const endpointFolder = join(projectFolder, '.holdfast', 'endpoint');

/** The virtual environment of Python. */
export const pythonFolder = join(endpointFolder, 'python');

export const requirementsFile = join(here, 'requirements.txt');

export const composeFile = join(here, '..', 'compose.yaml');

/** What an endpoint on a port leaves. */
export function filesOfPort(port: number): {
  /** Who was started, for whoever stops it. */
  readonly record: string;
  readonly log: string;
  /** Its temporary files. */
  readonly temporary: string;
} {
  const base = join(endpointFolder, String(port));
  return { record: `${base}.json`, log: `${base}.log`, temporary: `${base}-files` };
}
