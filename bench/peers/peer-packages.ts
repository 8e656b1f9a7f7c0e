import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/*
 * The packages of the peers are needed by this bench alone, so they have a package.json of their own and are loaded under names that
 * no tool follows: everything else is checked and runs without them.
 */

const folder = import.meta.dirname;

/** How they come to be there. */
export const installCommand = 'npm ci --prefix bench/peers';

/** The peers' packages that are not installed. */
export function findMissingPackages(from = folder): readonly string[] {
  const manifest = readFileSync(path.join(folder, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(manifest) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(dependencies).filter(
    (name) => !existsSync(path.join(from, 'node_modules', name, 'package.json')),
  );
}

/** Loads a package of a peer; its type says what is used of it. */
export async function loadPeerPackage<Package>(name: string): Promise<Package> {
  return (await import(name)) as Package;
}
