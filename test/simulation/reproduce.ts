import type { Kind } from './kinds.ts';

/** The command that runs a seed again; with its kind where it was not the seed's own choice. */
export function reproduce(seed: number, kind?: Kind): string {
  return `npm run sim -- --seed ${seed}${kind === undefined ? '' : ` --kind ${kind}`}`;
}
