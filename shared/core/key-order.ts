import { compareTexts } from './position.ts';

/** Where the items of an operator are kept: a key and the bucket of its hash. */
export interface KeyPlace {
  readonly keyGroup: number;
  readonly key: string;
}

/** The order of keys in segments and run files: by key group, then by the key's UTF-16 units, the same everywhere. */
export function compareKeys(a: KeyPlace, b: KeyPlace): number {
  return a.keyGroup - b.keyGroup || compareTexts(a.key, b.key);
}
