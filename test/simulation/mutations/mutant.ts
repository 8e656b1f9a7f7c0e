import type { Kind } from '../kinds.ts';

/** A change that breaks a rule of the protocol on purpose; a simulation has to notice. */
export interface Mutant {
  /** The rule of docs/protocol.md that it breaks. */
  readonly rule: string;
  readonly what: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /**
   * What has to notice: runs of a kind; or a test, by its path from the project's root, of what random runs come to too rarely.
   *
   * @default 'data-path'
   */
  readonly noticedBy?: Kind | `test/${string}.test.ts`;
  /** A second edit of the same file. */
  readonly also?: { readonly find: string; readonly replace: string };
}

/**
 * The source of a mutant's file with the mutant's change in it.
 *
 * @throws Error where the text that it changes is not in the source exactly once
 */
export function applyMutant(source: string, mutant: Mutant): string {
  const edits = mutant.also === undefined ? [mutant] : [mutant, mutant.also];
  return edits.reduce((text, { find, replace }) => {
    const times = text.split(find).length - 1;
    if (times !== 1) {
      throw new Error(
        `mutant "${mutant.what}": its text is ${times} times in ${mutant.file}, must be there once:\n${find}`,
      );
    }
    return text.replace(find, () => replace);
  }, source);
}
