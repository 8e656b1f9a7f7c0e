import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const projectRoot = path.resolve(import.meta.dirname, '../..');

/** Where code lives; `test` tests it. */
export const sourceFolders = [
  'infra',
  'functions',
  'shared',
  'cli',
  'localstack',
  'bench',
] as const;

/** Made by tools, and in no commit. */
const generatedFolders = new Set([
  ...['.git', '.holdfast', '.vitest', 'cdk.out', 'coverage', 'node_modules'],
]);

/** Paths from the project's root, with `/`, sorted; folders that tools write are left out. */
export function listFiles(folder = '.'): string[] {
  return readdirSync(path.join(projectRoot, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const file = path.posix.join(folder, entry.name);
      if (!entry.isDirectory()) return [file];
      return generatedFolders.has(entry.name) ? [] : listFiles(file);
    })
    .sort();
}

export function isCode(file: string): boolean {
  return /\.(ts|mts|cts|js|mjs|cjs)$/.test(file);
}

export function listSources(): string[] {
  return sourceFolders.flatMap((folder) => listFiles(folder)).filter(isCode);
}

export function readText(file: string): string {
  return readFileSync(path.join(projectRoot, file), 'utf8');
}

/** What package.json says, as far as the house rules ask. */
export interface PackageManifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function readManifest(): PackageManifest {
  return JSON.parse(readText('package.json')) as PackageManifest;
}

/** The packages of the bench `peers`, which are installed for it alone. */
export function readPeerDependencies(): PackageManifest['dependencies'] {
  return (JSON.parse(readText('bench/peers/package.json')) as PackageManifest).dependencies;
}
